"""Commands in containers: how the client is called, what they can do, and what is left of them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pytest

from support.container_engine import IMAGE, ContainerStandIn
from support.wait import wait_until
from tejat.workspace.control_paths.search import FoundControlPaths
from tejat.workspace.sandbox.container.engine import ContainerEngine
from tejat.workspace.sandbox.container.options import RUNSC, ContainerOptions
from tejat.workspace.sandbox.container.sandbox import ContainerSandbox
from tejat.workspace.sandbox.types import SandboxMount, SandboxPolicy


@pytest.fixture
def place() -> Generator[Path]:
    """Not below /tmp, which commands see another one of."""
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="container-", dir="/var/tmp")))
    for name in ("root/.git/hooks", "root/sub/.git", "root/.ssh", "data/secret", "temporary", "state"):
        (top / name).mkdir(parents=True)
    (top / "root" / ".git" / "config").write_text("[core]\n")
    yield top
    shutil.rmtree(top)


@pytest.fixture
def stand_in(place: Path) -> ContainerStandIn:
    return ContainerStandIn(place / "engine")


def make_sandbox(stand_in: ContainerStandIn, place: Path, **options: object) -> ContainerSandbox:
    engine = ContainerEngine(str(stand_in.path / "podman"), {"PATH": os.defpath, "HOME": "/home/me"})
    given = ContainerOptions(**options)  # type: ignore[arg-type]
    return ContainerSandbox(engine, given, image=IMAGE, state=str(place / "state"), session="s1")


def make_policy(place: Path, *, network: bool = False, mounts: Sequence[SandboxMount] = ()) -> SandboxPolicy:
    root = place / "root"
    return SandboxPolicy(
        writable_roots=(str(root),),
        temp_directory=str(place / "temporary"),
        read_only_paths=((".git/config", False), (".git/hooks", True), (".envrc", False), (".claude", True)),
        hidden_paths=(str(root / ".ssh"), str(place / "data" / "secret")),
        network=network,
        blocked_paths=(".claude",),
        found=FoundControlPaths(git_directories=(str(root / "sub" / ".git"),)),
        mounts=tuple(mounts),
    )


def run(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        arguments, cwd=directory, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def options_of(argv: Sequence[str], name: str) -> list[str]:
    return [argv[index + 1] for index, word in enumerate(argv) if word == name]


class TestCommandLine:
    def run_true(self, stand_in: ContainerStandIn, place: Path, policy: SandboxPolicy, **options: object) -> list[str]:
        sandbox = make_sandbox(stand_in, place, **options)
        wrapped = sandbox.wrap(["/bin/bash", "-c", "true"], policy, directory=str(place / "root"))
        done = run(wrapped.arguments, place / "root", {"LANG": "C", **wrapped.environment})
        wrapped.clean_up()
        assert done.returncode == 0, done.stderr
        return stand_in.calls("run")[-1]["argv"]

    def test_nothing_is_left_open(self, stand_in: ContainerStandIn, place: Path) -> None:
        argv = self.run_true(stand_in, place, make_policy(place))
        assert {"--rm", "--interactive", "--init", "--read-only"} <= set(argv)
        pairs = {
            "--pull": "never",
            "--entrypoint": "",
            "--workdir": str(place / "root"),
            "--user": f"{os.geteuid()}:{os.getegid()}",
            "--cap-drop": "ALL",
            "--security-opt": "no-new-privileges",
            "--pids-limit": "4096",
            "--network": "none",
        }
        assert {name: options_of(argv, name) for name in pairs} == {name: [value] for name, value in pairs.items()}
        assert options_of(argv, "--name")[0].startswith("tejat-")
        assert "tejat.session=s1" in options_of(argv, "--label")
        assert options_of(argv, "--userns") == ([] if os.geteuid() == 0 else ["keep-id"])
        assert argv[-4:] == [IMAGE, "bash", "-c", "true"]
        assert "--runtime" not in argv

    def test_mounts(self, stand_in: ContainerStandIn, place: Path) -> None:
        data = str(place / "data")
        argv = self.run_true(stand_in, place, make_policy(place, mounts=[SandboxMount(data, data)]))
        root = f"{place}/root"
        mounts = options_of(argv, "--mount")
        assert f"type=bind,source={place}/temporary,target=/tmp" in mounts
        assert f"type=bind,source={root},target={root}" in mounts
        assert f"type=bind,source={root}/.git,target={root}/.git" in mounts  # keeps it from being moved
        for path in (f"{root}/.git/config", f"{root}/.git/hooks", data):
            assert f"type=bind,source={path},target={path},readonly" in mounts
        for hidden in (f"{root}/.ssh", f"{data}/secret"):
            assert f"type=bind,source={place}/state/empty,target={hidden},readonly" in mounts
        targets = [mount.partition("target=")[2].partition(",")[0] for mount in mounts]
        assert all(target == "/tmp" or target.startswith((root, data)) for target in targets)

    def test_network_runtime_and_flags(self, stand_in: ContainerStandIn, place: Path) -> None:
        policy = make_policy(place, network=True)
        argv = self.run_true(stand_in, place, policy, engine=RUNSC, flags=("--memory=1g",))
        assert options_of(argv, "--network") == []
        assert options_of(argv, "--runtime") == [RUNSC]
        assert "--memory=1g" in argv

    def test_paths_with_commas(self, stand_in: ContainerStandIn, place: Path) -> None:
        odd = place / 'a,"b'
        odd.mkdir()
        argv = self.run_true(stand_in, place, make_policy(place, mounts=[SandboxMount(str(odd), "/tmp/data")]))
        assert f'type=bind,"source={place}/a,""b",target=/tmp/data,readonly' in options_of(argv, "--mount")

    def test_mount_points_below_tmp_belong_to_the_user(self, stand_in: ContainerStandIn, place: Path) -> None:
        """An engine without root would create them as another user."""
        (place / "file").touch()
        mounts = [SandboxMount(str(place / "data"), "/tmp/a/data"), SandboxMount(str(place / "file"), "/tmp/file")]
        wrapped = make_sandbox(stand_in, place).wrap(["/bin/true"], make_policy(place, mounts=mounts), directory="/")
        assert (place / "temporary" / "a" / "data").is_dir()
        assert (place / "temporary" / "file").is_file()
        assert run(wrapped.arguments, place, wrapped.environment).returncode == 0
        wrapped.clean_up()


class TestEnvironment:
    def test_values_never_stand_on_a_command_line(self, stand_in: ContainerStandIn, place: Path) -> None:
        sandbox = make_sandbox(stand_in, place, environment=(("ADDED", "added-value"),))
        wrapped = sandbox.wrap(["/bin/bash", "-c", "env"], make_policy(place), directory=str(place / "root"))
        given = {"TOKEN": "token-value", "VIRTUAL_ENV": f"{place}/root/.venv", "JAVA_HOME": "/opt/java"}
        done = run(wrapped.arguments, place / "root", {**given, "DOCKER_HOST": "tcp://evil", **wrapped.environment})
        wrapped.clean_up()
        seen = {name: value for name, _, value in (line.partition("=") for line in done.stdout.splitlines())}
        assert {name: seen.get(name) for name in ("TOKEN", "ADDED", "VIRTUAL_ENV", "HOME", "TMPDIR")} == {
            "TOKEN": "token-value",
            "ADDED": "added-value",
            "VIRTUAL_ENV": f"{place}/root/.venv",
            "HOME": "/tmp/home",
            "TMPDIR": "/tmp",
        }
        assert not {"JAVA_HOME", "DOCKER_HOST"} & set(seen)
        call = stand_in.calls("run")[0]
        assert not any("-value" in word for word in (*wrapped.arguments, *call["argv"]))
        assert call["environment"]["HOME"] == "/home/me"
        assert "DOCKER_HOST" not in call["environment"]


class TestRunning:
    def test_what_a_command_can_do(self, stand_in: ContainerStandIn, place: Path) -> None:
        sandbox = make_sandbox(stand_in, place)
        script = (
            "echo made > made; echo x >> .git/config; mv .git .moved; ls .ssh; echo t > /tmp/t; echo $((6 * 7)); "
            "cat; exit 7"
        )
        policy = make_policy(place)
        wrapped = sandbox.wrap(["/bin/bash", "-c", script], policy, directory=str(place / "root"))
        done = subprocess.run(
            wrapped.arguments, env=wrapped.environment, input=b"input", capture_output=True, timeout=60, check=False
        )
        wrapped.clean_up()
        sandbox.sweep()
        assert (done.returncode, done.stdout) == (7, b"42\ninput")
        assert (place / "root" / "made").read_text() == "made\n"
        assert (place / "root" / ".git" / "config").read_text() == "[core]\n"
        assert (place / "temporary" / "t").exists()
        # It has ended by itself: nothing has to be removed.
        assert stand_in.calls("rm") == []
        assert os.listdir(place / "state" / "containers") == []

    def test_missing_control_files_are_not_protected(self, stand_in: ContainerStandIn, place: Path) -> None:
        sandbox = make_sandbox(stand_in, place)
        wrapped = sandbox.wrap(["/bin/true"], make_policy(place), directory=str(place / "root"))
        wrapped.clean_up()
        sandbox.sweep()
        assert {f"{place}/root/.claude", f"{place}/root/.envrc"} <= set(wrapped.unprotected_paths)
        assert not (place / "root" / ".claude").exists()

    def test_a_program_in_a_root_keeps_its_path(self, stand_in: ContainerStandIn, place: Path) -> None:
        program = place / "root" / "tool"
        program.write_text("#!/bin/sh\necho own tool\n")
        program.chmod(0o755)
        wrapped = make_sandbox(stand_in, place).wrap([str(program)], make_policy(place), directory=str(place / "root"))
        assert run(wrapped.arguments, place, wrapped.environment).stdout == "own tool\n"
        wrapped.clean_up()

    def test_one_that_is_killed_is_removed(self, stand_in: ContainerStandIn, place: Path) -> None:
        sandbox = make_sandbox(stand_in, place)
        wrapped = sandbox.wrap(["/bin/sleep", "60"], make_policy(place), directory=str(place / "root"))
        process = subprocess.Popen(wrapped.arguments, env=dict(wrapped.environment), start_new_session=True)
        wait_until(lambda: bool(stand_in.calls("run")))
        os.killpg(process.pid, 9)
        process.wait()
        wrapped.clean_up()
        wrapped.clean_up()
        sandbox.sweep()
        name = options_of(stand_in.calls("run")[0]["argv"], "--name")[0]
        assert [call["argv"] for call in stand_in.calls("kill")] == [["kill", name]]
        assert [call["argv"] for call in stand_in.calls("rm")] == [["rm", "--force", name]]
        assert os.listdir(place / "state" / "containers") == []
        assert wrapped.stop_command[-2:] == (str(stand_in.path / "podman"), name)

    def test_one_that_could_not_start_is_removed(self, stand_in: ContainerStandIn, place: Path) -> None:
        stand_in.configure(images=[])
        sandbox = make_sandbox(stand_in, place)
        wrapped = sandbox.wrap(["/bin/true"], make_policy(place), directory=str(place / "root"))
        done = run(wrapped.arguments, place, wrapped.environment)
        assert (done.returncode, done.stderr) == (125, "Error: no such image\n")
        wrapped.clean_up()
        sandbox.sweep()
        assert len(stand_in.calls("rm")) == 1

    def test_containers_of_sessions_that_are_gone_are_removed(self, stand_in: ContainerStandIn, place: Path) -> None:
        sandbox = make_sandbox(stand_in, place)
        policy, directory = make_policy(place), str(place / "root")
        running = sandbox.wrap(["/bin/sleep", "60"], policy, directory=directory)
        left = sandbox.wrap(["/bin/sleep", "60"], policy, directory=directory)
        left.detach()  # as a session does that leaves a job behind; nobody waits for it
        stand_in.configure(containers=[running.stop_command[-1], left.stop_command[-1], "tejat-unknown"])
        other = make_sandbox(stand_in, place)
        other.remove_abandoned()
        other.sweep()
        filtered = stand_in.calls("ps")[0]["argv"]
        assert filtered[filtered.index("--filter") + 1].startswith("label=tejat.state=")
        removed = {call["argv"][-1] for call in stand_in.calls("rm")}
        assert removed == {left.stop_command[-1], "tejat-unknown"}
        running.clean_up()
        sandbox.sweep()


def test_the_launcher_needs_no_package(place: Path) -> None:
    """It is started for every command, so it is one file that imports little."""
    code = "import runpy, sys; runpy.run_path(sys.argv[1]); print(len(sys.modules))"
    from tejat.workspace.sandbox.container import launcher

    done = run([sys.executable, "-I", "-S", "-c", code, launcher.__file__], place, {})
    assert int(done.stdout) < 80
