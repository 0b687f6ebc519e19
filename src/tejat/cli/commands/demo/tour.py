"""The demo at a terminal: the interactive interface with a scripted model, in a process of its own.

The process that waits for it removes the scratch project, however the other one ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from tejat.app.run_config import load_startup_config
from tejat.cli.commands.demo.project import PROMPT, SCRIPT, make_environment, make_project
from tejat.cli.interactive import run_session
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import TejatError, UsageError
from tejat.core.i18n import _
from tejat.ui.signals import graceful_termination

INSIDE_FLAG = "--inside"
"""Starts the interface in the scratch project, which the process that gives this flag has made."""
_MAX_WIDTH = 100
_SHUTDOWN_SECONDS = 10.0


def run_tour(*, screen_reader: bool | None) -> int:
    """Run the demo and return the exit code. `screen_reader` is None if the user's settings decide."""
    with (
        graceful_termination(),
        tempfile.TemporaryDirectory(prefix="tejat-demo-", ignore_cleanup_errors=True) as made,
    ):
        scratch = os.path.realpath(made)
        project = make_project(os.path.join(scratch, "shop"))
        _print(_introduction() + "\n")
        flags = ("--screen-reader",) if _is_plain(screen_reader) else ()
        command = (sys.executable, "-P", "-m", "tejat", "demo", INSIDE_FLAG, *flags)
        code = _run_in_front(command, directory=project, environment=make_environment(scratch))
    _print("\n" + _("The demo is over, and its project is deleted."))
    return code


def session_options() -> AgentOptions:
    """The options of the session in the scratch project, which is the working directory."""
    return AgentOptions(model=f"scripted:{SCRIPT}", mode="default", trusts_folder=True, keeps_session=False)


def run_inside(*, screen_reader: bool | None) -> int:
    """Run the interactive session in the scratch project and return the exit code.

    Raises UsageError in any other directory: the script edits files.
    """
    if os.environ.get("GEMINI_CLI_HOME") != os.path.dirname(os.getcwd()):
        raise UsageError(_("{flag} works only inside the demo. Use `tejat demo`.", flag=INSIDE_FLAG))
    return run_session(session_options(), prompt=PROMPT, screen_reader=screen_reader)


def next_steps() -> str:
    """How to start with a real model."""
    return _(
        """\
To start for real:

  cd YOUR-PROJECT
  tejat         choose a model and start
  tejat doctor  check your setup
  tejat --help  list flags and commands"""
    )


def _introduction() -> str:
    return _(
        "This is Tejat with a scripted model, so it needs no API key and no network. Tools, approvals and sandbox are "
        "real. The project is a scratch copy that is deleted at the end."
    )


def _print(text: str) -> None:
    width = min(shutil.get_terminal_size().columns, _MAX_WIDTH)
    lines = [line if line.startswith(" ") else textwrap.fill(line, max(width - 1, 20)) for line in text.split("\n")]
    print("\n".join(lines), flush=True)


def _is_plain(screen_reader: bool | None) -> bool:
    if screen_reader is not None:
        return screen_reader
    try:
        return load_startup_config(AgentOptions()).settings.screen_reader.value
    except TejatError:
        return False  # the demo does not need settings that can be read


def _run_in_front(command: Sequence[str], *, directory: str, environment: Mapping[str, str]) -> int:
    """Run a program that owns the terminal until it ends, and return its exit code."""
    with _without_interrupts():
        process = subprocess.Popen(command, cwd=directory, env=environment)
        try:
            code = process.wait()
        except BaseException:  # a signal ends this process: the other one may end gracefully first
            process.terminate()
            try:
                process.wait(_SHUTDOWN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
    return code if code >= 0 else 128 - code


@contextmanager
def _without_interrupts() -> Generator[None]:
    """Leave Ctrl-C to the program in front. A handler, because ignored signals would be ignored there too."""
    before = signal.signal(signal.SIGINT, _pass_over)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _pass_over(_number: int, _frame: FrameType | None) -> None: ...
