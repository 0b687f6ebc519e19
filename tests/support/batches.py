"""Batches for tests of the driver: a repository, plans, and a clock that nobody waits for."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.batch import run_batch
from tejat.batch.driver.options import BatchClock, BatchOptions
from tejat.batch.driver.results import read_results
from tejat.batch.engines import registry
from tejat.batch.events import BatchEnded, BatchEvent
from tejat.batch.plan.plan_file import BatchPlan, write_plan
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskResult
from tejat.batch.task import BatchTask

ENGINE = "shell"


class FastTime:
    """A clock that jumps over every wait."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.waits: list[float] = []
        self.clock = BatchClock(now=self.time, monotonic=self.time, sleep=self.sleep, random=lambda: 0.0)

    def time(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        # What happens at once goes first, so that the time of a wait is over before nothing but it.
        for _ in range(10):
            await asyncio.sleep(0)
        self.waits.append(seconds)
        self.seconds += seconds


class SampleBatch:
    """A batch in a directory of its own, run with the engine of `support/shell_engine.py`."""

    def __init__(self, path: Path, repo: str) -> None:
        self.path = path / "out"
        self.repo = repo
        self.starts_file = path / "starts.txt"
        self.directory = BatchDirectory(str(self.path))
        self.events: list[BatchEvent] = []
        self.time = FastTime()

    def plan(self, *prompts: str) -> None:
        """Plan a task `t0`, `t1`, ... for each prompt."""
        self.plan_tasks([BatchTask(f"t{number}", self.repo, prompt) for number, prompt in enumerate(prompts)])

    def plan_tasks(self, tasks: Sequence[BatchTask | RejectedTask]) -> None:
        write_plan(self.directory, tasks)

    async def run_async(self, **options: object) -> BatchEnded:
        self.events.clear()
        plan = BatchPlan.open(self.directory)
        chosen = BatchOptions(**{"directory": str(self.path), "engine": ENGINE, **options})  # pyright: ignore[reportArgumentType]
        return await run_batch(chosen, plan, [self.events.append], clock=self.time.clock)

    def run(self, **options: object) -> BatchEnded:
        return asyncio.run(self.run_async(**options))

    @property
    def results(self) -> dict[str, TaskResult]:
        found = list(read_results(self.directory))
        by_id = {result.id: result for result in found}
        assert len(by_id) == len(found)
        return by_id

    @property
    def statuses(self) -> dict[str, str]:
        return {name: result.status.value for name, result in self.results.items()}

    @property
    def starts(self) -> list[str]:
        """Task and attempt of every start."""
        return self.starts_file.read_text(encoding="utf-8").splitlines() if self.starts_file.exists() else []


def make_repository(path: Path) -> str:
    """A git repository with one commit."""
    path.mkdir(parents=True)
    (path / "file.txt").write_text("one\n", encoding="utf-8")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "one"),
    ):
        subprocess.run(["git", *words], cwd=path, check=True, capture_output=True)
    return str(path)


def use_shell_engine(patch: pytest.MonkeyPatch) -> None:
    """Register the engine, as a line in the registry would."""
    patch.setitem(cast("dict[str, str]", registry.ENGINES), ENGINE, "support.shell_engine")
