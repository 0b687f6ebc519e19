"""A driver that is killed again and again: no task is lost, none with a result runs again. Its memory stays flat."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support import batch_driver
from support.batches import SampleBatch
from support.shell_engine import NOTE, NOTHING

TESTS = Path(__file__).parents[2]
PATH = os.pathsep.join((str(TESTS), str(TESTS.parent / "src")))


def start_driver(batch: SampleBatch, jobs: int = 4) -> subprocess.Popen[bytes]:
    words = [sys.executable, str(batch_driver.__file__), str(batch.path), str(jobs)]
    environment = {**os.environ, "PYTHONPATH": PATH}
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def recorded(batch: SampleBatch) -> set[str]:
    """The tasks that are done: `result.json` is in place."""
    return {path.parent.name for path in Path(batch.directory.tasks).glob("*/result.json")}


def test_two_hundred_tasks_and_a_driver_killed_at_random_moments(batch: SampleBatch) -> None:
    chance = random.Random(23)
    batch.plan(*[NOTE] * 200)
    kills = 0
    while True:
        done = recorded(batch)
        seen = len(batch.starts)
        with start_driver(batch) as driver:
            # After a number of starts that is drawn, in the middle of whatever happens then.
            wanted = seen + chance.randrange(1, 25)
            while driver.poll() is None and len(batch.starts) < wanted:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.01)
            driver.send_signal(signal.SIGKILL)
            output, _ = driver.communicate(timeout=60)
        started = {start.split()[0] for start in batch.starts[seen:]}
        assert started & done == set()
        if driver.returncode == 0:
            break
        assert driver.returncode == -signal.SIGKILL, output.decode()
        kills += 1
    assert kills >= 3
    assert len(batch.results) == 200
    assert set(batch.statuses.values()) == {"passed"}
    assert len(Path(batch.directory.results).read_bytes().splitlines()) == 200
    for name, result in batch.results.items():
        attempts = [int(start.split()[1]) for start in batch.starts if start.split()[0] == name]
        # What an attempt left is kept; one that was killed before it left anything has no number.
        assert attempts[-1] == result.attempts == max(attempts)
        assert len(set(attempts)) <= len(list(Path(batch.directory.task(name).attempts).glob("*"))) + 1
        assert not list(Path(batch.directory.task(name).path).glob(".tejat-*"))


def peak(batch: SampleBatch, count: int) -> int:
    """The memory of a driver in KiB after so many tasks."""
    batch.plan(*[NOTHING] * count)
    with start_driver(batch) as driver:
        output, _ = driver.communicate(timeout=100)
    assert driver.returncode == 0, output.decode()
    return int(output)


def test_memory_is_flat(tmp_path: Path, repository: str) -> None:
    # In memory, where waiting for the disk takes no time.
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path) as place:
        small, large = (SampleBatch(Path(place, name), repository) for name in ("small", "large"))
        few, many = peak(small, 100), peak(large, 10_000)
        assert len(large.results) == 10_000
    assert many <= 1.1 * few, (few, many)
