"""Marks in an answer that lead to its sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.history import model_message
from tejat.core.model import Citation, Grounding, GroundingSource, ModelResponse
from tejat.tools.web.citations import append_sources, format_sources

A, B = GroundingSource("A", "https://a.example"), GroundingSource("B", "https://b.example")
LIST = "\n\nSources:\n[1] A (https://a.example)\n[2] B (https://b.example)"


def with_sources(text: str, *citations: Citation, sources: tuple[GroundingSource, ...] = (A, B)) -> str:
    return append_sources(ModelResponse(model_message(text), grounding=Grounding(sources, citations)), unknown="No URI")


def test_marks_stand_where_their_text_ends() -> None:
    assert with_sources("One. Two.", Citation(4, (0,)), Citation(9, (0, 1))) == f"One.[1] Two.[1][2]{LIST}"


def test_the_order_of_the_citations_does_not_matter() -> None:
    assert with_sources("One. Two.", Citation(9, (1,)), Citation(4, (0,))) == f"One.[1] Two.[2]{LIST}"


def test_offsets_count_bytes() -> None:
    assert (
        with_sources("\u00c4pfel. \U0001f600!", Citation(7, (0,)), Citation(13, (1,)))
        == f"\u00c4pfel.[1] \U0001f600![2]{LIST}"
    )


@pytest.mark.parametrize("end", [1, 2, 3, 4])
def test_no_character_is_torn(end: int) -> None:
    assert with_sources("\U0001f600x", Citation(end, (0,))) == f"\U0001f600[1]x{LIST}"


def test_offsets_and_sources_that_do_not_exist() -> None:
    citations = Citation(99, (0,)), Citation(-5, (1,)), Citation(2, (7, -1))
    assert with_sources("abc", *citations) == f"[2]abc[1]{LIST}"


def test_without_sources_it_is_just_the_text() -> None:
    assert with_sources("abc", Citation(3, (0,)), sources=()) == "abc"
    assert append_sources(ModelResponse(model_message("abc")), unknown="x") == "abc"


def test_sources_that_lack_something() -> None:
    sources = [GroundingSource(None, None), GroundingSource("", "u"), GroundingSource("a\n b", " ")]
    assert format_sources(sources, unknown="Unknown URI") == (
        "\n\nSources:\n[1] Untitled (Unknown URI)\n[2] Untitled (u)\n[3] a b (Unknown URI)"
    )


@given(st.text(st.characters(exclude_characters="[]")), st.lists(st.tuples(st.integers(-5, 400), st.integers(0, 1))))
def test_marks_are_all_that_is_added(text: str, places: list[tuple[int, int]]) -> None:
    marked = with_sources(text, *(Citation(end, (source,)) for end, source in places)).removesuffix(LIST)
    assert marked.replace("[1]", "").replace("[2]", "") == text
    assert marked.count("[") == len(places)
