"""`python -m bench.edit`: success rates of inexact edits by kind. Fails if a limit is missed."""

import argparse
import sys
import tempfile

from bench.edit import latency as timing
from bench.edit import report as tell
from bench.edit.generator import generate_cases
from bench.edit.runners import competitors as others
from bench.edit.runners import tejat as product


def main() -> int:
    asked = _arguments()
    made = [case for seed in asked.seed for case in generate_cases(seed, asked.cases)]
    with tempfile.TemporaryDirectory(prefix="tejat-bench-edit-") as scratch:
        outcomes = product.run(made, scratch)
        print("\n".join(tell.format_table("tejat", outcomes, by_form=asked.forms)), flush=True)
        if asked.keep is not None:
            tell.save_failures(outcomes, asked.keep)
        found, missing = others.find_competitors() if asked.others else ([], [])
        for other in found:
            print("\n".join(["", *tell.format_table(other.name, others.run(other, made, scratch))]), flush=True)
        print("\n".join(["", *missing]))
        figures = [*tell.measure(outcomes), *(timing.measure(scratch) if asked.times else ())]
    for figure in figures:
        mark = "ok  " if figure.passes else "MISS"
        print(f"{mark} {figure.value:8.2f} {figure.unit:1} (limit {figure.limit:g})  {figure.name}: {figure.detail}")
    return 0 if all(figure.passes for figure in figures) else 1


class _Asked(argparse.Namespace):
    seed: list[int]
    cases: int
    keep: str | None
    forms: bool
    others: bool
    times: bool


def _arguments() -> _Asked:
    parser = argparse.ArgumentParser(prog="python -m bench.edit", description=__doc__)
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="0 to 89 are for those who build the tool")
    parser.add_argument("--cases", type=int, default=500, help="how many for each seed")
    parser.add_argument("--keep", metavar="DIR", help="write what did not come out right there, a folder a case")
    parser.add_argument("--forms", action="store_true", help="tell by form of file too")
    parser.add_argument("--others", action="store_true", help="give the same to other edit tools that are installed")
    parser.add_argument("--times", action="store_true", help="measure how long it takes, too")
    return parser.parse_args(namespace=_Asked())


if __name__ == "__main__":
    sys.exit(main())
