"""One process at a time."""

import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tejat.config.files.lock import file_lock
from tejat.core.errors import UsageError

HOLD = """
import sys
from tejat.config.files.lock import file_lock
with file_lock(sys.argv[1], timeout=5):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_and_gives_up(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        started = time.monotonic()
        refused = pytest.raises(UsageError, match=f"^Another process keeps {path} locked.$")
        with refused, file_lock(path, timeout=0.2):
            pytest.fail("two had it")
        assert time.monotonic() - started >= 0.2
        holder.kill()
    with file_lock(path, timeout=5):
        pass


def test_threads_take_turns(tmp_path: Path) -> None:
    inside: list[int] = []
    seen: list[int] = []

    def work(number: int) -> None:
        with file_lock(str(tmp_path / "lock"), timeout=20):
            inside.append(number)
            time.sleep(0.002)
            seen.append(len(inside))
            inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 8


def test_is_let_go_when_something_is_raised(tmp_path: Path) -> None:
    with pytest.raises(KeyError), file_lock(str(tmp_path / "lock"), timeout=1):
        raise KeyError
    with file_lock(str(tmp_path / "lock"), timeout=0):
        pass


def test_the_file_is_private_and_no_link_is_followed(tmp_path: Path) -> None:
    with file_lock(str(tmp_path / "lock"), timeout=1):
        pass
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic links"), file_lock(str(tmp_path / "link"), timeout=1):
        pass
    assert not (tmp_path / "elsewhere").exists()
