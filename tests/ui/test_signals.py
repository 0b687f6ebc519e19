"""Ending a call by a signal."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.ui.signals import Terminated, graceful_termination

TEJAT = [sys.executable, "-c", "import sys; from tejat.cli.main import main; sys.exit(main())"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_command_is_stopped_and_what_it_changed_is_written_down(tmp_path: Path, number: signal.Signals) -> None:
    root = tmp_path / "root"
    root.mkdir()
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    words = ["tools", "call", "--approval-mode", "yolo", "--sandbox", "off", "run_shell_command"]
    with subprocess.Popen(
        [*TEJAT, *words, "command=echo $$ > made; mv made pid; exec sleep 600"],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            until((root / "pid").exists)
            process.send_signal(number)
            assert (process.wait(30), process.stdout and process.stdout.read()) == (128 + number, b"")
        finally:
            process.kill()
    command = int((root / "pid").read_text())
    until(lambda: not is_alive(command))
    listed = subprocess.run(
        [*TEJAT, "undo", "list"], cwd=root, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert listed.stdout.endswith("[1 created]\n")


def test_only_the_first_signal_is_put_off_and_only_for_a_while() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with graceful_termination():
            with pytest.raises(Terminated) as raised:
                signal.raise_signal(signal.SIGTERM)
            assert raised.value.exit_code == 143
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_is_closed_may_be_told_of_twice() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with graceful_termination():
            with pytest.raises(Terminated):
                signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with graceful_termination():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
