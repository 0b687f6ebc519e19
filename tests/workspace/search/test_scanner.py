"""One file: its matches, their numbers and their context."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.workspace.search.pattern import parse_pattern
from tejat.workspace.search.scanner import ScanResult, open_scanner
from tejat.workspace.search.types import SearchLine, SearchQuery, SearchTimeout


def never() -> None:
    """Asks nobody to stop."""


def scan(path: Path, query: SearchQuery, *, most: int = 1000, stop: Callable[[], None] = never) -> ScanResult:
    pattern = parse_pattern(query.pattern, fixed_strings=False, case_sensitive=True)
    excluding = query.exclude_pattern and parse_pattern(query.exclude_pattern, fixed_strings=False, case_sensitive=True)
    with open_scanner(query, pattern, excluding or None, stop) as scanner:
        fd = os.open(path, os.O_RDONLY)
        try:
            return scanner.scan(fd, limit=most)
        finally:
            os.close(fd)


def expected(lines: list[str], query: SearchQuery, most: int) -> ScanResult:
    """The same by looking at every line by itself."""
    most = min(most, query.max_matches_per_file or most)
    hits = [index for index, line in enumerate(lines) if "x" in line and "y" not in line][:most]
    near = {index + by for index in hits for by in range(-query.before, query.after + 1)} & set(range(len(lines)))
    return ScanResult(
        tuple(SearchLine(index + 1, lines[index], index in hits) for index in sorted(near)), len(hits), True
    )


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(["", "a", "x", "xy", "b x"]), max_size=25),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    per_file=st.none() | st.integers(1, 4),
    most=st.integers(1, 6),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_context(
    tmp_path: Path, lines: list[str], before: int, after: int, per_file: int | None, most: int, ending: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes("".join(line + ending for line in lines).encode())
    query = SearchQuery(pattern="x", exclude_pattern="y", before=before, after=after, max_matches_per_file=per_file)
    assert scan(path, query, most=most) == expected(lines, query, most)


def test_context_reaches_over_blocks(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = ["a" * 100 for _ in range(30_000)]
    for index in (0, 10_380, 10_383, 20_763, 29_999):
        lines[index] = "x"
    path.write_text("\n".join(lines))
    query = SearchQuery(pattern="x", before=4, after=4)
    assert scan(path, query) == expected(lines, query, 1000)


def test_only_the_name(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x\nx\n")
    assert scan(path, SearchQuery(pattern="x", names_only=True, before=1)) == ScanResult((), 1, True)


@pytest.mark.parametrize("query", [SearchQuery(pattern="x"), SearchQuery(pattern="x", max_matches_per_file=1)])
def test_a_binary_file_has_no_matches(tmp_path: Path, query: SearchQuery) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x\n" * (1 << 20) + b"\0")
    assert scan(path, query) == ScanResult((), 0, True)


def test_what_was_found_when_time_runs_out_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x\n" + b"a\n" * (1 << 21) + b"x\n")
    calls: list[None] = []

    def stop() -> None:
        calls.append(None)
        if len(calls) == 8:
            raise SearchTimeout

    assert scan(path, SearchQuery(pattern="x"), stop=stop) == ScanResult((SearchLine(1, "x", True),), 1, False)
