"""Finds out what a sandbox really enforces, by trying what it has to refuse."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress

from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.workspace.processes.process_tree import processes, send, with_descendants
from tejat.workspace.sandbox.landlocked import own_program
from tejat.workspace.sandbox.plan import Axis, Fence, Report, Sandbox

_SECONDS = 20
_SECRET = "a secret"
_OLD = "old"
_CONTROL_FILE, _MISSING_DIRECTORY = "control", "missing"

# Runs inside. Prints for each attempt its name and "done", or why it failed; "end" at last.
_ATTEMPTS = r"""
import os, sys, _socket
outside, root, pid, marker, port, abstract = sys.argv[1:]
os.umask(0o077)

def attempt(name, action):
    try:
        action()
    except OSError as error:
        print(name, os.strerror(error.errno) if error.errno else "failed", sep="\t")
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
        see()  # else the number may be another's, in here
    os.kill(int(pid), 15)

attempt("write in the root", lambda: write(root + "/allowed"))
attempt("make a file outside", lambda: write(outside + "/made"))
attempt("change a file outside", lambda: write(outside + "/there"))
attempt("empty a file outside", lambda: os.truncate(outside + "/there", 0))
attempt("remove a file outside", lambda: os.unlink(outside + "/there"))
attempt("read a secret", read_secret)
attempt("change a control file", lambda: write(root + "/control"))
attempt("move a control file", move)
attempt("plant a control file", plant)
attempt("connect by TCP", lambda: connect(_socket.AF_INET, ("127.0.0.1", int(port))))
attempt("connect to a local socket", connect_by_path)
attempt("connect to an abstract socket", lambda: connect(_socket.AF_UNIX, "\0" + abstract))
attempt("see a process", see)
attempt("look into a process", look_into)
attempt("signal a process", signal)
print("end")
"""

_OUTSIDE = ("make a file outside", "change a file outside", "empty a file outside", "remove a file outside")

_DEEDS = {
    "make a file outside": phrase("make a file outside"),
    "change a file outside": phrase("change a file outside"),
    "empty a file outside": phrase("empty a file outside"),
    "remove a file outside": phrase("remove a file outside"),
    "read a secret": phrase("read a secret"),
    "change a control file": phrase("change a control file"),
    "move a control file": phrase("move a control file"),
    "plant a control file": phrase("plant a control file"),
    "connect by TCP": phrase("connect by TCP"),
    "connect to a local socket": phrase("connect to a local socket"),
    "connect to an abstract socket": phrase("connect to an abstract socket"),
    "look into a process": phrase("look into a process"),
    "signal a process": phrase("signal a process"),
}
"""What is tried, in words."""

_MARKED = "import time; time.sleep(120)"


@value
class _Place:
    outside: str
    root: str
    temporary: str


def probe(sandbox: Sandbox, *, state: str) -> Report:
    """Try in a private place below `state` what this sandbox has to refuse, and tell what happened.

    A sandbox in which nothing can be run enforces nothing. Raises OSError when the place cannot be made.
    """
    with ExitStack() as cleaned:
        place = cleaned.enter_context(_place(state))
        marker = os.urandom(8).hex()
        pid = cleaned.enter_context(_bystander(marker))
        port, abstract = cleaned.enter_context(_listeners(place.outside))
        words = [place.outside, place.root, str(pid), marker, str(port), abstract]
        python = own_program()[0]
        outcome, complaint = _run(sandbox, place, [python, "-I", "-S", "-c", _ATTEMPTS, *words])
        untouched = _is_as_before(place.outside, "there", "made")
    if outcome is None:
        axis = Axis(enforced=False, how=phrase("nothing can be run in it: {why}", why=complaint))
        return Report(sandbox.name, files=axis, network=axis, processes=axis, control_files=axis, secrets=axis)
    if untouched:
        # A sandbox may show a copy of the place that it throws away.
        outcome |= {attempt: phrase("it had no effect") for attempt in _OUTSIDE if outcome[attempt] == "done"}
    return _report(sandbox.name, outcome)


def _report(name: str, outcome: Mapping[str, str]) -> Report:
    files = _refused(outcome, *_OUTSIDE)
    if outcome["write in the root"] != "done":
        files = Axis(
            enforced=False, how=phrase("the root itself cannot be written: {why}", why=outcome["write in the root"])
        )
    processes = _refused(outcome, "look into a process", "signal a process")
    if processes.enforced and outcome["see a process"] == "done":
        processes = Axis(
            enforced=True, how=phrase("{how}; other processes can be seen, not touched", how=processes.how)
        )
    return Report(
        sandbox=name,
        files=files,
        network=_refused(outcome, "connect by TCP", "connect to a local socket", "connect to an abstract socket"),
        processes=processes,
        control_files=_refused(outcome, "change a control file", "move a control file", "plant a control file"),
        secrets=_refused(outcome, "read a secret"),
    )


def _refused(outcome: Mapping[str, str], *attempts: str) -> Axis:
    possible = [attempt for attempt in attempts if outcome[attempt] == "done"]
    if possible:
        return Axis(
            enforced=False, how=phrase("a command can {deeds}", deeds=joined(", ", (_DEEDS[each] for each in possible)))
        )
    return Axis(
        enforced=True, how=phrase("refused to {deed}: {why}", deed=_DEEDS[attempts[0]], why=outcome[attempts[0]])
    )


def _is_as_before(directory: str, there: str, made: str) -> bool:
    try:
        with open(os.path.join(directory, there), encoding="utf-8") as file:
            return file.read() == _OLD and not os.path.lexists(os.path.join(directory, made))
    except OSError:
        return False


def _run(sandbox: Sandbox, place: _Place, arguments: list[str]) -> tuple[dict[str, str] | None, str]:
    fence = Fence(
        writable=(place.root,),
        temporary=place.temporary,
        read_only=((_CONTROL_FILE, False), (_MISSING_DIRECTORY, True)),
        hidden=(os.path.join(place.outside, "secret"),),
        network=False,
        blocked=(_MISSING_DIRECTORY,),
    )
    wrapped = sandbox.wrap(arguments, fence, directory=place.root)
    try:
        code, printed, complaint = _output_of(wrapped.arguments, place.root)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    finally:
        wrapped.clean_up()
    *lines, last = printed.decode(errors="replace").splitlines() or [""]
    if last != "end":
        complaints = complaint.decode(errors="replace").strip().splitlines() or [phrase("exit code {code}", code=code)]
        return None, complaints[-1]
    return {name: result for name, _, result in (line.partition("\t") for line in lines)}, ""


def _output_of(arguments: Sequence[str], directory: str) -> tuple[int, bytes, bytes]:
    """Exit code, output and complaints. Raises TimeoutExpired, when nothing of it is left, and OSError."""
    with subprocess.Popen(
        arguments,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            printed, complaint = process.communicate(timeout=_SECONDS)
        except BaseException:
            # What runs in a sandbox need not end with the process that was started.
            send(signal.SIGKILL, with_descendants([process.pid], processes()))
            raise
    return process.returncode, printed, complaint


@contextmanager
def _place(state: str) -> Generator[_Place]:
    top = os.path.join(os.path.realpath(state), f"probe-{os.urandom(8).hex()}")
    place = _Place(*(os.path.join(top, name) for name in ("outside", "root", "temporary")))
    os.makedirs(top, mode=0o700)
    try:
        for directory in (place.outside, place.root, place.temporary):
            os.mkdir(directory, 0o700)
        for path, text in (("outside/secret", _SECRET), ("outside/there", _OLD), (f"root/{_CONTROL_FILE}", _OLD)):
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(text)
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
    """A process that must be left alone. The marker is among its words and in its environment."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _MARKED, marker],
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
def _listeners(directory: str) -> Generator[tuple[int, str]]:
    """A TCP port, and the name of an abstract socket; a third one is `socket` in the directory."""
    abstract = f"tejat-{os.urandom(8).hex()}"
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as tcp,
        closing(socket.socket(socket.AF_UNIX)) as by_path,
        closing(socket.socket(socket.AF_UNIX)) as by_name,
    ):
        if sys.platform == "linux":
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                # The path of a socket must be short; this directory may lie deep.
                by_path.bind(f"/proc/self/fd/{descriptor}/socket")
            finally:
                os.close(descriptor)
            by_name.bind(f"\0{abstract}")
            by_name.listen()
        else:
            by_path.bind(os.path.join(directory, "socket"))
        by_path.listen()
        yield tcp.getsockname()[1], abstract
