"""Jobs of a batch with a real repository and a scripted model."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.packages import make_repository
from support.program import script_answer
from tejat.batch.directory import BatchDirectory, TaskDirectory
from tejat.batch.events import TaskPhase
from tejat.batch.job import TaskJob, job_to_json
from tejat.batch.result import TaskResult
from tejat.batch.runner.job_runner import JobRunner
from tejat.batch.task import BatchTask
from tejat.core.frozen import replace


class JobCase:
    """A repository, the directory of a batch, and jobs in it. `activities` are what the last run reported."""

    def __init__(self, base: Path, files: Mapping[str, str | bytes] | None = None) -> None:
        self.base = base
        self.repo = base / "repo"
        self.commit = make_repository(self.repo, files or {"a.txt": "one\n"})
        self.directory = BatchDirectory(str(base / "out"))
        self.activities: list[tuple[TaskPhase, str, int]] = []

    def script(self, *answers: str, name: str = "script.toml") -> str:
        path = self.base / name
        path.write_text("".join(answers), encoding="utf-8")
        return f"scripted:{path}"

    def job(self, *answers: str, task_id: str = "one", keeps_tree: bool = False, **fields: Any) -> TaskJob:
        """A job whose model gives these answers."""
        chosen: dict[str, Any] = {"sandbox": "off", "approval_mode": "yolo", **fields}
        model = self.script(*answers, name=f"{task_id}.toml")
        task = BatchTask(id=task_id, repo=str(self.repo), prompt="Do it.", model=model, **chosen)
        return TaskJob(task, self.directory.path, self.commit, keeps_tree=keeps_tree)

    def task(self, task_id: str = "one") -> TaskDirectory:
        return self.directory.task(task_id)

    def report(self, phase: TaskPhase, line: str, tokens: int) -> None:
        self.activities.append((phase, line, tokens))

    def run(self, job: TaskJob) -> TaskResult:
        return asyncio.run(self.run_async(job))

    async def run_async(self, job: TaskJob) -> TaskResult:
        async with JobRunner() as runner:
            return await runner.run(job, self.report)

    def events(self, task_id: str = "one") -> list[dict[str, Any]]:
        """The events of a run as far as they are written."""
        lines = Path(self.task(task_id).events).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def text(self, name: str, task_id: str = "one") -> str:
        return (Path(self.task(task_id).path) / name).read_text(encoding="utf-8")

    def exists(self, name: str, task_id: str = "one") -> bool:
        return (Path(self.task(task_id).path) / name).exists()


def calling(name: str, **args: object) -> str:
    """An answer with one call."""
    return script_answer(say=f"Calling {name}.", calls=[(name, args)], usage={"prompt": 100, "output": 10})


def writing(path: str, content: str) -> str:
    return calling("write_file", file_path=f"${{root}}/{path}", content=content)


def shell(command: str, **args: object) -> str:
    return calling("run_shell_command", command=command, **args)


def saying(text: str = "Done.", **fields: Any) -> str:
    return script_answer(say=text, **fields)


def with_limits(job: TaskJob, **limits: Any) -> TaskJob:
    return replace(job, task=replace(job.task, limits=replace(job.task.limits, **limits)))


def start_driver(jobs: Sequence[TaskJob], base: Path) -> "subprocess.Popen[bytes]":
    """Start a process that runs these jobs at once with one runner."""
    path = base / "jobs.json"
    path.write_text(json.dumps([job_to_json(job) for job in jobs]), encoding="utf-8")
    return subprocess.Popen([sys.executable, "-c", _DRIVER, str(path)], stdin=subprocess.DEVNULL)


_DRIVER = """
import asyncio, json, sys
from tejat.batch.job import job_from_json
from tejat.batch.runner.job_runner import JobRunner

async def main():
    jobs = [job_from_json(each) for each in json.load(open(sys.argv[1]))]
    async with JobRunner() as runner:
        await asyncio.gather(*(runner.run(job, lambda *_: None) for job in jobs))

asyncio.run(main())
"""
