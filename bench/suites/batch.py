"""Batches: what they add to bare headless runs, Ray against local, and the memory of the driver.

`python -m bench.suites.batch --tasks 1000` measures with that many tasks; `python -m bench` uses 100.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec

from bench.measurement import Measurement, print_all, seconds
from bench.support.batches import BatchTimes, TinyTasks
from bench.support.ray_node import RayNode

_TASKS = 300
"""So many that it does not count what the workers of Ray take to start."""
_OVERHEAD_TASKS = 20
_ROUNDS = 3
_JOBS = 2
_FEW, _MANY = 100, 10_000
_THROUGHPUT = 0.85


def measure(scratch: str, *, tasks: int = _TASKS) -> Iterator[Measurement]:
    """Measure with batches of so many tasks."""
    tiny = TinyTasks(os.path.join(scratch, "batch"))
    yield _overhead(tiny)
    yield _throughput(tiny, tasks)
    yield from _ray(tiny, tasks)
    yield _memory(tiny)


def _overhead(tiny: TinyTasks) -> Measurement:
    """One task at a time, so that nothing hides behind another task."""
    baseline = min(_bare_seconds(tiny, _OVERHEAD_TASKS, jobs=1) for _ in range(_ROUNDS)) / _OVERHEAD_TASKS
    ours = min((_batch(tiny, _OVERHEAD_TASKS, jobs=1) for _ in range(_ROUNDS)), key=lambda times: times.total)
    added = max(ours.overhead, ours.total / _OVERHEAD_TASKS - baseline)
    detail = (
        f"{ours.total / _OVERHEAD_TASKS:.3f} s against {baseline:.3f} s for a bare run, {ours.overhead:.3f} s beside it"
    )
    return Measurement("a task of a batch, what it adds to its run", added, 0.4, "s", detail)


def _throughput(tiny: TinyTasks, tasks: int) -> Measurement:
    baseline, ours = _bare_seconds(tiny, tasks, jobs=_JOBS), _batch(tiny, tasks, jobs=_JOBS).total
    detail = f"{ours:.1f} s against {baseline:.1f} s, {baseline / ours:.0%} of the throughput"
    name = f"{tasks} tasks with --jobs {_JOBS} over bare runs with xargs -P{_JOBS}"
    return Measurement(name, ours / baseline, round(1 / _THROUGHPUT, 3), "x", detail)


def _ray(tiny: TinyTasks, tasks: int) -> Iterator[Measurement]:
    """Compare from the first task to the last, on a cluster that runs already: connecting does not grow with them."""
    if find_spec("ray") is None:
        print("--   ray is not installed: it is not compared with the local engine", flush=True)
        return
    with RayNode(os.path.join(tiny.folder, "ray"), tiny.environment, cpus=_JOBS) as node:
        baseline = _batch(tiny, tasks, jobs=_JOBS)
        ours = _batch(tiny, tasks, "--engine", "ray", "--address", node.address, "--shared", jobs=_JOBS)
    connected = ours.total - ours.tasks - (baseline.total - baseline.tasks)
    detail = f"{ours.tasks:.1f} s against {baseline.tasks:.1f} s, and {connected:.1f} s to connect"
    yield Measurement(f"{tasks} tasks on Ray over the local engine", ours.tasks / baseline.tasks, 1.15, "x", detail)


def _bare_seconds(tiny: TinyTasks, tasks: int, *, jobs: int) -> float:
    tiny.prepare_copies(tasks)
    return seconds(lambda: tiny.run_bare(tasks, jobs=jobs))


def _batch(tiny: TinyTasks, tasks: int, *arguments: str, jobs: int) -> BatchTimes:
    return tiny.run_batch(tasks, "--jobs", str(jobs), *arguments)


def _memory(tiny: TinyTasks) -> Measurement:
    few, many = (tiny.idle_batch(count).peak_memory / 2**20 for count in (_FEW, _MANY))
    detail = f"{many:.1f} MB against {few:.1f} MB"
    return Measurement(f"driver of {_MANY:,} tasks that do nothing over {_FEW}, memory", many / few, 1.1, "x", detail)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="bench.suites.batch", description=__doc__)
    parser.add_argument("--tasks", type=int, default=_TASKS)
    with tempfile.TemporaryDirectory(prefix="tejat-bench-") as folder:
        sys.exit(print_all(measure(folder, tasks=parser.parse_args().tasks)))
