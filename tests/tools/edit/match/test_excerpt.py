"""The stretches of a large file where a text could stand."""

import pytest

from tejat.tools.edit.match.excerpt import find_excerpt
from tejat.workspace.text.encoding import UTF_8, TextEncoding
from tejat.workspace.text.text_edits import TextEdit, TextFile

ENCODINGS = [
    UTF_8,
    TextEncoding("utf-8", b"\xef\xbb\xbf"),
    TextEncoding("utf-16-le", b"\xff\xfe"),
    TextEncoding("utf-16-be", b""),
    TextEncoding("cp932", b""),
]
LINES = [f"line number {index}" for index in range(5_000)]
LINES[1_000] = "the needle 表"
LINES[4_000] = "a second needle ソ"


def file_of(lines: list[str], encoding: TextEncoding = UTF_8, ending: str = "\n") -> TextFile:
    return TextFile(encoding.bom + encoding.encode_new("".join(line + ending for line in lines)), encoding)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_around_what_is_rare_with_their_numbers(encoding: TextEncoding, ending: str) -> None:
    excerpt = find_excerpt(file_of(LINES, encoding, ending), "needle")
    assert excerpt is not None
    lines = excerpt.target.lines
    at = [index for index, line in enumerate(lines) if "needle" in line]
    assert [(excerpt.target.line_number(index), lines[index]) for index in at] == [
        (1_001, "the needle 表"),
        (4_001, "a second needle ソ"),
    ]
    for index in at:
        number = excerpt.target.line_number(index)
        assert list(lines[index - 50 : index + 50]) == LINES[number - 51 : number + 49]
    assert (excerpt.target.line_count, len(lines) < 2_000) == (5_000, True)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_edits_come_back_to_where_they_belong(encoding: TextEncoding) -> None:
    file = file_of(LINES, encoding)
    excerpt = find_excerpt(file, "second needle")
    assert excerpt is not None
    (place,) = excerpt.file.find_all("second needle")
    assert excerpt.translate_edits([TextEdit(place.start, place.end, "x")]) == [
        TextEdit(found.start, found.end, "x") for found in file.find_all("second needle")
    ]


def test_an_edit_that_reaches_from_one_stretch_to_another_is_none() -> None:
    excerpt = find_excerpt(file_of(LINES), "needle")
    assert excerpt is not None
    first, second = excerpt.file.find_all("needle")
    assert excerpt.translate_edits([TextEdit(first.start, second.end, "x")]) is None


def test_the_beginning_and_the_end() -> None:
    excerpt = find_excerpt(file_of(["the first needle", *LINES[:999], "the last needle"]), "needle")
    assert excerpt is not None
    assert excerpt.target.lines[0] == "the first needle"
    assert (excerpt.target.lines[-1], excerpt.target.line_number(len(excerpt.target.lines) - 1)) == (
        "the last needle",
        1_001,
    )


@pytest.mark.parametrize(
    ("text", "old"),
    [
        pytest.param("line\n" * 2_000, "line", id="nothing rare"),
        pytest.param("line\n" * 2_000, "needle", id="nothing there"),
        pytest.param(f"{'word ' * 100_000}needle {'word ' * 100_000}", "needle", id="one long line"),
    ],
)
def test_nowhere(text: str, old: str) -> None:
    assert find_excerpt(TextFile(text.encode(), UTF_8), old) is None
