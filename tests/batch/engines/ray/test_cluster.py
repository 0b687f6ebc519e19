"""Batches on a cluster of three nodes: cancelled, with a node and a driver that are killed, and without its head."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support import ray_batch
from support.batches import make_repository
from support.container_engine import find_bubblewrap
from support.model_servers.openai import OpenAiServer, text_reply
from support.process_marks import is_alive, living_pids, new_mark
from support.ray_nodes import RayNodes
from support.wait import wait_until
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results
from tejat.batch.engines.contract import EngineOptions, EngineUnavailable
from tejat.batch.engines.ray.engine import open_engine
from tejat.batch.plan.plan_file import write_plan
from tejat.batch.result import TaskResult
from tejat.batch.task import BatchTask

TESTS = Path(ray_batch.__file__).parents[1]
EDIT = """
[[answer]]
say = "I'll add a file."

[[answer.call]]
name = "write_file"
args = { file_path = "${root}/hello.txt", content = "hello" }

[[answer]]
say = "Done."
"""
SLEEP = """
[[answer]]
say = "I'll wait."

[[answer.call]]
name = "run_shell_command"
args = { command = "echo begun > begun.txt; echo begun >> NOTES; exec sleep MARK" }

[[answer]]
say = "Done."
"""
TASKS = 200
KEY = "a-key-that-is-nowhere-else"


class ClusterBatch:
    """A batch in a directory that the last node does not see, and neither the repository."""

    def __init__(self, nodes: RayNodes, hidden: Path, scripts: Path, name: str) -> None:
        self.directory = BatchDirectory(str(hidden / name))
        self.mark = new_mark()
        self.notes = scripts / f"{name}.txt"
        self._nodes = nodes
        self._repo = make_repository(hidden / f"{name}-repo")
        self._script = scripts / f"{name}.toml"

    def plan(self, script: str, count: int) -> None:
        self._script.write_text(script.replace("MARK", self.mark).replace("NOTES", str(self.notes)), encoding="utf-8")
        tasks = [
            BatchTask(
                f"t{number}",
                self._repo,
                "go",
                model=f"scripted:{self._script}",
                approval_mode="yolo",
                sandbox="off",
                check=f"echo t{number} >> {self.notes}",
            )
            for number in range(count)
        ]
        write_plan(self.directory, tasks)

    def plan_model(self, model: str, count: int) -> None:
        """Plan tasks that the model answers without a change."""
        tasks = [
            BatchTask(f"t{number}", self._repo, "go", model=model, sandbox="off", allows_no_changes=True)
            for number in range(count)
        ]
        write_plan(self.directory, tasks)

    def start(self, *jobs: str, **variables: str) -> subprocess.Popen[str]:
        words = [sys.executable, str(ray_batch.__file__), self.directory.path, self._nodes.address, *jobs]
        environment = {**self._nodes.environment, **variables, "PYTHONPATH": str(TESTS)}
        return subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )

    @property
    def results(self) -> dict[str, TaskResult]:
        found = list(read_results(self.directory))
        assert len(found) == len({result.id for result in found})
        return {result.id: result for result in found}

    @property
    def noted(self) -> Counter[str]:
        """What checks and commands of the tasks have noted, and how often."""
        return Counter(self.notes.read_text(encoding="utf-8").split()) if self.notes.exists() else Counter()


def read_words(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
    return []


def ray_driver_of(batch: int) -> int:
    """The process of the Ray driver that a batch has started."""
    children = Path(f"/proc/{batch}/task/{batch}/children").read_text(encoding="ascii").split()
    return next(int(pid) for pid in children if "tejat.batch.engines.ray.driver" in read_words(int(pid)))


def wait_for(driver: subprocess.Popen[str], condition: Callable[[], bool], wanted: str) -> None:
    """Wait for something that a running driver does."""
    wait_until(lambda: condition() or driver.poll() is not None, 240, wanted)
    assert driver.poll() is None, driver.communicate()


def end_of(driver: subprocess.Popen[str]) -> dict[str, object]:
    output, _ = driver.communicate(timeout=240)
    lines = output.strip().splitlines()
    assert len(lines) == 1, output  # nothing that Ray says
    return json.loads(lines[0])


@pytest.mark.timeout(900)
def test_a_cluster_of_three_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # One test, because a cluster takes long to start.
    hidden, scripts = tmp_path / "hidden", tmp_path / "scripts"
    hidden.mkdir()
    scripts.mkdir()
    with RayNodes(hidden, find_bubblewrap(tmp_path)) as nodes:
        with monkeypatch.context() as patch:
            for name, value in nodes.environment.items():
                patch.setenv(name, value)
            count_jobs(nodes, tmp_path / "count")
        pass_keys(nodes, ClusterBatch(nodes, hidden, scripts, "keys"))
        cancel_everywhere(nodes, ClusterBatch(nodes, hidden, scripts, "cancelled"))
        lose_a_node_and_the_driver(nodes, ClusterBatch(nodes, hidden, scripts, "killed"))
        lose_the_head(nodes, ClusterBatch(nodes, hidden, scripts, "gone"))


def count_jobs(nodes: RayNodes, directory: Path) -> None:
    async def count(**options: Any) -> tuple[int, int]:
        async with open_engine(EngineOptions(str(directory), address=nodes.address, **options)) as engine:
            return engine.jobs, engine.queue

    assert asyncio.run(count()) == (3, 3)
    assert asyncio.run(count(jobs=2)) == (2, 0)  # a third would run beside them
    assert asyncio.run(count(jobs=7, resources={"CPU": 0.5})) == (7, 0)
    with pytest.raises(EngineUnavailable, match="No node of the Ray cluster has what a task needs: CPU=1, plane=2"):
        asyncio.run(count(resources={"plane": 2}))
    assert os.listdir(directory) == []


def pass_keys(nodes: RayNodes, batch: ClusterBatch) -> None:
    batch.plan_model("openai:gpt-test", 3)
    with OpenAiServer(*[text_reply("Done.")] * 30) as server:
        with batch.start(OPENAI_BASE_URL=server.base, OPENAI_API_KEY=KEY) as driver:
            assert end_of(driver)["counts"] == {"passed": 3, "failed": 0, "error": 0, "skipped": 0}
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    files = [path for path in nodes.folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def cancel_everywhere(nodes: RayNodes, batch: ClusterBatch) -> None:
    batch.plan(SLEEP, 4)
    with batch.start("4") as driver:
        # One on each node, and one that Ray has no node for.
        wait_for(driver, lambda: batch.noted.total() == 3, "a command on each node")
        driver.send_signal(signal.SIGINT)
        assert end_of(driver)["reason"]
    assert living_pids(batch.mark) == []
    assert batch.results == {}
    kept = [
        *Path(batch.directory.tasks).glob("*/patch.diff"),
        *Path(batch.directory.tasks).glob("*/attempts/*/patch.diff"),
    ]
    assert len(kept) == 3
    assert all("begun.txt" in patch.read_text(encoding="utf-8") for patch in kept)
    assert list(nodes.temporary.glob("tejat-*")) == []


def lose_a_node_and_the_driver(nodes: RayNodes, batch: ClusterBatch) -> None:
    batch.plan(EDIT, TASKS)
    with batch.start() as driver:
        wait_for(driver, lambda: len(batch.noted) >= 30, "some results")
        nodes.kill(1)
        wait_for(driver, lambda: len(batch.noted) >= 100, "more results")
        ray_driver = ray_driver_of(driver.pid)
        os.kill(driver.pid, signal.SIGKILL)
        os.kill(ray_driver, signal.SIGKILL)
        driver.communicate(timeout=60)
    done = {path.parent.name for path in Path(batch.directory.tasks).glob("*/result.json")}
    before = batch.noted
    assert 60 < len(done) < TASKS
    with batch.start() as driver:
        assert end_of(driver) == {"counts": {"passed": TASKS, "failed": 0, "error": 0, "skipped": 0}, "reason": ""}
    assert len(batch.results) == TASKS
    assert {name: batch.noted[name] for name in done} == {name: before[name] for name in done}
    # Twice ran only what was under way: on each of three nodes a task, and one whose result was not written yet.
    assert TASKS <= batch.noted.total() <= TASKS + 6
    for result in batch.results.values():
        assert "+hello" in Path(batch.directory.path, result.patch).read_text(encoding="utf-8")
    assert not is_alive(ray_driver)
    # The killed one left a directory on the node that does not see the batch. It was used again, and removed.
    assert list(nodes.temporary.glob("tejat-batch-*")) == []


def lose_the_head(nodes: RayNodes, batch: ClusterBatch) -> None:
    batch.plan(SLEEP, 2)
    with batch.start() as driver:
        wait_for(driver, lambda: batch.noted.total() == 2, "the commands")
        nodes.kill(0)
        end = end_of(driver)
    assert "Ray cluster" in str(end), end
    assert batch.results == {}
    wait_until(lambda: not living_pids(batch.mark), 120, "the end of the commands")
