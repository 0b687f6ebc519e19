"""Probe of what a sandbox really enforces: it tries everything that must be refused."""

import ctypes
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.processes.process_tree import list_processes, send_signal, with_descendants
from tejat.workspace.sandbox.landlock_sandbox import helper_paths
from tejat.workspace.sandbox.types import EnforcementAxis, Sandbox, SandboxPolicy, SandboxReport

_SECONDS = 20
_SECRET = "a secret"
_OLD = "old"
_MODE = 0o600
_UNUSED_PORT = 1
_CREATE_SEGMENT, _REMOVE_SEGMENT = 0o3600, 0
_CONTROL_FILE, _MISSING_DIRECTORY = "control", "missing"

# Runs inside the sandbox. Prints the name of each attempt with "done" or the error, then "end".
_ATTEMPTS = r"""
import ctypes, os, sys, _socket
outside, root, pid, marker, port, abstract, memory = sys.argv[1:]
os.umask(0o077)

def attempt(name, action):
    try:
        action()
    except OSError as error:
        print(name, os.strerror(error.errno) if error.errno else "failed", sep="\t")
    except AssertionError:
        print(name, "hidden", sep="\t")
    except BaseException as error:
        print(name, type(error).__name__, sep="\t")
    else:
        print(name, "done", sep="\t")

def write(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, b"changed")
    os.close(descriptor)

def read_secret():
    with open(outside + "/secret") as file:
        assert file.read() == "a secret"

def plant():
    os.makedirs(root + "/missing", exist_ok=True)
    write(root + "/missing/settings")

def move():
    os.rename(root + "/control", root + "/moved")

def connect(family, address):
    connected = _socket.socket(family, _socket.SOCK_STREAM)
    connected.settimeout(5)
    connected.connect(address)
    connected.close()

def connect_by_path():
    os.chdir(outside)
    connect(_socket.AF_UNIX, "socket")

def see():
    with open("/proc/" + pid + "/cmdline") as file:
        assert marker in file.read()

def look_into():
    with open("/proc/" + pid + "/environ") as file:
        assert marker in file.read()

def signal():
    if os.path.isdir("/proc/self"):
        see()  # otherwise the pid may belong to another process in here
    os.kill(int(pid), 15)

def share_memory():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(int(memory), 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "")

attempt("write in the root", lambda: write(root + "/allowed"))
attempt("create a file outside", lambda: write(outside + "/made"))
attempt("change a file outside", lambda: write(outside + "/there"))
attempt("change permissions of a file outside", lambda: os.chmod(outside + "/kept", 0o644))
attempt("change timestamps of a file outside", lambda: os.utime(outside + "/kept", (1, 1)))
attempt("set an attribute of a file outside", lambda: os.setxattr(outside + "/kept", "user.tejat", b"x"))
attempt("truncate a file outside", lambda: os.truncate(outside + "/there", 0))
attempt("delete a file outside", lambda: os.unlink(outside + "/there"))
attempt("read a secret", read_secret)
attempt("change a control file", lambda: write(root + "/control"))
attempt("move a control file", move)
attempt("create a control file", plant)
attempt("open a TCP connection", lambda: connect(_socket.AF_INET, ("127.0.0.1", int(port))))
attempt("connect to a Unix socket", connect_by_path)
attempt("connect to an abstract socket", lambda: connect(_socket.AF_UNIX, "\0" + abstract))
attempt("see a process", see)
attempt("inspect a process", look_into)
attempt("signal a process", signal)
attempt("share memory with a process", share_memory)
print("end")
"""

_ROOT_ATTEMPT = "write in the root"
# Attempts have translatable names.
_OUTSIDE_ATTEMPTS = (
    lazy("create a file outside"),
    lazy("change a file outside"),
    lazy("truncate a file outside"),
    lazy("delete a file outside"),
)
_ATTRIBUTE_ATTEMPTS = (
    lazy("change permissions of a file outside"),
    lazy("change timestamps of a file outside"),
    lazy("set an attribute of a file outside"),
)
_PROCESS_ATTEMPTS = (
    lazy("inspect a process"),
    lazy("signal a process"),
    lazy("share memory with a process"),
)
_CONTROL_ATTEMPTS = (lazy("change a control file"), lazy("move a control file"), lazy("create a control file"))
_NETWORK_ATTEMPTS = (
    lazy("open a TCP connection"),
    lazy("connect to a Unix socket"),
    lazy("connect to an abstract socket"),
)

_BYSTANDER_CODE = "import time; time.sleep(120)"


