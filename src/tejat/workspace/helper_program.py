"""Helper programs (ripgrep, git, workers): how they are found and run."""

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial

from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.regular_file import is_executable_file

_MAX_STDERR = 64 * 1024
_BLOCK = 1024 * 1024
# How long a silent child can go unwatched: the longest that a cancelled call waits here.
_POLL_MILLISECONDS = 50
_EXIT_POLL_SECONDS = 0.001
_KEPT_VARIABLES = ("HOME", "TMPDIR", "USER", "XDG_CONFIG_HOME")
# Whatever a repository's own configuration says, these win: nothing in it may run a program.
_GIT_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("safe.bareRepository", "explicit"),
)


@cache
def find_ripgrep() -> str | None:
    """Return the absolute path of rg, from this installation or PATH, else None."""
    import sysconfig

    own = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    return _find_executable("rg", filter(os.path.isabs, own)) or find_program("rg")


@cache
def find_program(name: str) -> str | None:
    """Return the absolute path of a program on PATH, or None. Relative entries of PATH are ignored."""
    return _find_executable(name, _absolute_search_path())


def _find_executable(name: str, directories: Iterable[str]) -> str | None:
    return next(filter(is_executable_file, (os.path.join(directory, name) for directory in directories)), None)


class HelperProcess:
    """A running helper. Created and terminated by `run_helper`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        if process.stdout is None or process.stderr is None:
            raise ValueError("the output of a child has to be piped")
        self._process = process
        self._stdout = process.stdout.fileno()
        self._stderr = process.stderr.fileno()
        self._kept = bytearray()
        self.error_lines = 0
        """The number of lines on standard error so far, including those not kept."""
        self._poll = select.poll()
        for descriptor in (self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._open = {self._stdout, self._stderr}

    @property
    def stderr(self) -> bytes:
        """The first 64 KiB of its standard error so far."""
        return bytes(self._kept)

    def read(self, stop: Callable[[], None]) -> bytes:
        """Return the next block of output as soon as there is one; b"" at the end.

        `stop` is called at least every 50 ms; its exceptions propagate.
        """
        while self._stdout in self._open:
            stop()
            ready = [descriptor for descriptor, _ in self._poll.poll(_POLL_MILLISECONDS)]
            if self._stderr in ready:
                self._read_stderr()
            if self._stdout in ready and (block := self._read_pipe(self._stdout)):
                return block
        return b""

    def exit_code(self, stop: Callable[[], None]) -> int:
        """Discard the remaining output, wait, and return the exit code (negative for a signal).

        `stop` is called at least every 50 ms; its exceptions propagate.
        """
        while self._open:
            stop()
            for descriptor, _ in self._poll.poll(_POLL_MILLISECONDS):
                if descriptor == self._stderr:
                    self._read_stderr()
                else:
                    self._read_pipe(descriptor)
        while (code := _poll_exit_code(self._process)) is None:
            stop()
            time.sleep(_EXIT_POLL_SECONDS)
        return code

    def _read_stderr(self) -> None:
        block = self._read_pipe(self._stderr)
        self.error_lines += block.count(b"\n")
        self._kept += block[: _MAX_STDERR - len(self._kept)]

    def _read_pipe(self, descriptor: int) -> bytes:
        try:
            block = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return b""
        if not block:
            self._poll.unregister(descriptor)
            self._open.discard(descriptor)
        return block


class ReadAccess(StrEnum):
    """The files that a helper may read: all or, where the kernel can enforce it, only those beneath its directory."""

    ANYWHERE = "anywhere"
    BENEATH = "beneath"


@contextmanager
def run_helper(
    argv: Sequence[str | bytes],
    *,
    directory_fd: int,
    stdin: bytes | None = None,
    read_access: ReadAccess = ReadAccess.ANYWHERE,
) -> Generator[HelperProcess]:
    """Run a program in an open directory, whatever its path names by now.

    `argv[0]` is an absolute path. The program gets a minimal environment, in which git runs nothing on behalf of a
    repository and ripgrep reads no configuration, its own process group and, unless `stdin` is given, an empty standard
    input. At the end of the block the group is killed and the child reaped. Raises OSError if it cannot be started.
    """
    with _input_file(stdin) as input_fd:
        start = partial(
            subprocess.Popen[bytes],
            argv,
            bufsize=0,
            cwd=_directory_path(directory_fd),
            env=helper_environment(),
            process_group=0,
            stdin=input_fd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if read_access is ReadAccess.ANYWHERE:
            process = start()
        else:
            from tejat.workspace.sandbox.landlock_child import start_confined

            programs = [word for word in argv if word[:1] in ("/", b"/")]
            process = start_confined(start, directory_fd=directory_fd, programs=programs)
    with process:
        try:
            yield HelperProcess(process)
        finally:
            # A reaped leader's number may belong to someone else.
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)


def helper_environment() -> Mapping[str, str]:
    """Return the environment of helper programs."""
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment["PATH"] = os.pathsep.join(_absolute_search_path())
    environment["LC_ALL"] = "C.UTF-8"
    environment["GIT_PAGER"] = "cat"
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    environment["GIT_TERMINAL_PROMPT"] = "0"
    environment["GIT_CONFIG_COUNT"] = str(len(_GIT_SETTINGS))
    for index, (key, value) in enumerate(_GIT_SETTINGS):
        environment[f"GIT_CONFIG_KEY_{index}"] = key
        environment[f"GIT_CONFIG_VALUE_{index}"] = value
    return environment


def _absolute_search_path() -> list[str]:
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [entry for entry in entries if os.path.isabs(entry)]


@contextmanager
def _input_file(content: bytes | None) -> Generator[int]:
    # A file, not a pipe: a child that does not read must not block the one who feeds it.
    if content is None:
        yield subprocess.DEVNULL
        return
    import tempfile

    with tempfile.TemporaryFile(buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) or 0 :]
        file.seek(0)
        yield file.fileno()


def _directory_path(directory_fd: int) -> str:
    if os.path.isdir("/proc/self/fd"):
        return f"/proc/self/fd/{directory_fd}"
    # Where there is no /proc, the system is asked for the path that the descriptor has now.
    get_path: int = getattr(fcntl, "F_GETPATH")  # noqa: B009 - a constant that only some systems have
    return os.fsdecode(fcntl.fcntl(directory_fd, get_path, bytes(1024)).rstrip(b"\0"))


def _poll_exit_code(process: "subprocess.Popen[bytes]") -> int | None:
    if not hasattr(os, "waitid"):
        return process.poll()
    # Not reaped here: while it is a zombie, its pid, which is also its group id, is not reused.
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
