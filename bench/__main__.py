"""`python -m bench`: print every figure and fail if one misses its limit."""

import sys
import tempfile
from itertools import chain

from bench.edit import suite as edits
from bench.suites import agent, completion, files, mcp, startup, terminal, trees
from bench.suites import tool_calls as flow


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory(prefix="tejat-bench-") as scratch:
        rooms = (flow, agent, mcp, files, edits, trees, completion, terminal)
        measured = chain(startup.measure(), *(room.figures(scratch) for room in rooms))
        for figure in measured:
            missed += not figure.passes
            mark = "ok  " if figure.passes else "MISS"
            print(
                f"{mark} {figure.value:8.2f} {figure.unit:2} (limit {figure.limit:g})  {figure.name}: {figure.detail}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
