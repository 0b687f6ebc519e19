"""Commands behind Landlock and seccomp alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.workspace.landlock import version
from tejat.workspace.sandbox.landlocked import Landlocked, can_be_changed, own_program
from tejat.workspace.sandbox.plan import Fence

pytestmark = pytest.mark.skipif(not version(), reason="SANDBOX MISSING: this kernel has no Landlock")


@pytest.fixture
def fence(tmp_path: Path) -> Fence:
    top = tmp_path.resolve()
    for name in ("root", "temporary"):
        (top / name).mkdir()
    return Fence((str(top / "root"),), str(top / "temporary"), ((".a", True),), (), network=False)


def run(fence: Fence, command: str) -> subprocess.CompletedProcess[str]:
    wrapped = Landlocked().wrap(["/bin/bash", "-c", command], fence, directory=fence.writable[0])
    done = subprocess.run(
        wrapped.arguments,
        cwd=fence.writable[0],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    wrapped.clean_up()
    return done


def test_only_roots_and_the_temporary_directory_are_writable(fence: Fence, tmp_path: Path) -> None:
    done = run(fence, 'echo 1 > f; echo 2 > "$TMPDIR/g"; echo 3 > ../h; cat f $TMPDIR/g')
    assert done.stdout == "1\n2\n"
    assert "../h: Permission denied" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["root", "temporary"]


def test_it_says_what_it_does_not_guard(fence: Fence) -> None:
    root = fence.writable[0]
    hiding = Fence(fence.writable, fence.temporary, fence.read_only, (f"{root}/key", "/elsewhere"), network=False)
    wrapped = Landlocked().wrap(["/bin/true"], hiding, directory=root)
    assert wrapped.unguarded == (f"{root}/.a", f"{root}/key")


def test_exit_codes_and_signals_are_those_of_the_command(fence: Fence) -> None:
    assert [run(fence, f"exit {code}").returncode for code in (0, 7)] == [0, 7]
    assert run(fence, "kill -KILL $$").returncode == -signal.SIGKILL


def test_odd_names(fence: Fence, tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path.resolve()) + b"/-a=b \n\xff"))
    root.mkdir()
    odd = Fence((str(root),), fence.temporary, (), (), network=False)
    assert run(odd, "echo x > f").stderr == ""
    assert (root / "f").read_text() == "x\n"


def test_output_to_a_file_can_be_opened_again(fence: Fence, tmp_path: Path) -> None:
    log = tmp_path / "log"
    wrapped = Landlocked().wrap(
        ["/bin/bash", "-c", "echo 1; echo 2 >> /dev/stdout; echo 3 >> /dev/stderr"], fence, directory=fence.writable[0]
    )
    with log.open("ab") as file:
        subprocess.run(wrapped.arguments, stdout=file, stderr=file, check=True)
    assert log.read_text() == "1\n2\n3\n"


def test_where_the_locking_program_can_be_changed(tmp_path: Path) -> None:
    assert can_be_changed([str(tmp_path)]) is None
    interpreter, installation, library, package = own_program()
    assert interpreter == os.path.realpath(sys.executable)
    assert can_be_changed(["/none", os.path.dirname(interpreter)]) == interpreter
    assert can_be_changed([installation]) in (interpreter, installation)
    assert can_be_changed([library]) == library
    assert can_be_changed([os.path.dirname(package)]) == package
    assert os.path.isfile(os.path.join(package, "workspace", "sandbox", "lock_in.py"))