class _ProbeDirectories(Frozen):
    outside: str
    root: str
    temporary: str


def probe(sandbox: Sandbox, *, state: str, script: Sequence[str] = ()) -> SandboxReport:
    """Try what this sandbox must refuse, in a private directory below `state`, and report the outcome.

    `script` is the argv prefix of a program that makes the same attempts, for a sandbox without our interpreter; then
    the time that it took is reported too. A sandbox in which nothing runs enforces nothing. Raises OSError when the
    directory cannot be created.
    """
    with ExitStack() as cleaned:
        place = cleaned.enter_context(_probe_directories(state))
        marker = os.urandom(8).hex()
        pid = cleaned.enter_context(_bystander(marker))
        port, abstract = cleaned.enter_context(_listeners(place.outside))
        memory = cleaned.enter_context(_shared_memory())
        words = [place.outside, place.root, str(pid), marker, str(port), abstract, str(memory)]
        prefix = script or (helper_paths()[0], "-I", "-S", "-c", _ATTEMPTS)
        began = time.monotonic()
        outcome, complaint = _run(sandbox, place, [*prefix, *words])
        seconds = time.monotonic() - began if script else None
        # The sandbox may have shown a throw-away copy of the directory.
        ineffective = tuple(_ineffective_attempts(place.outside))
        is_root_shared = os.path.exists(os.path.join(place.root, "allowed"))
    if outcome is None:
        axis = EnforcementAxis(enforced=False, detail=lazy("commands do not run in it: {why}", why=complaint))
        return SandboxReport(sandbox.name, axis, axis, axis, axis, axis, axis)
    outcome |= {attempt: lazy("it had no effect") for attempt in ineffective if outcome[attempt] == "done"}
    if not is_root_shared and outcome[_ROOT_ATTEMPT] == "done":
        outcome[_ROOT_ATTEMPT] = lazy("files written inside do not appear outside")
    return replace(_report(sandbox.name, outcome), start_seconds=seconds)


def _report(name: str, outcome: Mapping[str, str]) -> SandboxReport:
    files = _axis(outcome, *_OUTSIDE_ATTEMPTS)
    if outcome[_ROOT_ATTEMPT] != "done":
        detail = lazy("the workspace is not writable: {why}", why=outcome[_ROOT_ATTEMPT])
        files = EnforcementAxis(enforced=False, detail=detail)
    processes = _axis(outcome, *_PROCESS_ATTEMPTS)
    if processes.enforced and outcome["see a process"] == "done":
        detail = lazy("{how}; other processes are visible, but protected", how=processes.detail)
        processes = EnforcementAxis(enforced=True, detail=detail)
    return SandboxReport(
        sandbox=name,
        files=files,
        attributes=_axis(outcome, *_ATTRIBUTE_ATTEMPTS),
        network=_axis(outcome, *_NETWORK_ATTEMPTS),
        processes=processes,
        control_files=_axis(outcome, *_CONTROL_ATTEMPTS),
        secrets=_axis(outcome, lazy("read a secret")),
    )


def _axis(outcome: Mapping[str, str], *attempts: str) -> EnforcementAxis:
    possible = [attempt for attempt in attempts if outcome[attempt] == "done"]
    if possible:
        return EnforcementAxis(enforced=False, detail=lazy("a command can {deeds}", deeds=join_lazy(", ", possible)))
    detail = lazy("could not {deed}: {why}", deed=attempts[0], why=outcome[attempts[0]])
    return EnforcementAxis(enforced=True, detail=detail)


def _ineffective_attempts(outside: str) -> Iterator[str]:
    """Yield the attempts on files outside that changed nothing, whatever a command was told."""
    if _is_unchanged(outside):
        yield from _OUTSIDE_ATTEMPTS
    kept = os.path.join(outside, "kept")
    status = os.stat(kept)
    changes = (stat.S_IMODE(status.st_mode) != _MODE, status.st_mtime == 1, bool(_extended_attributes(kept)))
    yield from (attempt for attempt, changed in zip(_ATTRIBUTE_ATTEMPTS, changes, strict=True) if not changed)


def _extended_attributes(path: str) -> list[str]:
    if sys.platform != "linux":
        return []
    try:
        return [name for name in os.listxattr(path) if name.startswith("user.")]
    except OSError:
        return []


def _is_unchanged(directory: str) -> bool:
    try:
        with open(os.path.join(directory, "there"), encoding="utf-8") as file:
            return file.read() == _OLD and not os.path.lexists(os.path.join(directory, "made"))
    except OSError:
        return False


