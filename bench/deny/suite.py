"""The figure of denials for `python -m bench`, on a moderate number of lines."""

from collections.abc import Iterator
from pathlib import Path

from bench.deny.differential import compare
from bench.deny.generator import random_lines
from bench.measurement import Measurement

_SEED = 90
_LINES = 600


def measure(scratch: str) -> Iterator[Measurement]:
    result = compare(random_lines(_SEED, _LINES), Path(scratch) / "deny")
    detail = f"{len(result.ran)} of {result.count} random lines ran it in bash"
    yield Measurement("lines that run a denied program in yolo mode", len(result.passed), 0, "", detail)
