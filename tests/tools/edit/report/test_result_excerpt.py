"""The lines around an edit, as they are afterwards."""

import pytest

from tejat.tools.edit.report.result_excerpt import describe_changed_lines


@pytest.mark.parametrize(
    ("before", "after", "described"),
    [
        pytest.param("a\nb\nc\n", "a\nx\nc\n", "Lines 1-3 are now:\na\nx\nc", id="one line"),
        pytest.param("a\n", "b\n", "Line 1 is now:\nb", id="the only line"),
        pytest.param("a\nb\nc\nd\n", "a\nd\n", "Lines 1-2 are now:\na\nd", id="deleted lines"),
        pytest.param("a\rb\rc\r", "a\rx\rc\r", "Lines 1-3 are now:\na\nx\nc", id="CR line ends"),
        pytest.param("a\r\nb\r\n", "a\r\nx\r\n", "Lines 1-2 are now:\na\nx", id="CRLF line ends"),
    ],
)
def test_the_changed_lines(before: str, after: str, described: str) -> None:
    assert describe_changed_lines(before, after) == described


def test_of_many_lines_the_first_and_the_last() -> None:
    described = describe_changed_lines("a\n", "".join(f"line {number}\n" for number in range(100)))
    assert "[60 more lines]" in described
    assert described.count("\n") == 41


def test_of_a_long_line_what_has_changed() -> None:
    line = "x" * 5_000
    assert "HERE" in describe_changed_lines(f"{line}old{line}\n", f"{line}HERE{line}\n")
