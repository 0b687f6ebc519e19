"""Indents that were given are written as the file writes them; what cannot be told is not guessed."""

import pytest

from tejat.tools.edit.merge.indentation import IndentMap


@pytest.mark.parametrize(
    ("pairs", "indent", "written"),
    [
        pytest.param([("    a", "    b")], "        ", "        ", id="the same"),
        pytest.param([("a", "    a"), ("    b", "        b")], "        ", "            ", id="shifted"),
        pytest.param([("    a", "a"), ("        b", "    b")], "            ", "        ", id="shifted back"),
        pytest.param([("    a", "\ta"), ("        b", "\t\tb")], "            ", "\t\t\t", id="spaces for tabs"),
        pytest.param([("\ta", "    a"), ("\t\tb", "        b")], "\t\t\t", "            ", id="tabs for spaces"),
        pytest.param([("  a", "    a"), ("    b", "        b")], "      ", "            ", id="two for four"),
        pytest.param([("    a", "\ta")], "        ", "\t\t", id="one pair of tabs and spaces"),
        pytest.param([("    a", "  a"), ("        b", "    b")], "", "", id="nothing stays nothing"),
        pytest.param([("a", "    a"), ("    b", "    b")], "        ", "        ", id="only the first line lost it"),
        pytest.param([("  a", "  a"), ("  b", "    b"), ("  c", "  c")], "  ", None, id="one written in two ways"),
    ],
)
def test_what_becomes_of_an_indent(pairs: list[tuple[str, str]], indent: str, written: str | None) -> None:
    given, found = [left for left, _ in pairs], [right for _, right in pairs]
    assert IndentMap(pairs, given, found).map_indent(indent) == written


def test_steps_are_learned_from_the_lines_around() -> None:
    found = ["def a():", "    b", "    if c:", "        d"]
    indentation = IndentMap([("  b", "    b")], ["  b", "    x"], found)
    assert indentation.map_indent("    ") == "        "
