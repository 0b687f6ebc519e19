"""Commands behind Landlock and seccomp alone."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.core.frozen import replace
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox, find_writable_helper_path, helper_paths
from tejat.workspace.sandbox.types import SandboxMount, SandboxPolicy

pytestmark = pytest.mark.skipif(not abi_version(), reason="SANDBOX MISSING: this kernel has no Landlock")


@pytest.fixture
def policy(tmp_path: Path) -> SandboxPolicy:
    top = tmp_path.resolve()
    for name in ("root", "temporary"):
        (top / name).mkdir()
    return SandboxPolicy((str(top / "root"),), str(top / "temporary"), ((".a", True),), (), network=False)


def run(policy: SandboxPolicy, command: str) -> subprocess.CompletedProcess[str]:
    wrapped = LandlockSandbox().wrap(["/bin/bash", "-c", command], policy, directory=policy.writable_roots[0])
    done = subprocess.run(
        wrapped.arguments,
        cwd=policy.writable_roots[0],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    wrapped.clean_up()
    return done


def test_only_roots_and_the_temporary_directory_are_writable(policy: SandboxPolicy, tmp_path: Path) -> None:
    done = run(policy, 'echo 1 > f; echo 2 > "$TMPDIR/g"; echo 3 > ../h; cat f $TMPDIR/g')
    assert done.stdout == "1\n2\n"
    assert "../h: Permission denied" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["root", "temporary"]


def test_it_says_what_it_does_not_guard(policy: SandboxPolicy) -> None:
    root = policy.writable_roots[0]
    hiding = SandboxPolicy(
        policy.writable_roots,
        policy.temp_directory,
        policy.read_only_paths,
        (f"{root}/key", "/elsewhere"),
        network=False,
    )
    wrapped = LandlockSandbox().wrap(["/bin/true"], hiding, directory=root)
    assert wrapped.unprotected_paths == (f"{root}/.a", f"{root}/key")


def test_exit_codes_and_signals_are_those_of_the_command(policy: SandboxPolicy) -> None:
    assert [run(policy, f"exit {code}").returncode for code in (0, 7)] == [0, 7]
    assert run(policy, "kill -KILL $$").returncode == -signal.SIGKILL


def test_odd_names(policy: SandboxPolicy, tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path.resolve()) + b"/-a=b \n\xff"))
    root.mkdir()
    odd = SandboxPolicy((str(root),), policy.temp_directory, (), (), network=False)
    assert run(odd, "echo x > f").stderr == ""
    assert (root / "f").read_text() == "x\n"


def test_output_to_a_file_can_be_opened_again(policy: SandboxPolicy, tmp_path: Path) -> None:
    log = tmp_path / "log"
    wrapped = LandlockSandbox().wrap(
        ["/bin/bash", "-c", "echo 1; echo 2 >> /dev/stdout; echo 3 >> /dev/stderr"],
        policy,
        directory=policy.writable_roots[0],
    )
    with log.open("ab") as file:
        subprocess.run(wrapped.arguments, stdout=file, stderr=file, check=True)
    assert log.read_text() == "1\n2\n3\n"


@pytest.mark.parametrize(
    "action",
    [
        "os.chmod(outside, 0o4755)",
        "os.setxattr(outside, 'user.x', b'x')",
        "os.chown(outside, 12345, -1)",
        "os.chown(outside, -1, 12345)",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "check(libc.shmget(7, 1, 0o1600))",
        "check(libc.semget(7, 1, 0o1600))",
        "check(libc.msgget(7, 0o1600))",
        "fcntl.ioctl(os.open(outside, os.O_RDONLY), 0x40086602, bytes(8))",
    ],
)
def test_what_reaches_beyond_the_roots_without_writing(policy: SandboxPolicy, tmp_path: Path, action: str) -> None:
    outside = tmp_path / "outside"
    outside.touch()
    code = (
        "import ctypes, fcntl, os, resource\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def check(answer):\n"
        "    if answer < 0: raise OSError(ctypes.get_errno(), '')\n"
        f"outside = {str(outside)!r}\n"
        f"try:\n    {action}\nexcept OSError: print('refused')"
    )
    before = outside.stat()
    done = run(policy, f"{shlex.quote(sys.executable)} -I -c {shlex.quote(code)}")
    assert (done.stdout, done.stderr) == ("refused\n", "")
    assert outside.stat() == before


def test_what_builds_do_with_files_still_works(policy: SandboxPolicy) -> None:
    command = (
        "touch a; chmod 755 a; cp -a a b; install -m 600 a c; chown $(id -u):$(id -g) a; touch -d 2001-01-01 a;"
        "tar cf x.tar a b; rm a; tar xf x.tar; git init -q g; cd g; git -c user.name=x -c user.email=x commit"
        " -q --allow-empty -m x; ulimit -n 64"
    )
    done = run(policy, command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_where_the_locking_program_can_be_changed(tmp_path: Path) -> None:
    assert find_writable_helper_path([str(tmp_path)]) is None
    interpreter, installation, library, environment, package = helper_paths()
    assert environment == os.path.realpath(sys.prefix)
    assert find_writable_helper_path([environment]) in helper_paths()
    assert interpreter == os.path.realpath(sys.executable)
    assert find_writable_helper_path(["/none", os.path.dirname(interpreter)]) == interpreter
    assert find_writable_helper_path([installation]) in (interpreter, installation)
    assert find_writable_helper_path([library]) == library
    assert find_writable_helper_path([os.path.dirname(package)]) == package
    assert os.path.isfile(os.path.join(package, "workspace", "sandbox", "exec_helper.py"))


def test_shown_places(policy: SandboxPolicy, tmp_path: Path) -> None:
    top = tmp_path.resolve()
    for name in ("secret/part", "secret/other", "data"):
        (top / name).mkdir(parents=True)
        (top / name / "file").write_text(f"{name}\n")
    mounts = (
        SandboxMount(f"{top}/secret/part", f"{top}/secret/part"),
        SandboxMount(f"{top}/data", f"{top}/data", is_writable=True),
    )
    showing = replace(policy, hidden_paths=(f"{top}/secret",), mounts=mounts)
    done = run(
        showing, "cat ../secret/part/file ../secret/other/file; echo x > ../secret/part/new; echo x > ../data/new"
    )
    assert done.stdout == "secret/part\n"
    assert (top / "data" / "new").exists()
    assert not (top / "secret" / "part" / "new").exists()
