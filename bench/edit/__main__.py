"""`python -m bench.edit`: success rates of inexact edits by kind. Fails if a limit is missed."""

import argparse
import sys
import tempfile

from bench.edit import latency, report
from bench.edit.generator import generate_cases
from bench.edit.runners import competitors, tejat_cli


def main() -> int:
    options = _parse_arguments()
    cases = [case for seed in options.seed for case in generate_cases(seed, options.cases)]
    with tempfile.TemporaryDirectory(prefix="tejat-bench-edit-") as scratch:
        outcomes = tejat_cli.run(cases, scratch)
        print("\n".join(report.format_table("tejat", outcomes, by_form=options.forms)), flush=True)
        if options.keep is not None:
            report.save_failures(outcomes, options.keep)
        found, missing = competitors.find_competitors() if options.others else ([], [])
        for competitor in found:
            print(
                "\n".join(["", *report.format_table(competitor.name, competitors.run(competitor, cases, scratch))]),
                flush=True,
            )
        print("\n".join(["", *missing]))
        figures = [*report.measure(outcomes), *(latency.measure(scratch) if options.times else ())]
    for figure in figures:
        mark = "ok  " if figure.passes else "MISS"
        print(f"{mark} {figure.value:8.2f} {figure.unit:1} (limit {figure.limit:g})  {figure.name}: {figure.detail}")
    return 0 if all(figure.passes for figure in figures) else 1


class _Options(argparse.Namespace):
    seed: list[int]
    cases: int
    keep: str | None
    forms: bool
    others: bool
    times: bool


def _parse_arguments() -> _Options:
    parser = argparse.ArgumentParser(prog="python -m bench.edit", description=__doc__)
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="0 to 89 are for development")
    parser.add_argument("--cases", type=int, default=500, help="number of cases for each seed")
    parser.add_argument("--keep", metavar="DIR", help="save failed cases there, one folder each")
    parser.add_argument("--forms", action="store_true", help="also report by file format")
    parser.add_argument("--others", action="store_true", help="also run other edit tools that are installed")
    parser.add_argument("--times", action="store_true", help="also measure the latency")
    return parser.parse_args(namespace=_Options())


if __name__ == "__main__":
    sys.exit(main())
