"""A file as lines and keys, and line edits as edits of its bytes."""

import pytest

from support.edit_alignment import indexed
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile

TEXT = "def run( a ):\n    return a\n\n    return a\n"


def test_lines_and_keys() -> None:
    target = indexed(TEXT)
    assert target.lines == ["def run( a ):", "    return a", "", "    return a"]
    assert target.keys == ["defrun(a):", "returna", "", "returna"]
    assert (target.line_count, target.line_number(0)) == (4, 1)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_have_no_line_ends(ending: str) -> None:
    assert indexed(f"a{ending}b{ending}").lines == ["a", "b"]


def test_lines_by_key() -> None:
    assert indexed(TEXT).lines_by_key(["returna", "defrun(a):", "nowhere"]) == {"returna": [1, 3], "defrun(a):": [0]}


def test_runs_of_keys() -> None:
    target = indexed("a\nb\na\nb\na\n")
    assert target.find_runs(["a", "b"], limit=9) == [0, 2]
    assert target.find_runs(["a", "b"], limit=1) == [0]
    assert target.find_runs(["b", "b"], limit=9) == []


def test_lines_that_contain_part_of_a_key() -> None:
    target = indexed("one two\nthree\ntwo\n")
    assert target.find_lines_containing("two", limit=9) == [0, 2]
    assert target.find_lines_containing("two", limit=1) == []


def test_lines_of_a_range_of_bytes() -> None:
    target = indexed("ab\ncd\nef\n")
    assert [target.line_range(start, end) for start, end in ((0, 2), (0, 3), (1, 4), (6, 8))] == [
        (0, 1),
        (0, 1),
        (0, 2),
        (2, 3),
    ]


@pytest.mark.parametrize(("word", "is_there"), [("run", True), ("ru", False), ("return", True), ("turn", False)])
def test_whole_words(word: str, is_there: bool) -> None:
    assert indexed(TEXT).has_word(word) is is_there


def test_beginnings_of_lines() -> None:
    target = indexed("+a\nb+\n")
    assert [target.has_line_starting_with(start) for start in ("+", "b", "a")] == [True, True, False]


@pytest.mark.parametrize(
    ("start", "end", "is_whole"),
    [(0, 2, True), (0, 3, True), (3, 5, True), (0, 6, True), (1, 3, False), (0, 4, False)],
)
def test_ranges_of_whole_lines(start: int, end: int, is_whole: bool) -> None:
    assert indexed("ab\ncd\n").is_whole_lines(start, end) is is_whole


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        pytest.param(LineReplacement(1, 2, ("x",)), "a\nx\nc\n", id="replaced"),
        pytest.param(LineReplacement(1, 2, ()), "a\nc\n", id="deleted"),
        pytest.param(LineReplacement(1, 1, ("x", "y")), "a\nx\ny\nb\nc\n", id="inserted"),
        pytest.param(LineReplacement(3, 3, ("x",)), "a\nb\nc\nx\n", id="appended"),
        pytest.param(LineReplacement(0, 3, ("x",)), "x\n", id="all"),
    ],
)
def test_line_edits_become_text_edits(edit: LineReplacement, after: str) -> None:
    file = TextFile(b"a\nb\nc\n", UTF_8)
    assert b"".join(file.apply_edits(IndexedFile(file).to_text_edits([edit])).pieces).decode() == after


def test_a_line_is_appended_to_a_file_without_final_line_end() -> None:
    file = TextFile(b"a\nb", UTF_8)
    edits = IndexedFile(file).to_text_edits([LineReplacement(2, 2, ("c",))])
    assert b"".join(file.apply_edits(edits).pieces) == b"a\nb\nc"


def test_bytes_that_are_no_text_stay_where_only_part_of_a_line_changes() -> None:
    file = TextFile(b"caf\xe9 old\n", UTF_8)
    edits = IndexedFile(file).to_text_edits(
        [LineReplacement(0, 1, (IndexedFile(file).lines[0].replace("old", "new"),))]
    )
    assert b"".join(file.apply_edits(edits).pieces) == b"caf\xe9 new\n"
