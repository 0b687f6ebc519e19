"""Escapes and entities, one level more or less."""

import pytest

from tejat.tools.edit.repair.escapes import (
    ENTITY_ESCAPES,
    ESCAPES,
    UNESCAPES,
    has_entities,
    has_same_escaping,
    unescape_entities,
    unescape_like,
    uses_only_entities,
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\\nb\\tc", "a\nb\tc"),
        ('\\"x\\"', '"x"'),
        ("\\\\n", "\\n"),
        ("\\u00e9", "é"),
        ("\\ud83d\\ude00", "😀"),
        ("\\ud83d", "\\ud83d"),
        ("\\d+", "\\d+"),
    ],
)
def test_one_level_of_escapes_undone(text: str, plain: str) -> None:
    assert UNESCAPES[0](text) == plain


def test_every_way_of_escaping_is_undone_by_one() -> None:
    text = 'say("it\'s")\\d\n\tä'
    assert [escape(text) for escape in ESCAPES if all(undo(escape(text)) != text for undo in UNESCAPES)] == []


def test_line_breaks_of_the_code_stay_escaped() -> None:
    assert unescape_like('say(\\"a\\")\nnext()', 'say(\\"a\\n\\")', UNESCAPES[0]) == 'say("a\\n")'


def test_line_breaks_between_lines_are_undone() -> None:
    assert unescape_like("a()\\nb()", "a()\\nc()", UNESCAPES[0]) == "a()\nc()"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [('\\"a\\"', '\\"b\\"', True), ('\\"a\\"', '"b"', False), ("a\\nb", "a\nb", False), ("a", '"', True)],
)
def test_a_new_text_with_bare_signs_was_written_with_care(old: str, new: str, is_same: bool) -> None:
    assert has_same_escaping(old, new) is is_same


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a &lt; b &amp;&amp; c", "a < b && c"),
        ("&#39;&#x27;", "''"),
        ("&unknown;", "&unknown;"),
        ("&#55357;", "&#55357;"),
    ],
)
def test_entities(text: str, plain: str) -> None:
    assert unescape_entities(text) == plain


def test_which_texts_have_entities() -> None:
    assert [has_entities(text) for text in ("a &lt; b", "a & b;", "a < b")] == [True, False, False]
    assert uses_only_entities("a &lt; b", "c &lt; d")
    assert not uses_only_entities("a &lt; b", "c < d")
    assert not uses_only_entities("a", "b")


def test_an_ampersand_of_an_entity_is_not_escaped_again() -> None:
    assert ENTITY_ESCAPES[0]("a & b &lt; c") == "a &amp; b &lt; c"
