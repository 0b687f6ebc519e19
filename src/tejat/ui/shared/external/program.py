"""Programs that take over the terminal, and private files for them."""

import asyncio
import os
import shutil
import signal
import sys
import termios
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress

from tejat.workspace.files.private_files import create_private_file

_TERMINATE_SECONDS = 2.0


async def run_in_terminal(
    arguments: Sequence[str],
    directory: str,
    *,
    environment: Mapping[str, str] | None = None,
    takes_interrupts: bool = False,
) -> int:
    """Run a program in the terminal and return its exit code; cancelling terminates it. Raises OSError.

    If it `takes_interrupts`, Ctrl-C is for the program alone, as when git runs a pager.
    """
    # Standard output may be redirected; the user looks at the terminal.
    output = None if sys.stdout.isatty() else sys.stderr.fileno()
    with _restored_tty_modes(), _ignored_interrupts() if takes_interrupts else nullcontext():
        process = await asyncio.create_subprocess_exec(*arguments, cwd=directory, stdout=output, env=environment)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                await _terminate(process)


@contextmanager
def private_temp_directory(name: str) -> Generator[str]:
    """Create a private directory that is removed with its content at the end. Raises OSError."""
    directory = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"{name}-{os.urandom(6).hex()}")
    os.mkdir(directory, 0o700)
    try:
        os.chmod(directory, 0o700)  # the umask may have removed bits
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def write_private_file(path: str, text: str) -> None:
    """Create a private file. Raises OSError, and UnicodeEncodeError for text that cannot be encoded."""
    with open(create_private_file(path), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))


async def _terminate(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_TERMINATE_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@contextmanager
def _ignored_interrupts() -> Generator[None]:
    """Keep Ctrl-C from cancelling the task. A front end with a handler of its own in the event loop keeps that one."""
    before = signal.getsignal(signal.SIGINT)
    # By a handler: a signal that is ignored would be ignored by the program too.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _restored_tty_modes() -> Generator[None]:
    """Restore the terminal modes however the program leaves them."""
    terminal = sys.stdin.fileno()
    try:
        modes = termios.tcgetattr(terminal)
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
