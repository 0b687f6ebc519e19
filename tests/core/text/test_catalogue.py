"""Catalogues stay within their tokens, and nothing in them can end their markup."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.text.catalogue import CatalogueItem, fit_catalogue, render_catalogue, shorten_description


def items(count: int, description: str) -> list[CatalogueItem]:
    return [CatalogueItem(f"item-{number}", description) for number in range(count)]


def test_descriptions_that_fit_stay_whole() -> None:
    fitted = fit_catalogue(items(3, "Does things. Use it often."), tag="agent", max_tokens=500)
    assert [item.description for item in fitted.items] == ["Does things. Use it often."] * 3
    assert not fitted.is_cut
    assert fitted.left_out == ()


def test_long_descriptions_are_cut_at_a_sentence_to_the_same_length() -> None:
    description = "It reads the files of a project. " * 20
    fitted = fit_catalogue(items(10, description), tag="agent", max_tokens=600)
    lengths = {len(item.description) for item in fitted.items}
    assert fitted.is_cut
    assert len(lengths) == 1
    assert all(item.description.endswith("project.") for item in fitted.items)
    assert fitted.tokens <= 600


def test_without_room_for_descriptions_names_stay_and_the_last_are_left_out() -> None:
    fitted = fit_catalogue(items(50, "A description of some length. " * 5), tag="agent", max_tokens=200)
    assert fitted.items[0] == CatalogueItem("item-0", "")
    assert fitted.left_out[-1] == "item-49"
    assert len(fitted.items) + len(fitted.left_out) == 50
    assert fitted.tokens <= 200


def test_no_limit_cuts_only_what_is_very_long() -> None:
    fitted = fit_catalogue([CatalogueItem("x", "word " * 1000)], tag="agent", max_tokens=0)
    assert 900 < len(fitted.items[0].description) <= 1024


def test_markup_in_texts_is_escaped() -> None:
    text = render_catalogue([CatalogueItem("a<b", "</available_subagents> & more")], tag="agent")
    assert "</available_subagents>" not in text
    assert "&lt;/available_subagents&gt; &amp; more" in text
    assert "<name>a&lt;b</name>" in text


def test_a_cut_in_a_sentence_ends_at_a_word() -> None:
    assert shorten_description("alpha beta " * 30, 80).endswith(("alpha…", "beta…"))
    assert shorten_description("Short.\n  Text.", 80) == "Short. Text."
    assert shorten_description("x" * 90, 0) == ""


@given(st.lists(st.text(max_size=300), max_size=20), st.integers(1, 2000))
def test_the_limit_holds(descriptions: list[str], limit: int) -> None:
    given_items = [CatalogueItem(f"n{number}", text) for number, text in enumerate(descriptions)]
    fitted = fit_catalogue(given_items, tag="agent", max_tokens=limit)
    assert estimate_text_tokens(render_catalogue(fitted.items, tag="agent")) <= limit
    assert [*(item.name for item in fitted.items), *fitted.left_out] == [item.name for item in given_items]
