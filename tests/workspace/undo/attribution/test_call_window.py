"""Running and killed calls are seen by other processes."""

import subprocess
import sys
from pathlib import Path

from tejat.core.undo import UndoEntry
from tejat.workspace.undo.attribution.call_window import CallWindow, open_window, read_windows
from tejat.workspace.undo.private_directory import PrivateDirectory

WORKER = """
import sys, time
from tejat.workspace.undo.attribution.call_window import open_window
from tejat.workspace.undo.private_directory import PrivateDirectory

with open_window(PrivateDirectory(sys.argv[1]), list):
    print("open", flush=True)
    sys.stdin.read()
"""


def entry(started: float | None, ended: float) -> UndoEntry:
    return UndoEntry("id", ended, "t", "w", (), started=started)


def test_overlaps() -> None:
    window = CallWindow(10, 20)
    assert [
        window.overlaps(entry(*times)) for times in ((0, 9), (0, 10), (12, 14), (20, 30), (21, 30), (None, 15))
    ] == [*(False, True, True, True, False, False)]
    assert CallWindow(10, None).overlaps(entry(1000, 2000))
    assert not CallWindow(10, None).overlaps(entry(1, 2))


def test_open_for_the_block(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "store"))
    assert read_windows(directory) == []
    with open_window(directory, list), open_window(directory, list):
        assert [window.ended for window in read_windows(directory)] == [None, None]
    assert read_windows(directory) == []


def test_a_killed_process_leaves_a_window_while_it_matters(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "store"))
    arguments = [sys.executable, "-c", WORKER, directory.path]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        (running,) = read_windows(directory)
        child.kill()
    beside = [entry(running.started - 1, running.started + 0.001)]
    with open_window(directory, lambda: beside):
        killed, _ = sorted(read_windows(directory), key=lambda window: window.started)
        assert killed.started == running.started
        assert killed.ended is not None
    with open_window(directory, lambda: beside):
        assert killed in read_windows(directory)
    with open_window(directory, list):
        assert killed not in read_windows(directory)
