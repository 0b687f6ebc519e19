"""Commands in bubblewrap, with odd roots, with git, and when something goes wrong."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.workspace.sandbox.bubblewrap import Bubblewrap
from tejat.workspace.sandbox.choose import _bubblewrap_programs
from tejat.workspace.sandbox.plan import Fence

PROGRAM = next(_bubblewrap_programs(()), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SANDBOX MISSING: bubblewrap is not installed")
GIT = ((".git/config", False), (".git/hooks", True), (".git/commondir", False), (".git/info/attributes", False))
GIT_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture
def place() -> Generator[Path]:
    """Not below /tmp, which commands see another one of."""
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="wrap-", dir="/var/tmp")))
    for name in ("state", "temporary", "root"):
        (top / name).mkdir()
    yield top
    shutil.rmtree(top)


def fence_for(
    place: Path,
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[str, ...] = (),
    network: bool = False,
) -> Fence:
    return Fence(tuple(map(str, roots)) or (str(place / "root"),), str(place / "temporary"), control, hidden, network)


def run(place: Path, fence: Fence, command: str, *, directory: str | None = None) -> subprocess.CompletedProcess[str]:
    assert PROGRAM is not None
    sandbox = Bubblewrap(PROGRAM, state=str(place / "state"))
    wrapped = sandbox.wrap(["/bin/bash", "-c", command], fence, directory=directory or fence.writable[0])
    try:
        return subprocess.run(
            wrapped.arguments,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env=GIT_ENVIRONMENT,
            check=False,
        )
    finally:
        wrapped.clean_up()


@pytest.mark.parametrize(
    "name", [b"a b", b"new\nline", b"-dash", b"--bind", b"a=b", b"\xff\xfe", "zoë 日本".encode(), b"$(x)'\"", b"..."]
)
def test_odd_names(place: Path, name: bytes) -> None:
    root = Path(os.fsdecode(os.fsencode(place / "root") + b"/" + name))
    (root / ".a").mkdir(parents=True)
    done = run(place, fence_for(place, root, control=((".a", True), (".b", True))), "pwd; echo x > f; echo x > .a/f")
    assert done.stdout == f"{root}\n"
    assert "Read-only file system" in done.stderr
    assert sorted(os.listdir(root)) == [".a", "f"]


def test_a_root_below_the_real_temporary_directory(place: Path, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    done = run(place, fence_for(place, root), "echo x > f && echo y > /tmp/g && ls /tmp && pwd")
    assert done.stderr == ""
    assert (root / "f").read_text() == "x\n"
    assert (place / "temporary" / "g").read_text() == "y\n"
    if root.is_relative_to("/tmp"):
        assert sorted(done.stdout.splitlines()) == sorted(["g", root.parts[2], str(root)])


def test_several_roots_and_one_in_another(place: Path) -> None:
    inner = place / "root" / "x" / "inner"
    (inner / ".a").mkdir(parents=True)
    (place / "other").mkdir()
    fence = fence_for(place, place / "root", inner, place / "other", control=((".a", True),))
    done = run(
        place, fence, f"echo 1 > f; echo 2 > {place}/other/f; echo 3 > x/inner/f; mv f x/inner/g; echo 4 > x/inner/.a/f"
    )
    assert "Read-only file system" in done.stderr
    assert sorted(str(path.relative_to(place)) for path in place.rglob("[fg]")) == [
        "other/f",
        "root/x/inner/f",
        "root/x/inner/g",
    ]
    assert run(place, fence, "mv x y").returncode != 0


def test_the_home_as_a_root(place: Path) -> None:
    home = place / "root"
    (home / ".ssh").mkdir()
    (home / ".ssh" / "key").write_text("secret")
    (home / ".netrc").write_text("secret")
    fence = fence_for(place, home, hidden=(str(home / ".ssh"), str(home / ".netrc")))
    done = run(
        place, fence, "ls -A .ssh; cat .netrc; echo x > .ssh/authorized_keys; echo x > .netrc; echo x > f; cat f"
    )
    assert done.stdout == "x\n"
    assert ".ssh/authorized_keys: Permission denied" in done.stderr
    assert ".netrc: Read-only file system" in done.stderr
    assert (home / ".netrc").read_text() == "secret"
    assert (home / ".ssh" / "key").read_text() == "secret"


def test_the_whole_system_is_no_root(place: Path) -> None:
    with pytest.raises(UsageError, match="cannot be fenced into /"):
        run(place, fence_for(place, Path("/")), "true")


def test_exit_codes(place: Path) -> None:
    fence = fence_for(place)
    assert [run(place, fence, f"exit {code}").returncode for code in (0, 7, 255)] == [0, 7, 255]
    assert run(place, fence, "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_a_program_that_is_not_there(place: Path) -> None:
    assert PROGRAM is not None
    wrapped = Bubblewrap(PROGRAM, state=str(place / "state")).wrap(
        ["/none/bash"], fence_for(place), directory=str(place / "root")
    )
    done = subprocess.run(wrapped.arguments, capture_output=True, text=True, check=False)
    wrapped.clean_up()
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == "tejat: [Errno 2] No such file or directory: '/none/bash'\n"


def test_a_loopback_of_its_own(place: Path) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); "
    serve += "c = socket.create_connection(s.getsockname()); c.send(b'x'); print(s.accept()[0].recv(1))"
    done = run(place, fence_for(place), f'{os.path.realpath(sys.executable)} -I -c "{serve}"')
    assert (done.stdout, done.stderr) == ("b'x'\n", "")


@pytest.mark.parametrize("network", [True, False])
def test_the_network_when_it_is_allowed(place: Path, network: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        done = run(place, fence_for(place, network=network), f"exec 3<> /dev/tcp/127.0.0.1/{port}")
        assert (done.returncode == 0) is network


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
class TestGit:
    def test_a_day_of_work(self, place: Path) -> None:
        root = place / "root"
        subprocess.run(["git", "init", "-q", root], check=True, env=GIT_ENVIRONMENT)
        before = (root / ".git" / "config").read_text()
        control = (*GIT, (".vscode", True), (".github/workflows", True))
        done = run(
            place,
            fence_for(place, control=control),
            "set -e; echo 1 > f; git add -A; git commit -qm one; git checkout -q -b b; echo 2 > f; git commit -qam two;"
            " git checkout -q -; git merge -q b; git gc -q; git status --porcelain; git log --format=%s",
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "two\none\n", "")
        assert (root / ".git" / "config").read_text() == before
        listed = subprocess.run(
            ["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True, env=GIT_ENVIRONMENT
        )
        assert listed.stdout == "f\n"
        assert sorted(os.listdir(root)) == [".git", "f"]

    def test_no_repository_can_be_made(self, place: Path) -> None:
        assert run(place, fence_for(place, control=GIT), "git init -q .").returncode != 0
        assert os.listdir(place / "root") == []


def test_a_command_that_is_killed_leaves_nothing(place: Path) -> None:
    assert PROGRAM is not None
    mark = f"3{os.getpid()}"
    sandbox = Bubblewrap(PROGRAM, state=str(place / "state"))
    fence = fence_for(place, control=((".a", True),))
    command = f"setsid sleep {mark} & (setsid sleep {mark} &); echo started; sleep {mark}"
    wrapped = sandbox.wrap(["/bin/bash", "-c", command], fence, directory=str(place / "root"))
    with subprocess.Popen(wrapped.arguments, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert (place / "root" / ".a").is_dir()
        process.kill()
    until = time.monotonic() + 5
    while sleepers(mark) and time.monotonic() < until:
        time.sleep(0.01)
    assert sleepers(mark) == []
    wrapped.clean_up()
    assert os.listdir(place / "root") == []


def sleepers(mark: str) -> list[str]:
    found: list[str] = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
                found.append(process)
        except OSError:
            continue
    return found


def test_what_is_forced_into_the_way_of_a_control_path_is_lost(place: Path) -> None:
    fence = fence_for(place, control=((".a", True),))
    assert run(place, fence, "chmod u+w .a && echo x > .a/f && cat .a/f").stdout == "x\n"
    assert os.listdir(place / "root") == []


def test_one_command_does_not_take_away_what_protects_another(place: Path) -> None:
    assert PROGRAM is not None
    sandbox = Bubblewrap(PROGRAM, state=str(place / "state"))
    fence = fence_for(place, control=((".a", True),))
    command = "echo started; read line; mkdir -p .a; echo x > .a/f"
    first = sandbox.wrap(["/bin/bash", "-c", command], fence, directory=str(place / "root"))
    with subprocess.Popen(
        first.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert run(place, fence, "true").returncode == 0
        assert (place / "root" / ".a").is_dir()
        _, complaint = process.communicate("go\n")
    assert ".a/f: Permission denied" in complaint
    first.clean_up()
    assert os.listdir(place / "root") == []
