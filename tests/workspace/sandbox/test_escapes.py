"""Real programs inside every sandbox, as root and as an ordinary user, that try to get out."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.tool_results import outside_workspace_result
from tejat.core.tools.base import validate_and_execute
from tejat.tools.read_file import ReadFileTool
from tejat.workspace.context import Workspace
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.selection import _bubblewrap_programs

SOURCE = Path(__file__).parents[3] / "src"
NO_USER = 65534

CONTROL = [
    [".git/config", False],
    [".git/hooks", True],
    [".git/commondir", False],
    [".agent", True],
    ["deep/er/settings", False],
    ["there/missing", True],
]
BLOCKED = [".agent", "there/missing"]

# Runs as the user in question: wraps each command, runs it, cleans up, and tells what came of it.
DRIVER = r"""
import json, os, subprocess, sys
sys.path.insert(0, sys.argv[1])
asked = json.loads(sys.argv[2])
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox
from tejat.workspace.sandbox.types import SandboxPolicy
os.umask(0o022)
python = os.path.realpath(sys.executable)
if asked["bubblewrap"]:
    sandbox = BubblewrapSandbox(asked["bubblewrap"], state=asked["state"], interpreter=python)
else:
    sandbox = LandlockSandbox(interpreter=python)
policy = SandboxPolicy((asked["root"],), asked["temporary"], tuple(map(tuple, asked["control"])),
                       tuple(asked["hidden"]), False, tuple(asked["blocked"]))
