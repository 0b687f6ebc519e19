"""The words for what was cut, with numbers that are true."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.processes.truncation_notice import format_truncated, truncate_text

LABEL = re.compile(
    r"Output too large\. Showing first (\d+) and last (\d+) characters of (\d+)\. For full output see: /f\n"
)
GAP = re.compile(r"\n\n\.\.\. \[(\d+) characters omitted\] \.\.\.\n\n")


def test_lines_are_kept_whole_where_one_ends_near() -> None:
    text = "".join(f"line {number:03}\n" for number in range(100))
    assert truncate_text(text, limit=100, path="/kept/output") == (
        "Output too large. Showing first 18 and last 72 characters of 900. For full output see: /kept/output\n"
        "line 000\nline 001\n"
        "\n... [810 characters omitted] ...\n\n"
        "line 092\nline 093\nline 094\nline 095\nline 096\nline 097\nline 098\nline 099\n"
    )


def test_a_single_giant_line_is_cut_too() -> None:
    assert truncate_text("a" * 500 + "b" * 500, limit=10, path=None, note="Only the first 5 GB were kept.") == (
        "Output too large. Showing first 2 and last 8 characters of 1000. "
        "[Note: Could not save full output to file] Only the first 5 GB were kept.\n"
        "aa\n\n... [990 characters omitted] ...\n\nbbbbbbbb"
    )


@pytest.mark.parametrize(("text", "limit"), [("", 1), ("abc", 3), ("abc", 4), ("abc", 0), ("abc", -1)])
def test_what_fits_is_left_alone_and_no_limit_is_none(text: str, limit: int) -> None:
    assert truncate_text(text, limit=limit, path="/f") == text


def test_streams_say_what_they_count() -> None:
    assert format_truncated(
        "ä\n", "ß", head_size=3, tail_size=2, total=1_000_005, unit="bytes", path="/f", note="(capped)"
    ) == (
        "Output too large. Showing first 3 and last 2 bytes of 1000005. For full output see: /f (capped)\n"
        "ä\n\n... [1000000 bytes omitted] ...\n\nß"
    )


PIECES = st.sampled_from(["a", "\n", "\r\n", "\r", "\ud83d\ude00", "\U0001f600", "ä", "line of words\n", "x" * 20])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1, 120))
def test_the_parts_are_parts_and_the_numbers_add_up(text: str, limit: int) -> None:
    result = truncate_text(text, limit=limit, path="/f")
    if len(text) <= limit:
        assert result == text
        return
    label = LABEL.match(result)
    assert label is not None
    first, last, total = map(int, label.groups())
    head, tail = text[:first], text[len(text) - last :]
    assert total == len(text)
    assert first + last <= limit
    assert first <= limit // 5
    assert result == (
        f"{label.group()}{head.removesuffix(chr(10))}\n\n... [{total - first - last} characters omitted] ...\n\n{tail}"
    )
    for before, after in ((head, text[first:]), (text[: len(text) - last], tail)):
        assert not (before.endswith("\r") and after.startswith("\n"))
        assert not (before.endswith("\ud83d") and after.startswith("\ude00"))


@settings(max_examples=100, deadline=None)
@given(st.integers(100, 2000), st.integers(10, 90))
def test_little_is_given_away_for_whole_lines(limit: int, width: int) -> None:
    text = ("x" * (width - 1) + "\n") * (5000 // width + 40)
    label = LABEL.match(truncate_text(text, limit=limit, path="/f"))
    assert label is not None
    first, last, _ = map(int, label.groups())
    assert first >= limit // 5 * 7 // 8 - 1
    assert last >= (limit - limit // 5) * 7 // 8 - 1
    assert GAP.search(truncate_text(text, limit=limit, path="/f"))
