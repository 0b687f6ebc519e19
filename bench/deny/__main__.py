"""`python -m bench.deny`: run random lines in bash and print those that pass a denial."""

import argparse
import shutil
import sys
import tempfile
from itertools import islice
from pathlib import Path

from bench.deny.differential import compare
from bench.deny.generator import random_lines

_BATCH = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.deny", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed; each thousand lines has its own")
    parser.add_argument("--lines", type=int, default=10_000)
    options = parser.parse_args()
    count = ran = passed = 0
    while count < options.lines:
        lines = islice(random_lines(options.seed + count // _BATCH, _BATCH), options.lines - count)
        scratch = Path(tempfile.mkdtemp(prefix="tejat-deny-"))
        try:
            result = compare(lines, scratch / "place")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        for line in result.passed:
            print(f"PASSED {line!r}")
        count, ran, passed = count + result.count, ran + len(result.ran), passed + len(result.passed)
        print(f"{count:,} lines, {ran:,} ran it, {passed:,} of them passed", flush=True)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