results = {}
leaked = os.open("/", os.O_RDONLY)
os.set_inheritable(leaked, True)
for name, command in asked["commands"].items():
    wrapped = sandbox.wrap(["/bin/bash", "--norc", "--noprofile", "-c", command], policy, directory=asked["root"])
    done = subprocess.run(wrapped.arguments, cwd=asked["root"], stdin=subprocess.DEVNULL, capture_output=True,
                          start_new_session=True, timeout=60, env={"PATH": "/usr/bin:/bin", "PY": python,
                          "HOME": asked["home"], "KEPT": "a=b"})
    wrapped.clean_up()
    results[name] = [done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")]
print(json.dumps(results))
"""


@dataclass(frozen=True)
class Ground:
    """A place to escape from. Everything in it belongs to the user in question."""

    top: Path
    prefix: tuple[str, ...]
    python: str
    bubblewrap: str | None

    @property
    def root(self) -> Path:
        return self.top / "home" / "root"

    def run(self, commands: dict[str, str]) -> dict[str, tuple[int, str, str]]:
        asked = {
            "blocked": BLOCKED,
            "bubblewrap": self.bubblewrap,
            "commands": commands,
            "control": CONTROL,
            "hidden": [str(self.top / "home" / "secrets"), str(self.top / "home" / ".netrc"), str(self.top / "state")],
            "home": str(self.top / "home"),
            "root": str(self.root),
            "state": str(self.top / "state"),
            "temporary": str(self.top / "state" / "temporary"),
        }
        done = subprocess.run(
            [*self.prefix, self.python, "-I", "-c", DRIVER, str(SOURCE), json.dumps(asked)],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return {name: (code, out, err) for name, (code, out, err) in json.loads(done.stdout).items()}


KINDS = ["bubblewrap as this user", "bubblewrap as nobody", "landlock as this user", "landlock as nobody"]


@contextmanager
def prepared(kind: str) -> Iterator[Ground]:
    sandbox, _, user = kind.partition(" as ")
    program = None
    if sys.platform != "linux":
        pytest.skip("SANDBOX MISSING: these sandboxes are made of Linux")
    if sandbox == "bubblewrap":
        program = next(_bubblewrap_programs(()), None)
        if program is None:
            pytest.skip("SANDBOX MISSING: bubblewrap is not installed")
    elif not abi_version():
        pytest.skip("SANDBOX MISSING: this kernel has no Landlock")
    prefix: tuple[str, ...] = ()
    python = os.path.realpath(sys.executable)
    if user == "nobody":
        if os.geteuid() != 0:
            pytest.skip("an ordinary user already")
        prefix = ("setpriv", f"--reuid={NO_USER}", f"--regid={NO_USER}", "--clear-groups", "--no-new-privs")
        prefix += ("/usr/bin/env",)  # setpriv itself still finds programs as root does
        python = python_for_everybody(prefix)
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="escape-", dir="/var/tmp")))
    try:
        ground = Ground(top, prefix, python, program)
        lay_out(ground)
        if user == "nobody":
            for directory, directories, files in os.walk(top):
                for name in (".", *directories, *files):
                    os.chown(os.path.join(directory, name), NO_USER, NO_USER, follow_symlinks=False)
        yield ground
    finally:
        shutil.rmtree(top)


def python_for_everybody(prefix: tuple[str, ...]) -> str:
    check = "import sys; sys.path.insert(0, sys.argv[1]); assert sys.version_info >= (3, 11); import tejat.workspace"
    for candidate in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            tried = subprocess.run(
                [*prefix, candidate, "-I", "-c", check, str(SOURCE)], capture_output=True, cwd="/", check=False
            )
        except FileNotFoundError:
            pytest.skip("SANDBOX MISSING: setpriv is not installed, so nothing is tried as an ordinary user")
        if tried.returncode == 0:
            return candidate
    pytest.skip("SANDBOX MISSING: no Python 3.11 or newer, or not this source, can be read by an ordinary user")


def lay_out(ground: Ground) -> None:
    root = ground.root
    for directory in (
        root / ".git" / "hooks",
        root / "deep" / "er",
        root / "there",
        ground.top / "state" / "temporary",
    ):
        directory.mkdir(parents=True)
    (ground.top / "home" / "secrets").mkdir()
    for path, text in EXPECTED.items():
        (ground.top / path).write_text(text)


EXPECTED = {
    "home/outside": "old",
    "home/secrets/key": "the key itself",
    "home/.netrc": "the key itself",
    "state/record": "the key itself",
    "home/root/.git/config": "old",
    "home/root/deep/er/settings": "old",
}


def connecting(family: str, address: str, kind: str = "SOCK_STREAM") -> str:
    return f"""$PY -I -c '
import socket
s = socket.socket(socket.{family}, socket.{kind})
s.settimeout(2)
s.connect({address})
s.send(b"x")
print("reached")
'"""


@contextmanager
def neighbours(ground: Ground) -> Iterator[dict[str, str]]:
    """What is outside and must not be reached, by name: a process, ports, sockets."""
    abstract = f"escape-{os.urandom(6).hex()}"
    with ExitStack() as closed:
        tcp = closed.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        udp = closed.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        udp.bind(("127.0.0.1", 0))
        for path, kind in (("home/stream", socket.SOCK_STREAM), ("home/root/inside", socket.SOCK_STREAM)):
            listening = closed.enter_context(closing(socket.socket(socket.AF_UNIX, kind)))
            listening.bind(str(ground.top / path))
            (ground.top / path).chmod(0o777)
            listening.listen()
        datagrams = closed.enter_context(closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
        datagrams.bind(str(ground.top / "home" / "datagrams"))
        (ground.top / "home" / "datagrams").chmod(0o777)
        named = closed.enter_context(closing(socket.socket(socket.AF_UNIX)))
        named.bind(f"\0{abstract}")
        named.listen()
        process = subprocess.Popen([*ground.prefix, "/bin/sleep", "300"], env={"MARKER": "of-a-neighbour"})
        try:
            yield {
                "TCP": str(tcp.getsockname()[1]),
                "UDP": str(udp.getsockname()[1]),
                "ABSTRACT": abstract,
                "PID": str(process.pid),
                "HOME": str(ground.top / "home"),
            }
            assert process.poll() is None, "the neighbour was killed"
            for listening in (udp, datagrams):
                listening.setblocking(False)
                with pytest.raises(BlockingIOError):
                    listening.recv(1)
        finally:
            process.kill()
            process.wait()


# Every one of these has to fail. Upper-case words in braces are the neighbours.
ESCAPES: dict[str, str] = {
    "write outside": "echo new > {HOME}/outside",
    "make outside": "echo new > {HOME}/made",
    "remove outside": "rm -f {HOME}/outside",
    "truncate outside": "truncate -s 0 {HOME}/outside",
    "move the root": "mv {HOME}/root {HOME}/moved",
    "write through a link": "ln -s {HOME}/outside link && echo new > link",
    "write by a hard link": "ln {HOME}/outside hard && echo new > hard",
    "write through a parent of the process": "echo new > /proc/$PPID/root{HOME}/outside",
    "plant in the home": "mkdir {HOME}/.config",
    "plant in cron": "touch /etc/cron.d/escape || touch /var/spool/cron/escape",
    # Written back as it is, lest a hole here is more than a failing test.
    "kernel settings": 'old=$(cat /proc/sys/kernel/core_pattern) && echo "$old" > /proc/sys/kernel/core_pattern',
    "kernel objects": "old=$(cat /sys/kernel/mm/transparent_hugepage/khugepaged/defrag) && "
    'echo "$old" > /sys/kernel/mm/transparent_hugepage/khugepaged/defrag',
    "make a device": "mknod disk b 8 0 && cat disk",
    "read a secret directory": "cat {HOME}/secrets/key | grep key",
    "read a secret file": "grep key {HOME}/.netrc",
    "read a secret through a link": "ln -s {HOME}/secrets/key k && grep key k",
    "read a secret by a hard link": "ln {HOME}/secrets/key h && grep key h",
    "read a secret through a process": "grep key /proc/{PID}/root{HOME}/secrets/key",
    "read our state": "grep key {HOME}/../state/record",
    "signal": "kill -TERM {PID}",
    "look into the environment": "grep -a of-a-neighbour /proc/{PID}/environ",
    "look into the memory": "head -c 1 /proc/{PID}/mem",
    "tcp": connecting("AF_INET", '("127.0.0.1", {TCP})'),
    "tcp by bash": "exec 3<> /dev/tcp/127.0.0.1/{TCP}",
    "udp to a listener is not delivered": "exec 3<> /dev/udp/127.0.0.1/{UDP} && echo x >&3; false",
    "the world": connecting("AF_INET", '("192.0.2.1", 80)'),
    "a name": "getent ahostsv4 example.com",
    "icmp": connecting("AF_INET", '("192.0.2.1", 0)', "SOCK_RAW"),
    "an abstract socket": connecting("AF_UNIX", '"\\0{ABSTRACT}"'),
    "a socket by its path": connecting("AF_UNIX", '"{HOME}/stream"'),
    "a socket in the root": connecting("AF_UNIX", '"{HOME}/root/inside"'),
    "a socket for datagrams": connecting("AF_UNIX", '"{HOME}/datagrams"', "SOCK_DGRAM"),
    "a pair turned to another socket": """$PY -I -c '
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b"x", "{HOME}/datagrams")
'""",
    "a raw pair turned to another socket": """$PY -I -c '
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
a.sendto(b"x", "{HOME}/datagrams")
'""",
    "the virtual machine's host": connecting("AF_VSOCK", "(2, 1024)"),
    "packets": "$PY -I -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
    "another namespace": "unshare -Ur true",
    "a user's terminal": "echo x > /dev/tty",
    "keys into a terminal": """$PY -I -c '
import fcntl, pty, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSTI, b"x")
'""",
    "keys by a number with more bits": """$PY -I -c '
import ctypes, os, pty, sys
master, slave = pty.openpty()
call = 16 if os.uname().machine == "x86_64" else 29
answer = ctypes.CDLL(None).syscall(call, slave, ctypes.c_ulong(0x100005412), b"x")
sys.exit(0 if answer == 0 else 1)
'""",
}

# A root in which single files are read-only inside what is writable is beyond Landlock.
CONTROL_ESCAPES: dict[str, str] = {
    "change": "echo new > .git/config",
    "append": "echo new >> .git/config",
    "remove": "rm -f .git/config",
    "replace": "echo new > n; mv -f n .git/config",
    "mount it writable": "mount -o remount,bind,rw .git/config; echo new > .git/config",
    "mount the root writable": "mount -o remount,rw / ; echo new > .git/config",
    "unmount": "umount -l .git/config; echo new > .git/config",
    "mount over": "mount -t tmpfs tmpfs .git; echo new > .git/config",
    "move the parent": "mv .git moved && mkdir .git && echo new > .git/config",
    "move the grandparent": "mv deep moved && mkdir -p deep/er && echo new > deep/er/settings",
    "move the nearest parent": "mv deep/er moved && mkdir -p deep/er && echo new > deep/er/settings",
    "remove the parent": "rm -rf deep && mkdir -p deep/er && echo new > deep/er/settings",
    "hard link": "ln .git/config hard && echo new > hard",
    "exchange": """$PY -I -c '
import ctypes, os, sys
os.makedirs("fake", exist_ok=True)
sys.exit(ctypes.CDLL(None).renameat2(-100, b".git", -100, b"fake", 2) and 1)
'""",
    "plant a hook": "echo new > .git/hooks/post-checkout",
    "point git elsewhere": "echo ../evil > .git/commondir",
    "point git elsewhere by moving": "echo ../evil > e; mv -f e .git/commondir",
    "make a missing directory": "mkdir .agent",
    "plant in a missing directory": "mkdir -p .agent && echo new > .agent/settings.json",
    "link a missing directory": "mkdir fake; ln -sfn fake .agent && echo new > .agent/settings.json",
    "move over a missing directory": "mkdir fake2 && mv -T fake2 .agent",
    "plant in a missing directory below": "mkdir -p there/missing && echo new > there/missing/x",
    "move what holds a missing directory": "mv there t && mkdir -p there/missing",
    "change the mode outside": "chmod 777 {HOME}/outside",
    "change the times outside": "touch {HOME}/outside",
}

OPEN_DESCRIPTORS = """
import os
print(sorted(name for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)))
"""
THREAD = """
import socket, threading
a, b = socket.socketpair()
thread = threading.Thread(target=b.send, args=[b"x"])
thread.start()
print(a.recv(1))
thread.join()
"""

WORKS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "files in the root": ("echo new > file && mv file file2 && mkdir d && mv file2 d/ && cat d/file2", "new\n".__eq__),
    "files in the temporary directory": ('echo new > "$TMPDIR/t" && cat "$TMPDIR/t"', "new\n".__eq__),
    "the environment": ("echo $KEPT", "a=b\n".__eq__),
    "nothing added to the environment": (
        "env | cut -d= -f1 | sort | tr '\\n' ' '",
        lambda out: set(out.split()) == {"HOME", "KEPT", "PATH", "PWD", "PY", "SHLVL", "TMPDIR", "_"},
    ),
    "pipes that break": ("yes | head -1", "y\n".__eq__),
    "standard streams and nothing else": (f"$PY -I -c '{OPEN_DESCRIPTORS}'", "['0', '1', '2']\n".__eq__),
    "the directory": ("pwd", lambda out: out.endswith("/home/root\n")),
    "devices": ("head -c 2 /dev/urandom > /dev/null && echo x > /dev/null && echo fine", "fine\n".__eq__),
    "threads and pairs of sockets": (f"$PY -I -c '{THREAD}'", "b'x'\n".__eq__),
    "children": ("(kill -TERM $BASHPID); echo $?", "143\n".__eq__),
    "no capabilities": ("grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n".__eq__),
    "no new privileges": ("grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n".__eq__),
}


def filled(command: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        command = command.replace(f"{{{name}}}", value)
    return command


@pytest.mark.parametrize("kind", KINDS)
def test_no_way_out_and_room_to_work(kind: str) -> None:
    with prepared(kind) as ground, neighbours(ground) as known:
        escapes = {**ESCAPES, **(CONTROL_ESCAPES if ground.bubblewrap else {})}
        results = ground.run({name: filled(command, known) for name, command in escapes.items()})
        assert {name: result for name, result in results.items() if result[0] == 0 or "reached" in result[1]} == {}
        work = ground.run({name: command for name, (command, _) in WORKS.items()})
        assert {name: it for name, it in work.items() if it[0] != 0 or not WORKS[name][1](it[1])} == {}
        assert {path: (ground.top / path).read_text() for path in EXPECTED} == EXPECTED
        assert [path for path in ("home/made", "home/.config") if (ground.top / path).exists()] == []
        if ground.bubblewrap:
            assert sorted(path.name for path in (ground.root / ".git").rglob("*")) == ["config", "hooks"]
            assert [path for path in (".agent", "there/missing") if (ground.root / path).exists()] == []
            assert list((ground.top / "state" / "ghosts").glob("*.json")) == []


POSSIBLE = ["write outside", "make outside", "truncate outside", "write by a hard link", "plant in the home"]
POSSIBLE += ["read a secret directory", "read a secret file", "read our state", "look into the environment"]
POSSIBLE += ["tcp", "tcp by bash", "an abstract socket", "a socket by its path", "a socket in the root"]


def test_the_same_attempts_succeed_without_a_sandbox() -> None:
    """Else the tests above would prove nothing."""
    top = Path(tempfile.mkdtemp(prefix="escape-", dir="/var/tmp"))
    try:
        ground = Ground(top, (), os.path.realpath(sys.executable), None)
        lay_out(ground)
        with neighbours(ground) as known:
            for name in POSSIBLE:
                done = subprocess.run(
                    ["/bin/bash", "-c", filled(ESCAPES[name], known)],
                    cwd=ground.root,
                    env={"PATH": "/usr/bin:/bin", "PY": ground.python},
                    capture_output=True,
                    check=False,
                )
                assert done.returncode == 0, (name, done.stderr)
    finally:
        shutil.rmtree(top)


def test_a_link_that_was_planted_inside_is_not_followed_by_our_own_tools() -> None:
    with prepared(KINDS[2]) as ground:
        planted = ground.run({"plant": f"ln -s {ground.top}/home/secrets/key link"})
        assert planted == {"plant": (0, "", "")}
        with Workspace([ground.root]) as workspace:
            tool = ReadFileTool(workspace)
            result = asyncio.run(validate_and_execute(tool, {"path": str(ground.root / "link")}))
        assert result == outside_workspace_result(ground.root / "link", ground.root)
