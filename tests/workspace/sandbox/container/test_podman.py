"""The same with real podman, where it is installed and works."""

import os
import subprocess
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from support.podman import IMAGE, podman_environment
from support.wait import wait_until
from tejat.core.approval.modes import SandboxMode
from tejat.policy.control_files import control_paths, plantable_paths
from tejat.workspace.sandbox.container.options import ContainerOptions, client_environment
from tejat.workspace.sandbox.session_sandbox import SandboxPaths, SessionSandbox


@pytest.fixture(scope="module")
def podman_variables() -> Generator[Mapping[str, str]]:
    with podman_environment() as variables:
        yield variables


@pytest.fixture
def session(podman_variables: Mapping[str, str], tmp_path: Path) -> Generator[SessionSandbox]:
    for name in ("root/.git", "home", "state"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "root" / ".git" / "config").write_text("[core]\n")
    environment = {**os.environ, **podman_variables}
    container = ContainerOptions("podman", "test", image=IMAGE, client_environment=client_environment(environment))
    paths = SandboxPaths(
        roots=(str(tmp_path / "root"),),
        home=str(tmp_path / "home"),
        own_directories=(),
        control_paths=control_paths(),
        blocked_paths=plantable_paths(),
        state_directory=str(tmp_path / "state"),
    )
    with SessionSandbox(SandboxMode.REQUIRED, paths, container=container) as opened:
        yield opened


def podman(podman_variables: Mapping[str, str], *words: str) -> str:
    environment = {**os.environ, **podman_variables}
    return subprocess.run(["podman", *words], env=environment, capture_output=True, text=True, check=True).stdout


def test_commands_are_held(session: SessionSandbox, tmp_path: Path) -> None:
    axes = (session.report.files, session.report.network, session.report.processes, session.report.secrets)
    assert [axis.enforced for axis in axes] == [True] * 4, session.report
    outside = tmp_path / "outside"
    script = f"echo x > made; echo x >> .git/config; mv .git g; echo x > {outside}; echo x > /etc/x; id -u; echo $HOME"
    root = tmp_path / "root"
    wrapped = session.wrap(["/bin/bash", "-c", script], str(root), network=False)
    done = subprocess.run(
        wrapped.arguments, env=dict(wrapped.environment), capture_output=True, text=True, timeout=60, check=False
    )
    wrapped.clean_up()
    assert done.stdout.split() == [str(os.geteuid()), "/tmp/home"], done.stderr
    assert (root / "made").read_text() == "x\n"
    assert (root / "made").stat().st_uid == os.geteuid()
    assert (root / ".git" / "config").read_text() == "[core]\n"
    assert not outside.exists()


def test_a_killed_command_leaves_no_container(
    session: SessionSandbox, podman_variables: Mapping[str, str], tmp_path: Path
) -> None:
    wrapped = session.wrap(["/bin/sleep", "120"], str(tmp_path / "root"), network=False)
    name = wrapped.stop_command[-1]
    process = subprocess.Popen(wrapped.arguments, env=dict(wrapped.environment), start_new_session=True)
    try:
        wait_until(lambda: name in podman(podman_variables, "ps", "--format", "{{.Names}}"), seconds=60)
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    wrapped.clean_up()
    wait_until(lambda: name not in podman(podman_variables, "ps", "--all", "--format", "{{.Names}}"), seconds=60)