def _run(sandbox: Sandbox, place: _ProbeDirectories, arguments: list[str]) -> tuple[dict[str, str] | None, str]:
    policy = SandboxPolicy(
        writable_roots=(place.root,),
        temp_directory=place.temporary,
        read_only_paths=((_CONTROL_FILE, False), (_MISSING_DIRECTORY, True)),
        hidden_paths=(os.path.join(place.outside, "secret"),),
        network=False,
        blocked_paths=(_MISSING_DIRECTORY,),
    )
    wrapped = sandbox.wrap(arguments, policy, directory=place.root)
    try:
        code, printed, complaint = _run_process(wrapped.arguments, place.root, dict(wrapped.environment) or None)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    finally:
        wrapped.clean_up()
    *lines, last = printed.decode(errors="replace").splitlines() or [""]
    if last != "end":
        complaints = complaint.decode(errors="replace").strip().splitlines() or [lazy("exit code {code}", code=code)]
        return None, complaints[-1]
    return {name: result for name, _, result in (line.partition("\t") for line in lines)}, ""


def _run_process(
    arguments: Sequence[str], directory: str, environment: Mapping[str, str] | None
) -> tuple[int, bytes, bytes]:
    """Return exit code, stdout and stderr. Raises OSError, and TimeoutExpired once the whole tree has been killed."""
    with subprocess.Popen(
        arguments,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            printed, complaint = process.communicate(timeout=_SECONDS)
        except BaseException:
            # Processes in a sandbox may outlive the one that was started.
            send_signal(signal.SIGKILL, with_descendants([process.pid], list_processes()))
            raise
    return process.returncode, printed, complaint


@contextmanager
def _probe_directories(state: str) -> Generator[_ProbeDirectories]:
    top = os.path.join(os.path.realpath(state), f"probe-{os.urandom(8).hex()}")
    place = _ProbeDirectories(*(os.path.join(top, name) for name in ("outside", "root", "temporary")))
    os.makedirs(top, mode=0o700)
    try:
        for directory in (place.outside, place.root, place.temporary):
            os.mkdir(directory, 0o700)
        texts = {"secret": _SECRET, "there": _OLD, "kept": _OLD, f"../root/{_CONTROL_FILE}": _OLD}
        for path, text in texts.items():
            with open(os.path.join(place.outside, path), "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(os.path.join(place.outside, "kept"), _MODE)
        yield place
    finally:
        for directory, directories, files in os.walk(top, topdown=False):
            for name in files:
                os.unlink(os.path.join(directory, name))
            for name in directories:
                os.rmdir(os.path.join(directory, name))
        with suppress(OSError):
            os.rmdir(top)


@contextmanager
def _bystander(marker: str) -> Generator[int]:
    """Run a process that must be left alone; the marker is in its arguments and environment."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BYSTANDER_CODE, marker],
        env={"MARKER": marker},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextmanager
def _shared_memory() -> Generator[int]:
    """Yield the key of a segment of shared memory, or one that nothing has where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = int.from_bytes(os.urandom(4)) >> 1 or 1
    segment: int = libc.shmget(key, 1, _CREATE_SEGMENT) if hasattr(libc, "shmget") else -1
    try:
        yield key
    finally:
        if segment >= 0:
            libc.shmctl(segment, _REMOVE_SEGMENT, None)


@contextmanager
def _listeners(directory: str) -> Generator[tuple[int, str]]:
    """Yield a TCP port and the name of an abstract socket; a third listener is `socket` in the directory.

    One that cannot be opened here, in another sandbox for example, is missing: a command cannot reach it either.
    """
    abstract = f"tejat-{os.urandom(8).hex()}"
    port = _UNUSED_PORT
    with ExitStack() as opened:
        with suppress(OSError):
            port = opened.enter_context(closing(socket.create_server(("127.0.0.1", 0)))).getsockname()[1]
        with suppress(OSError):
            by_path = opened.enter_context(closing(socket.socket(socket.AF_UNIX)))
            _bind_in_directory(by_path, directory)
            by_path.listen()
        if sys.platform == "linux":
            with suppress(OSError):
                by_name = opened.enter_context(closing(socket.socket(socket.AF_UNIX)))
                by_name.bind(f"\0{abstract}")
                by_name.listen()
        yield port, abstract


def _bind_in_directory(listener: socket.socket, directory: str) -> None:
    """Bind `socket` in the directory. Socket paths must be short, and the directory may be deep."""
    if sys.platform != "linux":
        listener.bind(os.path.join(directory, "socket"))
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/socket")
    finally:
        os.close(descriptor)
