"""Equal places told apart by the lines around them that the new text repeats."""

from support.edit_alignment import indexed
from tejat.tools.edit.match.disambiguation import disambiguate_by_context
from tejat.tools.edit.match.indexed_file import LineReplacement

TEXT = "def first_one(a):\n    value = 1\n    return a\n\ndef second_one(b):\n    value = 1\n    return b\n"
PLACES = [(1, 2), (5, 6)]


def edits(new: str, old: str = "    value = 1", text: str = TEXT) -> list[LineReplacement] | None:
    return disambiguate_by_context(old.split("\n"), new.split("\n"), indexed(text), PLACES)


def test_the_line_above_tells_the_place() -> None:
    assert edits("def second_one(b):\n    value = 2") == [LineReplacement(5, 6, ("    value = 2",))]


def test_lines_on_both_sides_tell_the_place() -> None:
    assert edits("def first_one(a):\n    value = 2\n    return a") == [LineReplacement(1, 2, ("    value = 2",))]


def test_nothing_around_tells_nothing() -> None:
    assert edits("    value = 2") is None


def test_a_line_that_stands_around_both_tells_nothing() -> None:
    text = "start_here(now)\n    value = 1\n    return a\n\nstart_here(now)\n    value = 1\n    return a\n"
    assert edits("start_here(now)\n    value = 2", text=text) is None


def test_a_line_that_would_be_lost() -> None:
    assert edits("def second_one(b):\n    value = 2\n    return c") is not None
    assert edits("def second_one(b):\n    return b") is None


def test_too_many_comparisons() -> None:
    assert disambiguate_by_context(["a"], ["b"] * 50_001, indexed("a\n"), [(0, 1)]) is None
