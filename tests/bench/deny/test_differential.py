"""A rule against touch in yolo mode, compared with what bash runs. `python -m bench.deny` does the same for long."""

from itertools import chain
from pathlib import Path

import pytest
from bench.deny.differential import compare, decide
from bench.deny.generator import (
    DISGUISED,
    EVALUATORS,
    FILES,
    FOREIGN,
    PREFIXES,
    SHELLS,
    UNDECIDABLE,
    WRITTEN,
    random_lines,
)

from tejat.policy.types import Decision

POLICY = Path(__file__).parents[2] / "policy"


def every_way() -> list[str]:
    """Each way to run it once."""
    prefixed = [f"{prefix} touch MARK" for prefix in PREFIXES if not prefix.startswith(("find", "xargs"))]
    carried = [carrier("touch MARK") for carrier in chain(SHELLS, EVALUATORS, FOREIGN, WRITTEN)]
    return list(dict.fromkeys([*DISGUISED, *prefixed, *carried]))


def test_no_way_passes(tmp_path: Path) -> None:
    result = compare(every_way(), tmp_path / "place")
    assert len(result.ran) > 120
    assert result.passed == ()


def test_no_way_passes_whether_it_is_installed_or_not() -> None:
    assert [line for line in every_way() if decide(line) is Decision.ALLOW and line not in ("$T MARK",)] == []


def test_no_random_line_passes(tmp_path: Path) -> None:
    result = compare(random_lines(seed=20261117, count=150), tmp_path / "place")
    assert len(result.ran) > 35
    assert result.passed == ()


def test_what_is_in_files_from_before_is_not_seen(tmp_path: Path) -> None:
    """The limits that the documentation names."""
    result = compare(UNDECIDABLE, tmp_path / "place", files=FILES)
    assert result.ran >= {"sh run.sh", "./run.sh", ". ./run.sh"}
    assert set(result.passed) == result.ran


@pytest.mark.parametrize("name", ["ordinary_lines.txt", "seen_lines.txt"])
def test_ordinary_lines_are_allowed(name: str) -> None:
    lines = [line.replace("␤", "\n") for line in (POLICY / name).read_text(encoding="utf-8").splitlines()]
    refused = [line for line in lines if decide(line) is not Decision.ALLOW]
    assert refused == [line for line in lines if line.startswith("touch ")]
