"""Lines of a text to search for: their keys, their elisions and the ends of the block."""

import pytest

from tejat.tools.edit.match.search_block import SearchBlock, contains_in_order, indent_of, is_elision, split_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a\nb", ["a", "b"]), ("a\nb\n", ["a", "b"]), ("a\r\nb\r", ["a", "b"]), ("\n", [""]), ("a\n\n", ["a", ""])],
)
def test_the_line_end_behind_the_text_adds_no_line(text: str, lines: list[str]) -> None:
    assert SearchBlock.from_text(text).lines == lines


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [("a\n", "b\n", ["a"]), ("a\n", "b", ["a", ""]), ("a\n", "", ["a"]), ("a", "b", ["a"])],
)
def test_a_line_end_that_only_the_old_text_has_is_a_blank_line(old: str, new: str, lines: list[str]) -> None:
    assert SearchBlock.for_edit(old, new).lines == lines


def test_only_lines_with_text_of_their_own_are_distinctive() -> None:
    assert SearchBlock(["def run():", "}", "", "# ...", "ab"]).distinctive == [True, False, False, False, False]


def test_the_first_and_last_lines_that_are_not_blank() -> None:
    block = SearchBlock(["", "a", "", "b", ""])
    assert (block.first_nonblank, block.last_nonblank) == (1, 3)


@pytest.mark.parametrize(
    "line",
    [
        "...",
        "    # ...",
        "// ... existing code ...",
        "/* ... */",
        "<!-- ... -->",
        "# rest of the function ...",
        "[…]",
        "(...)",
    ],
)
def test_an_elision(line: str) -> None:
    assert is_elision(line)


@pytest.mark.parametrize(
    "line",
    ["", "...names,", "...args)", "print('...')", "wait for it ...", "# rest of the function", "a" * 401 + "..."],
)
def test_no_elision(line: str) -> None:
    assert not is_elision(line)


def test_every_kind_of_line_end_splits() -> None:
    assert split_lines("a\r\nb\rc\nd") == ["a", "b", "c", "d"]


def test_an_indent_is_spaces_and_tabs() -> None:
    assert [indent_of(line) for line in ("  \tx", "x ", "\u00a0x")] == ["  \t", "", ""]


@pytest.mark.parametrize(
    ("wanted", "is_there"), [(["a", "c"], True), (["c", "a"], False), ([], True), (["a", "a"], False)]
)
def test_lines_in_their_order(wanted: list[str], is_there: bool) -> None:
    assert contains_in_order(["a", "b", "c"], wanted) is is_there
