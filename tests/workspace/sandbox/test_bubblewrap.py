"""Commands in bubblewrap, with odd roots, with git, and when something goes wrong."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.workspace.processes.process_tree import exclude_named, list_processes, process_start_time, with_descendants
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec
from tejat.workspace.processes.supervisor_client import ProcessSupervisor, RunningProcess
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.landlock_sandbox import helper_paths
from tejat.workspace.sandbox.selection import _bubblewrap_programs
from tejat.workspace.sandbox.types import SandboxedCommand, SandboxPolicy

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


def policy_for(
    place: Path,
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[str, ...] = (),
    network: bool = False,
    blocked: tuple[str, ...] = (),
) -> SandboxPolicy:
    writable = tuple(map(str, roots)) or (str(place / "root"),)
    return SandboxPolicy(writable, str(place / "temporary"), control, hidden, network, blocked)


def run(
    place: Path, policy: SandboxPolicy, command: str, *, directory: str | None = None
) -> subprocess.CompletedProcess[str]:
    assert PROGRAM is not None
    sandbox = BubblewrapSandbox(PROGRAM, state=str(place / "state"))
    wrapped = sandbox.wrap(["/bin/bash", "-c", command], policy, directory=directory or policy.writable_roots[0])
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
    policy = policy_for(place, root, control=((".a", True), (".b", True)), blocked=(".b",))
    done = run(place, policy, "pwd; echo x > f; echo x > .a/f; echo x > .b/f")
    assert done.stdout == f"{root}\n"
    assert ".a/f: Read-only file system" in done.stderr
    assert ".b/f: Permission denied" in done.stderr
    assert sorted(os.listdir(root)) == [".a", "f"]


def test_a_root_below_the_real_temporary_directory(place: Path, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    done = run(place, policy_for(place, root), "echo x > f && echo y > /tmp/g && ls /tmp && pwd")
    assert done.stderr == ""
    assert (root / "f").read_text() == "x\n"
    assert (place / "temporary" / "g").read_text() == "y\n"
    if root.is_relative_to("/tmp"):
        # A checkout that lies there too stays visible: the program that locks commands in is part of it.
        own = {Path(path).parts[2] for path in (sys.executable, __file__) if Path(path).is_relative_to("/tmp")}
        assert set(done.stdout.splitlines()) - own == {"g", root.parts[2], str(root)} - own


def test_several_roots_and_one_in_another(place: Path) -> None:
    inner = place / "root" / "x" / "inner"
    (inner / ".a").mkdir(parents=True)
    (place / "other").mkdir()
    policy = policy_for(place, place / "root", inner, place / "other", control=((".a", True),))
    done = run(
        place,
        policy,
        f"echo 1 > f; echo 2 > {place}/other/f; echo 3 > x/inner/f; mv f x/inner/g; echo 4 > x/inner/.a/f",
    )
    assert "Read-only file system" in done.stderr
    assert sorted(str(path.relative_to(place)) for path in place.rglob("[fg]")) == [
        "other/f",
        "root/x/inner/f",
        "root/x/inner/g",
    ]
    assert run(place, policy, "mv x y").returncode != 0


def test_the_home_as_a_root(place: Path) -> None:
    home = place / "root"
    (home / ".ssh").mkdir()
    (home / ".ssh" / "key").write_text("secret")
    (home / ".netrc").write_text("secret")
    policy = policy_for(place, home, hidden=(str(home / ".ssh"), str(home / ".netrc")))
    done = run(
        place, policy, "ls -A .ssh; cat .netrc; echo x > .ssh/authorized_keys; echo x > .netrc; echo x > f; cat f"
    )
    assert done.stdout == "x\n"
    assert ".ssh/authorized_keys: Permission denied" in done.stderr
    assert ".netrc: Read-only file system" in done.stderr
    assert (home / ".netrc").read_text() == "secret"
    assert (home / ".ssh" / "key").read_text() == "secret"


def test_the_whole_system_is_no_root(place: Path) -> None:
    with pytest.raises(UsageError, match="cannot be fenced into /"):
        run(place, policy_for(place, Path("/")), "true")


def test_exit_codes(place: Path) -> None:
    policy = policy_for(place)
    assert [run(place, policy, f"exit {code}").returncode for code in (0, 7, 255)] == [0, 7, 255]
    assert run(place, policy, "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_a_program_that_is_not_there(place: Path) -> None:
    assert PROGRAM is not None
    wrapped = BubblewrapSandbox(PROGRAM, state=str(place / "state")).wrap(
        ["/none/bash"], policy_for(place), directory=str(place / "root")
    )
    done = subprocess.run(wrapped.arguments, capture_output=True, text=True, check=False)
    wrapped.clean_up()
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == "tejat: the command could not be started: [Errno 2] No such file or directory: '/none/bash'\n"


def test_a_loopback_of_its_own(place: Path) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); "
    serve += "c = socket.create_connection(s.getsockname()); c.send(b'x'); print(s.accept()[0].recv(1))"
    done = run(place, policy_for(place), f'{os.path.realpath(sys.executable)} -I -c "{serve}"')
    assert (done.stdout, done.stderr) == ("b'x'\n", "")


@pytest.mark.parametrize("network", [True, False])
def test_the_network_when_it_is_allowed(place: Path, network: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        done = run(place, policy_for(place, network=network), f"exec 3<> /dev/tcp/127.0.0.1/{port}")
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
            policy_for(place, control=control, blocked=(".vscode",)),
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

    def test_a_new_repository_is_made_and_protected_from_then_on(self, place: Path) -> None:
        root = place / "root"
        policy = policy_for(place, control=(*GIT, (".gemini", True)), blocked=(".gemini",))
        done = run(
            place, policy, "git init -q . && echo 1 > f && git add f && git commit -qm one && git log --format=%s"
        )
        assert (done.returncode, done.stdout) == (0, "one\n"), done.stderr
        assert sorted(os.listdir(root)) == [".git", "f"]
        before = (root / ".git" / "config").read_text()
        done = run(
            place,
            policy,
            "echo 2 > f && git commit -qam two && git log -1 --format=%s; git config core.fsmonitor evil;"
            " mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; mkdir -p .git/info;"
            " echo '* filter=evil' > .git/info/attributes",
        )
        assert done.stdout == "two\n"
        assert (root / ".git" / "config").read_text() == before
        assert not (root / ".git" / "hooks" / "pre-commit").exists()
        assert not (root / ".git" / "info" / "attributes").exists()

    def test_the_settings_of_an_agent_cannot_be_made(self, place: Path) -> None:
        policy = policy_for(place, control=((".gemini", True),), blocked=(".gemini",))
        for attempt in ("mkdir .gemini", "mkdir -p .gemini && echo {} > .gemini/settings.json", "touch .gemini/x"):
            assert run(place, policy, attempt).returncode != 0
        assert run(place, policy, "ln -sfn /tmp .gemini; mkdir x && mv -T x .gemini").returncode != 0
        assert os.listdir(place / "root") == ["x"]


class TestUnderASupervisor:
    """Nothing in the sandbox ends with the shell: it is the supervisor that ends it."""

    @pytest.fixture
    def supervisor(self) -> Generator[ProcessSupervisor]:
        supervisor = ProcessSupervisor()
        yield supervisor
        supervisor.close()

    @pytest.fixture
    def mark(self) -> Generator[str]:
        """A length of time to sleep that nobody else sleeps for; whoever still does in the end is killed."""
        mark = f"9{int.from_bytes(os.urandom(5))}.5"
        yield mark
        for pid in sleepers(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def test_what_is_left_in_the_background_goes_on_under_the_same_fence(
        self, place: Path, supervisor: ProcessSupervisor, mark: str
    ) -> None:
        sandbox, wrapped = wrapped_for(place, f"(sleep {mark}; mkdir -p .a && touch .a/f) & sleep {mark} & echo hi")
        exited = asyncio.run(ended(supervisor, wrapped))
        assert (exited.code, exited.signal) == (0, None)
        assert there_are(2, mark)
        wrapped.detach()
        began = time.monotonic()
        wrapped.clean_up()
        assert time.monotonic() - began < 1
        run(place, policy_for(place, control=((".a", True),), blocked=(".a",)), "true")
        assert os.listdir(place / "root") == [".a"]
        for pid in sleepers(mark):
            os.kill(pid, signal.SIGKILL)
        assert all_end(exited.survivors)
        sandbox.sweep()
        assert os.listdir(place / "root") == []

    def test_a_fence_that_is_cleaned_up_too_early_stays_until_somebody_sweeps(
        self, place: Path, supervisor: ProcessSupervisor, mark: str
    ) -> None:
        sandbox, wrapped = wrapped_for(place, f"sleep {mark} &")
        exited = asyncio.run(ended(supervisor, wrapped))
        wrapped.clean_up()
        sandbox.sweep()
        assert os.listdir(place / "root") == [".a"]
        supervisor.close()
        assert all_end(exited.survivors)
        sandbox.sweep()
        assert os.listdir(place / "root") == []

    @pytest.mark.parametrize("line", ["(setsid sleep {0} &)", "trap '' TERM; sleep {0} &", "nohup sleep {0} &"])
    def test_everything_ends_with_the_supervisor(
        self, place: Path, supervisor: ProcessSupervisor, mark: str, line: str
    ) -> None:
        sandbox, wrapped = wrapped_for(place, f"{line.format(mark)}\n(sleep {mark} &)")
        exited = asyncio.run(ended(supervisor, wrapped))
        wrapped.detach()
        assert there_are(2, mark)
        supervisor.close()
        assert sleepers(mark) == []
        assert all_end(exited.survivors, within=0)
        sandbox.sweep()
        assert os.listdir(place / "root") == []

    def test_a_command_that_is_stopped_leaves_nothing(
        self, place: Path, supervisor: ProcessSupervisor, mark: str
    ) -> None:
        _, wrapped = wrapped_for(place, f"setsid sleep {mark} & (setsid sleep {mark} &); trap '' TERM; sleep {mark}")

        async def main() -> None:
            running = await started(supervisor, wrapped)
            assert there_are(3, mark)
            assert (place / "root" / ".a").is_dir()
            await running.stop()
            assert sleepers(mark) == []
            running.release()

        asyncio.run(main())
        wrapped.clean_up()
        assert os.listdir(place / "root") == []

    @pytest.mark.parametrize("line", ["sleep {0} & echo hi", "setsid sleep {0} & sleep {0}"])
    def test_everything_ends_with_an_agent_that_is_killed(self, place: Path, mark: str, line: str) -> None:
        assert PROGRAM is not None
        with subprocess.Popen(
            [sys.executable, "-c", AGENT, PROGRAM, str(place), line.format(mark)], stdout=subprocess.PIPE
        ) as agent:
            assert there_are(line.count("sleep"), mark)
            inside = descendants(agent.pid)
            agent.kill()
        assert len(inside) > line.count("sleep")
        assert all_end(inside)
        assert sleepers(mark) == []
        BubblewrapSandbox(PROGRAM, state=str(place / "state")).sweep()
        assert os.listdir(place / "root") == []

    def test_the_own_processes_of_the_sandbox_are_known_by_their_name(
        self, place: Path, supervisor: ProcessSupervisor, mark: str
    ) -> None:
        assert PROGRAM is not None
        other = place / "a-program-of-another-name"
        other.symlink_to(PROGRAM)
        for program in (PROGRAM, str(other)):
            _, wrapped = wrapped_for(place, f"sleep {mark} &", program=program)
            exited = asyncio.run(ended(supervisor, wrapped))
            wrapped.detach()
            assert there_are(1, mark)
            (slept,) = sleepers(mark)
            assert len(exited.survivors) == 2
            assert exclude_named(wrapped.helper_processes, exited.survivors) == (slept,)
            os.kill(slept, signal.SIGKILL)
            assert all_end(exited.survivors)


AGENT = """
import asyncio, os, sys
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.processes.spawn import ProcessSpec
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.types import SandboxPolicy

