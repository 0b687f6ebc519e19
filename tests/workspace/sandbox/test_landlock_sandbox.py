"""Commands behind Landlock and seccomp alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox, find_writable_helper_path, helper_paths
from tejat.workspace.sandbox.types import SandboxPolicy

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


def test_where_the_locking_program_can_be_changed(tmp_path: Path) -> None:
    assert find_writable_helper_path([str(tmp_path)]) is None
    interpreter, installation, library, package = helper_paths()
    assert interpreter == os.path.realpath(sys.executable)
    assert find_writable_helper_path(["/none", os.path.dirname(interpreter)]) == interpreter
    assert find_writable_helper_path([installation]) in (interpreter, installation)
    assert find_writable_helper_path([library]) == library
    assert find_writable_helper_path([os.path.dirname(package)]) == package
    assert os.path.isfile(os.path.join(package, "workspace", "sandbox", "exec_helper.py"))
