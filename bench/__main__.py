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
    mcp,
    policy,
    settings,
    startup,
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
            policy,
            web,
            batch,
        )
        return print_all(chain(startup.measure(), *(suite.measure(scratch) for suite in suites)))


if __name__ == "__main__":
    sys.exit(main())
