"""Batches of tiny scripted tasks, and the same runs without a batch."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.support.launcher import Launched, launch
from bench.support.tool_process import TEJAT
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results

_SCRIPT = """
[[answer]]
say = "I'll write a file."

[[answer.call]]
name = "write_file"
args = { file_path = "answer.txt", content = "42\\n" }
expect_error = false

[[answer]]
say = "Done."
"""
_PROMPT = "Write a file."
_FILES = 20


@dataclass(frozen=True, slots=True)
class BatchTimes:
    """The seconds of a batch: in all, from the start of the first task to the end of the last, and beside the runs.

    `overhead` is for one task on average: its working copy, its patch and its records.
    """

    total: float
    tasks: float
    overhead: float


class TinyTasks:
    """A small repository, a scripted model that writes a file in it, and ways to run that many times."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._folder = Path(folder)
        self._repository = self._folder / "repository"
        self._script = self._folder / "script.toml"
        self._batches = 0
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._folder / "home"),
            "LANG": "C.UTF-8",
        }
        (self._folder / "home").mkdir(parents=True)
        self._script.write_text(_SCRIPT, encoding="utf-8")
        self._create_repository()
        self._sandbox = "required" if self._has_sandbox() else "off"

    def run_batch(self, count: int, *arguments: str) -> "BatchTimes":
        """Run a batch of tasks. Raises AssertionError if one does not pass."""
        command = [TEJAT, *self._batch_arguments(count), "-m", f"scripted:{self._script}", "--sandbox", self._sandbox]
        start = time.perf_counter()
        self._run([*command, *arguments])
        total = time.perf_counter() - start
        results = list(read_results(BatchDirectory(str(self._folder / f"out-{self._batches}"))))
        assert len(results) == count
        return BatchTimes(
            total,
            tasks=max(result.ended for result in results) - min(result.started for result in results),
            overhead=sum(result.seconds - result.run_seconds for result in results) / count,
        )

    def idle_batch(self, count: int) -> Launched:
        """Run a batch of tasks that do nothing, and return what its driver needed."""
        program = [sys.executable, "-m", "bench.support.idle_engine"]
        root = str(Path(__file__).parents[2])
        environment = {**self.environment, "PYTHONPATH": root}
        return launch([*program, *self._batch_arguments(count), "--engine", "idle", "--jobs", "8"], root, environment)

    def prepare_copies(self, count: int) -> None:
        """Copy the repository for `run_bare`, which needs a fresh copy for each run."""
        shutil.rmtree(self._folder / "copies", ignore_errors=True)
        for number in range(count):
            shutil.copytree(self._repository, self._folder / "copies" / str(number))

    def run_bare(self, count: int, *, jobs: int) -> None:
        """Run headless runs in a shell loop, some at a time. Raises AssertionError if one fails."""
        command = [TEJAT, "-m", f"scripted:{self._script}", "--approval-mode", "auto_edit", "--sandbox", self._sandbox]
        line = f"cd copies/{{}} && {shlex.join([*command, '-o', 'stream-json', '-p', _PROMPT])} >run.json 2>stderr.txt"
        loop = f"seq 0 {count - 1} | xargs -P{jobs} -I{{}} sh -c {shlex.quote(line)}"
        self._run(["sh", "-c", loop])
        written = sum((self._folder / "copies" / str(number) / "answer.txt").exists() for number in range(count))
        assert written == count, f"{count - written} bare runs wrote nothing"

    def _batch_arguments(self, count: int) -> list[str]:
        """The arguments of a new batch, which is removed before the next one."""
        shutil.rmtree(self._folder / f"out-{self._batches}", ignore_errors=True)
        self._batches += 1
        tasks = self._folder / "tasks.jsonl"
        repo = str(self._repository)
        lines = (json.dumps({"id": f"task-{number:05}", "repo": repo, "prompt": _PROMPT}) for number in range(count))
        tasks.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return ["batch", "run", str(tasks), "--out", str(self._folder / f"out-{self._batches}")]

    def _create_repository(self) -> None:
        self._repository.mkdir()
        for number in range(_FILES):
            (self._repository / f"{number}.txt").write_text(f"{number}\n" * 50, encoding="utf-8")
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-q", "-m", "Begin"]):
            self._run(["git", *words], directory=self._repository)

    def _has_sandbox(self) -> bool:
        command = [TEJAT, "sandbox", "test"]
        done = subprocess.run(command, env=self.environment, cwd=self._folder, capture_output=True, check=False)
        return done.returncode == 0

    def _run(self, command: Sequence[str], directory: Path | None = None) -> None:
        environment: Mapping[str, str] = self.environment
        done = subprocess.run(
            command,
            cwd=directory or self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (
            f"{command} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
