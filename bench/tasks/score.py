"""The table of a run, and its score."""

from collections.abc import Iterator, Mapping, Sequence

from bench.tasks.case import TaskCase
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus

NO_SANDBOX = "No sandbox works on this machine. Run it with `--sandbox off`, in a container or virtual machine."


def format_score(cases: Sequence[TaskCase], results: Mapping[str, TaskResult]) -> Iterator[str]:
    """A line for each task, then the score."""
    width = max(len(case.id) for case in cases)
    for case in cases:
        yield _line(case, results.get(case.id), width).rstrip()
    found = [results[case.id] for case in cases if case.id in results]
    costs = [result.cost for result in found if result.cost]
    seconds = sum(result.seconds for result in found)
    spent = f", {sum(costs):.2f} dollars" if costs else ""
    yield f"{passed_count(cases, results)}/{len(cases)}  {seconds:.0f} s of work{spent}"
    if any(result.failure is TaskFailure.SANDBOX for result in found):
        yield NO_SANDBOX


def passed_count(cases: Sequence[TaskCase], results: Mapping[str, TaskResult]) -> int:
    ids = {result.id for result in results.values() if result.status is TaskStatus.PASSED}
    return sum(case.id in ids for case in cases)


def _line(case: TaskCase, result: TaskResult | None, width: int) -> str:
    if result is None:
        return f"not run  {case.id:{width}}            {case.title}"
    failure = "" if result.failure in (TaskFailure.NONE, TaskFailure.CHECK_FAILED) else f" ({result.failure.value})"
    return f"{result.status.value:7}  {case.id:{width}}  {result.seconds:6.1f} s  {case.title}{failure}"