program, place, command = sys.argv[1:]
policy = SandboxPolicy((place + "/root",), place + "/temporary", ((".a", True),), (), False, (".a",))
sandbox = BubblewrapSandbox(program, state=place + "/state")
wrapped = sandbox.wrap(["/bin/bash", "-c", command], policy, directory=place + "/root")

async def main():
    spec = ProcessSpec(wrapped.arguments, os.open(place, os.O_RDONLY), {"PATH": "/usr/bin:/bin"})
    running = await ProcessSupervisor().start(spec, stdout=1, stderr=2)
    await asyncio.sleep(100)

asyncio.run(main())
"""


def test_the_environment_that_we_run_in_is_in_sight(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also below /tmp, where somebody may have cloned us to."""
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "program").write_text("#!/bin/sh\necho here\n")
    (environment / "program").chmod(0o755)
    command = f"{environment}/program; touch {environment}/program 2>/dev/null && echo changed"
    assert run(place, policy_for(place), command).stdout == ""
    monkeypatch.setattr(sys, "prefix", str(environment))
    helper_paths.cache_clear()
    try:
        assert run(place, policy_for(place), command).stdout == "here\n"
        # In a root it cannot be changed either: our own modules and programs are loaded from it.
        assert run(place, policy_for(place, tmp_path), f"touch {tmp_path}/new; {command}").stdout == "here\n"
        assert (tmp_path / "new").exists()
    finally:
        helper_paths.cache_clear()


