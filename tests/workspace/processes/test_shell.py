"""What a session gives its shell tools: a shell nobody planted, private files for outputs, an end."""

import os
import stat
import time
from pathlib import Path

import pytest

from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.shell import ShellContext, find_shell, find_user_shell, run_without_sandbox
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

OPTIONS = ("--norc", "--noprofile", "-c", "--")


@pytest.fixture
def shell(tmp_path: Path) -> ShellContext:
    return ShellContext(ProcessSupervisor(), JobStore(str(tmp_path / "jobs")), {}, str(tmp_path / "outputs"))


def test_outputs_are_private_and_have_names_of_their_own(shell: ShellContext) -> None:
    before = os.umask(0)
    try:
        with shell.create_output_file("stdout") as one, shell.create_output_file("stdout") as other:
            one.write(b"x")
            names = {one.name, other.name}
    finally:
        os.umask(before)
    assert {os.path.join(shell.outputs, name) for name in os.listdir(shell.outputs)} == names
    assert len(names) == 2
    assert {stat.S_IMODE(os.stat(name).st_mode) for name in names} == {0o600}
    assert stat.S_IMODE(os.stat(shell.outputs).st_mode) == 0o700


def test_tidying_removes_what_is_a_week_old(shell: ShellContext) -> None:
    with shell.create_output_file("stdout") as old, shell.create_output_file("stdout") as new:
        pass
    long_ago = time.time() - 8 * 24 * 3600
    os.utime(old.name, (long_ago, long_ago))
    shell.remove_old_outputs()
    assert os.listdir(shell.outputs) == [os.path.basename(new.name)]


def test_tidying_what_was_never_made(shell: ShellContext) -> None:
    shell.remove_old_outputs()
    assert not os.path.exists(shell.outputs)
    shell.close()
    shell.close()


def test_without_a_sandbox_nothing_is_changed() -> None:
    wrapped = run_without_sandbox(["/bin/bash", "-c", "x"], "/", False)
    assert wrapped.arguments == ("/bin/bash", "-c", "x")
    wrapped.clean_up()


class TestFindShell:
    def plant(self, directory: Path) -> Path:
        directory.mkdir(parents=True)
        planted = directory / "bash"
        planted.write_text("#!/bin/sh\n")
        planted.chmod(0o755)
        return planted

    def test_the_system_has_one(self) -> None:
        assert find_shell(["/somewhere"], "") == ("/bin/bash", *OPTIONS)

    def test_where_everything_is_a_workspace(self) -> None:
        assert find_shell(["/"], "") == ("/bin/bash", *OPTIONS)

    def test_none_from_a_root(self, tmp_path: Path) -> None:
        self.plant(tmp_path / "root" / "bin")
        (tmp_path / "link").symlink_to("root/bin")
        search_path = f"{tmp_path}/root/bin:{tmp_path}/link:relative::/missing"
        roots = [str(tmp_path.resolve() / "root"), os.path.dirname(os.path.realpath("/bin/bash"))]
        assert find_shell(roots, search_path) == ("/bin/sh", "-c", "--")

    def test_from_the_path_where_the_system_has_none(self, tmp_path: Path) -> None:
        planted = self.plant(tmp_path / "elsewhere")
        (tmp_path / "plain").mkdir()
        (tmp_path / "plain" / "bash").write_text("no program")
        roots = [os.path.dirname(os.path.realpath("/bin/bash"))]
        assert find_shell(roots, f"{tmp_path}/plain:{tmp_path}/elsewhere") == (str(planted), *OPTIONS)

    def test_one_that_cannot_be_executed_where_there_is_no_other(self, tmp_path: Path) -> None:
        (tmp_path / "bash").write_text("no program")
        roots = [os.path.dirname(os.path.realpath("/bin/bash"))]
        assert find_shell(roots, str(tmp_path)) == (f"{tmp_path}/bash", *OPTIONS)


class TestOwnShell:
    def test_by_its_variable(self, tmp_path: Path) -> None:
        assert find_user_shell({"SHELL": "/bin/sh"}, [str(tmp_path)]) == ("/bin/sh", "-c")

    def test_never_one_of_the_project(self, tmp_path: Path) -> None:
        planted = tmp_path / "bash"
        planted.write_text("#!/bin/sh\n")
        planted.chmod(0o755)
        alias = tmp_path.parent / f"{tmp_path.name}-alias"
        alias.symlink_to(planted)
        usual = find_shell([str(tmp_path)], os.defpath)
        for path in (planted, alias):
            assert find_user_shell({"SHELL": str(path), "PATH": os.defpath}, [str(tmp_path)]) == usual

    @pytest.mark.parametrize("path", ["", "bash"])
    def test_no_path_is_no_choice(self, tmp_path: Path, path: str) -> None:
        assert find_user_shell({"SHELL": path}, [str(tmp_path)]) == find_shell([str(tmp_path)], os.defpath)

    @pytest.mark.parametrize("path", ["/does/not/exist", "/", "/etc/passwd"])
    def test_one_that_does_not_start_is_not_replaced(self, tmp_path: Path, path: str) -> None:
        assert find_user_shell({"SHELL": path}, [str(tmp_path)]) == (path, "-c")
