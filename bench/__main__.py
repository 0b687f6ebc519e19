"""`python -m bench [SUITE...]`: print the figures of these suites, or of all, and fail if one misses its limit."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module

from bench.measurement import Measurement, print_all

_SUITES = {
    "startup": "bench.suites.startup",
    "settings": "bench.suites.settings",
    "policy": "bench.suites.policy",
    "tool_calls": "bench.suites.tool_calls",
    "shell_output": "bench.suites.shell_output",
    "library": "bench.suites.library",
    "agent": "bench.suites.agent",
    "streaming": "bench.suites.streaming",
    "long_sessions": "bench.suites.long_sessions",
    "subagents": "bench.suites.subagents",
    "mcp": "bench.suites.mcp",
    "acp": "bench.suites.acp",
    "files": "bench.suites.files",
    "undo": "bench.suites.undo",
    "edit": "bench.edit.suite",
    "trees": "bench.suites.trees",
    "growth": "bench.suites.growth",
    "session_growth": "bench.suites.session_growth",
    "completion": "bench.suites.completion",
    "terminal": "bench.suites.terminal",
    "extending": "bench.suites.extending",
    "deny": "bench.deny.suite",
    "web": "bench.suites.web",
    "batch": "bench.suites.batch",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(_SUITES))
    chosen: list[str] = parser.parse_args().suites or list(_SUITES)
    unknown = sorted(set(chosen) - _SUITES.keys())
    if unknown:
        parser.error(f"unknown suite {unknown[0]!r}; choose from {', '.join(_SUITES)}")
    with tempfile.TemporaryDirectory(prefix="tejat-bench-") as scratch:
        return print_all(_measure(chosen, scratch))


def _measure(chosen: Sequence[str], scratch: str) -> Iterator[Measurement]:
    for name in chosen:
        folder = os.path.join(scratch, name)
        os.mkdir(folder)
        yield from import_module(_SUITES[name]).measure(folder)


if __name__ == "__main__":
    sys.exit(main())