def wrapped_for(
    place: Path, command: str, *, program: str | None = PROGRAM
) -> tuple[BubblewrapSandbox, SandboxedCommand]:
    """In a fence with one path, `.a`, that must not come into being."""
    assert program is not None
    sandbox = BubblewrapSandbox(program, state=str(place / "state"))
    policy = policy_for(place, control=((".a", True),), blocked=(".a",))
    return sandbox, sandbox.wrap(["/bin/bash", "-c", command], policy, directory=str(place / "root"))


async def started(supervisor: ProcessSupervisor, wrapped: SandboxedCommand) -> RunningProcess:
    directory, output = os.open("/", os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
    try:
        launch = ProcessSpec(wrapped.arguments, directory, {"PATH": "/usr/bin:/bin"})
        return await supervisor.start(launch, stdout=output, stderr=output)
    finally:
        os.close(directory)
        os.close(output)


async def ended(supervisor: ProcessSupervisor, wrapped: SandboxedCommand) -> ExitStatus:
    running = await started(supervisor, wrapped)
    try:
        return await running.wait()
    finally:
        running.release()


def sleepers(mark: str) -> list[int]:
    found: list[int] = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if mark.encode() in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
                found.append(int(process))
    return found


def there_are(count: int, mark: str) -> bool:
    """Wait for so many of them."""
    until = time.monotonic() + 60
    while len(sleepers(mark)) != count:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def descendants(pid: int) -> list[int]:
    return sorted(with_descendants([pid], list_processes()) - {pid})


def all_end(pids: Sequence[int], *, within: float = 5.0) -> bool:
    until = time.monotonic() + within
    while any(process_start_time(pid) is not None for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_what_is_forced_into_the_way_of_a_control_path_is_lost(place: Path) -> None:
    policy = policy_for(place, control=((".a", True),), blocked=(".a",))
    assert run(place, policy, "chmod u+w .a && echo x > .a/f && cat .a/f").stdout == "x\n"
    assert os.listdir(place / "root") == []


@pytest.mark.parametrize("lasting", ["the first", "the second"])
def test_one_command_does_not_take_away_what_protects_another(place: Path, lasting: str) -> None:
    wait = "echo started; read line; mkdir -p .a; echo x > .a/f"
    _, first = wrapped_for(place, wait if lasting == "the first" else "echo started; read line")
    with running(first) as one:
        _, second = wrapped_for(place, wait if lasting == "the second" else "echo started; read line")
        with running(second) as two:
            over, stays = (two, one) if lasting == "the first" else (one, two)
            over.communicate("go\n")
            (second if lasting == "the first" else first).clean_up()
            assert (place / "root" / ".a").is_dir()
            _, complaint = stays.communicate("go\n")
    assert ".a/f: Permission denied" in complaint
    first.clean_up()
    second.clean_up()
    assert os.listdir(place / "root") == []


@contextmanager
def running(wrapped: SandboxedCommand) -> Generator[subprocess.Popen[str]]:
    """A command that has printed its first line and waits for one."""
    with subprocess.Popen(
        wrapped.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
