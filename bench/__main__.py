"""`python -m bench`: print every figure and fail if one misses its limit."""

import sys
import tempfile
from itertools import chain

from bench.deny import suite as deny
from bench.edit import suite as edit
from bench.suites import (
    agent,
    completion,
    extending,
    files,
    mcp,
    settings,
    startup,
    subagents,
    terminal,
    tool_calls,
    trees,
)


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory(prefix="tejat-bench-") as scratch:
        suites = (
            settings,
            tool_calls,
            agent,
            subagents,
            mcp,
            files,
            edit,
            trees,
            completion,
            terminal,
            extending,
            deny,
        )
        for result in chain(startup.measure(), *(suite.measure(scratch) for suite in suites)):
            missed += not result.passes
            mark = "ok  " if result.passes else "MISS"
            print(
                f"{mark} {result.value:8.2f} {result.unit:2} (limit {result.limit:g})  {result.name}: {result.detail}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
