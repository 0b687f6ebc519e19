"""`python -m bench.tasks`: run 20 coding tasks with a model, and print a score.

Without `-m` each task gets a scripted model that solves it, which tests the program. With `-m` it is a benchmark of
that model. A model that looks for the hidden tests can read them; the transcripts in `--out` show whether it did.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.tasks.case import TaskCase, load_cases
from bench.tasks.score import format_score, passed_count
from bench.tasks.task_file import write_task_file
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results
from tejat.batch.result import TaskResult

_TASK_FAILED = 1


def main(arguments: list[str] | None = None) -> int:
    """Run the tasks. Returns 0 if all pass, 1 if not, or the exit code of a batch that could not run."""
    options = _parser().parse_args(arguments)
    try:
        cases = load_cases([name for name in options.only.split(",") if name])
    except KeyError as error:
        print(f"Unknown task {error.args[0]!r}. `--list` lists them.", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.id}: {case.title}")
        return 0
    if options.out:
        return _run(cases, Path(options.out).absolute(), options)
    with tempfile.TemporaryDirectory(prefix="tejat-tasks-") as folder:
        return _run(cases, Path(folder), options)


def run_cases(
    cases: list[TaskCase],
    folder: Path,
    *,
    model: str | None = None,
    seconds: float = 900,
    arguments: list[str] | None = None,
) -> tuple[int, dict[str, TaskResult]]:
    """Run tasks as a batch in `folder`, and return its exit code and the results by id."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = write_task_file(cases, folder, scripted=model is None, seconds=seconds)
    batch = folder / "batch"
    command = [sys.executable, "-m", "tejat", "batch", "run", str(tasks), "--out", str(batch), *(arguments or [])]
    command += ["-m", model] if model is not None else []
    code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    return code, {result.id: result for result in read_results(BatchDirectory(str(batch)))}


def _run(cases: list[TaskCase], folder: Path, options: argparse.Namespace) -> int:
    more = ["--sandbox", options.sandbox]
    more += ["--jobs", str(options.jobs)] if options.jobs else []
    more += ["--max-cost", str(options.max_cost)] if options.max_cost else []
    code, results = run_cases(cases, folder, model=options.model, seconds=options.timeout, arguments=more)
    for line in format_score(cases, results):
        print(line)
    if code > _TASK_FAILED:
        return code
    return 0 if passed_count(cases, results) == len(cases) else _TASK_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench.tasks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--model", help="the model to test (default: a scripted one that solves each task)")
    parser.add_argument("-j", "--jobs", type=int, help="tasks at once (default: one per processor)")
    parser.add_argument("--out", help="a directory for all records; the same one continues a run that was stopped")
    parser.add_argument("--only", default="", metavar="ID,...", help="only these tasks, by id or by number")
    parser.add_argument("--sandbox", default="required", help="as for `tejat batch run` (default: required)")
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS", help="limit of a task (default: 900)")
    parser.add_argument("--max-cost", type=float, metavar="DOLLARS", help="limit of the whole run")
    parser.add_argument("--list", action="store_true", help="list the tasks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
