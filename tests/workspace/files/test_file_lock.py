"""Locks that child processes inherit."""

import os
import subprocess
from pathlib import Path

from tejat.workspace.files.file_lock import open_lock_file, release_lock, try_lock


def test_a_child_keeps_the_lock_until_it_is_released(tmp_path: Path) -> None:
    first, second = (open_lock_file(str(tmp_path / "lock")) for _ in range(2))
    assert try_lock(first)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(first,)):
        assert not try_lock(second)
        copy = os.dup(first)
        os.close(first)
        assert not try_lock(second)
        release_lock(copy)
        assert try_lock(second)
    os.close(second)
    os.close(copy)
