"""The lock of a batch."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.lock import lock_batch
from tejat.core.errors import UsageError

HOLD = """
import sys, time
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.lock import lock_batch
with lock_batch(BatchDirectory(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_other_process_is_named_and_its_end_frees_the_lock(tmp_path: Path) -> None:
    directory = BatchDirectory(str(tmp_path / "out"))
    with subprocess.Popen([sys.executable, "-c", HOLD, directory.path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=rf"pid {other.pid} on ") as caught, lock_batch(directory):
            pass
        assert directory.path in str(caught.value)
        os.kill(other.pid, signal.SIGKILL)
    with lock_batch(directory):
        assert Path(directory.lock).read_text(encoding="utf-8").startswith(f"{os.getpid()} ")


@pytest.mark.parametrize("owner", [b"", b"\xff\x1b[31m", b"x" * 10_000])
def test_an_owner_that_cannot_be_read(tmp_path: Path, owner: bytes) -> None:
    directory = BatchDirectory(str(tmp_path))
    with lock_batch(directory):
        Path(directory.lock).write_bytes(owner)
        with pytest.raises(UsageError, match="Another process runs the batch") as caught, lock_batch(directory):
            pass
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000
