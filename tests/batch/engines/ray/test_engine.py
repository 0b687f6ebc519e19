"""The engine on a cluster of its own, and what it says if there is none."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support import ray_batch
from support.batches import make_repository
from support.process_marks import living_pids, new_mark
from support.wait import wait_until
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results
from tejat.batch.engines.contract import EngineOptions, EngineUnavailable
from tejat.batch.engines.ray.engine import open_engine
from tejat.batch.engines.registry import find_engine
from tejat.batch.plan.plan_file import write_plan
from tejat.batch.task import BatchTask

EDIT = """
[[answer]]
[[answer.call]]
name = "write_file"
args = { file_path = "${root}/hello.txt", content = "hello" }

[[answer]]
say = "Done."
"""
SLEEP = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "echo begun > BEGUN; exec sleep MARK" }
"""


async def open_and_close(**options: object) -> None:
    async with open_engine(EngineOptions(**options)):  # pyright: ignore[reportArgumentType]
        pass


def test_the_registry_knows_it() -> None:
    assert find_engine("ray") is open_engine


def test_it_says_what_is_not_installed(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; sys.modules['ray'] = None\n"
        "from tejat.batch.engines.contract import EngineOptions, EngineUnavailable\n"
        "from tejat.batch.engines.registry import find_engine\n"
        "async def main():\n"
        "    async with find_engine('ray')(EngineOptions(sys.argv[1])): pass\n"
        "try: asyncio.run(main())\n"
        "except EngineUnavailable as error: print(error)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "The package ray is not installed. Install it with: pip install 'tejat[ray]'\n"


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999999", "[::1]:1"])
def test_an_address_without_a_cluster(tmp_path: Path, address: str) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        asyncio.run(open_and_close(directory=str(tmp_path), address=address))
    assert str(caught.value) == (
        f"No connection to a Ray cluster at {address}. Check the address, and that this machine is a node of the "
        f"cluster: ray start --address={address}"
    )
    assert os.listdir(tmp_path) == []


def test_addresses_of_ray_client_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="Run the batch on a node of the cluster, with --address auto"):
        asyncio.run(open_and_close(directory=str(tmp_path), address="ray://127.0.0.1:10001"))


@pytest.mark.timeout(600)
def test_what_ray_says_about_an_address_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="Invalid address format: nowhere"):
        asyncio.run(open_and_close(directory=str(tmp_path), address="nowhere"))
    assert os.listdir(tmp_path) == []


@pytest.mark.timeout(600)
def test_a_cluster_of_its_own_ends_with_the_batch_however_that_ends(tmp_path: Path) -> None:
    mark, begun = new_mark(), tmp_path / "begun"
    scripts = {"edit": EDIT, "sleep": SLEEP.replace("MARK", mark).replace("BEGUN", str(begun))}
    for name, script in scripts.items():
        (tmp_path / f"{name}.toml").write_text(script, encoding="utf-8")
    directory, repo = BatchDirectory(str(tmp_path / "out")), make_repository(tmp_path / "repo")
    write_plan(
        directory,
        [
            BatchTask(name, repo, "go", model=f"scripted:{tmp_path / name}.toml", approval_mode="yolo", sandbox="off")
            for name in scripts
        ],
    )
    # Ray's sockets are in it, and their names must be short.
    with tempfile.TemporaryDirectory(prefix="tr-", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "TMPDIR": temporary,
            "PYTHONPATH": str(Path(ray_batch.__file__).parents[1]),
        }
        words = [sys.executable, str(ray_batch.__file__), directory.path, "", "1"]
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as driver:
            wait_until(lambda: begun.exists() or driver.poll() is not None, 300, "the command")
            assert [(result.id, result.status.value) for result in read_results(directory)] == [("edit", "passed")]
            driver.send_signal(signal.SIGKILL)
            assert driver.communicate(timeout=60)[0] == b""  # nothing that Ray says
        wait_until(lambda: not living_pids(mark), 120, "the end of the command")
        # The directory of the cluster is an argument of all its servers.
        wait_until(lambda: not living_pids(temporary), 120, "the end of the cluster")
        wait_until(lambda: not os.listdir(temporary), 120, "the removal of its files")
    assert not (tmp_path / ".ray").exists()
    assert json.loads(Path(directory.results).read_text(encoding="utf-8"))["id"] == "edit"
