"""The event loop of a Ray worker."""

import subprocess
import sys

# Ray's way to cancel a task: an interrupt of the main thread, without a signal that would end a system call.
PROGRAM = """
import _thread, asyncio, threading
from tejat.batch.engines.ray.worker_loop import run_on_loop

async def answer(runner):
    return type(runner).__name__

async def fail(runner):
    raise LookupError("nothing here")

async def slow(runner):
    raise TimeoutError("of its own")

async def stoppable(runner):
    threading.Timer(0.1, _thread.interrupt_main).start()
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        _thread.interrupt_main()  # cancelled twice
        await asyncio.sleep(0.5)
        return "what it left"

async def stopped(runner):
    _thread.interrupt_main()
    await asyncio.sleep(1000)

for work in (answer, fail, slow, stoppable, stopped, stopped, answer):
    try:
        print(work.__name__, run_on_loop(work))
    except BaseException as error:
        print(work.__name__, repr(error))
"""


def test_work_is_waited_for_and_an_interrupt_cancels_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.splitlines() == [
        "answer JobRunner",
        "fail LookupError('nothing here')",
        "slow TimeoutError('of its own')",
        "stoppable what it left",
        "stopped CancelledError()",
        "stopped CancelledError()",
        "answer JobRunner",
    ], done.stderr
    assert (done.returncode, done.stderr) == (0, "")
