"""`python -m bench`: print every figure and fail if one misses its limit."""

import sys
import tempfile
from itertools import chain

from bench.deny import suite as deny
from bench.edit import suite as edit
from bench.measurement import print_all
from bench.suites import (
    acp,
    agent,
    batch,
    completion,
    extending,
    files,
    library,
    long_sessions,
    mcp,
    settings,
    startup,
    streaming,
    subagents,
    terminal,
    tool_calls,
    trees,
    web,
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="tejat-bench-") as scratch:
        suites = (
            settings,
            tool_calls,
            library,
            agent,
            streaming,
            long_sessions,
            subagents,
            mcp,
            acp,
            files,
            edit,
            trees,
            completion,
            terminal,
            extending,
            deny,
            web,
            batch,
        )
        return print_all(chain(startup.measure(), *(suite.measure(scratch) for suite in suites)))


if __name__ == "__main__":
    sys.exit(main())
