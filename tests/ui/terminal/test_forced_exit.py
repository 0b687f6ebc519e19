"""A program that is told to end while it is stuck."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, signal, sys, time
from tejat.ui.terminal.forced_exit import ForcedExit

async def work():
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    ForcedExit(loop, seconds=0.2).watch_signal(signal.SIGTERM)
    reads, writes = os.pipe()
    print("ready", flush=True)
    if sys.argv[1] == "stuck":
        while True:
            os.write(writes, bytes(65536))
    await ended.wait()
    await asyncio.sleep(0.6)
    loop.remove_signal_handler(signal.SIGTERM)

asyncio.run(work())
"""


@pytest.mark.parametrize(("how", "code"), [("stuck", -signal.SIGKILL), ("well", 0)])
def test_only_who_does_not_notice_is_killed(how: str, code: int) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, how], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == code
        finally:
            process.kill()
