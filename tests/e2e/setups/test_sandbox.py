"""Sandbox settings of Gemini CLI: the named sandbox is used, or nothing runs."""

import json
import os
import shutil
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from support.container_engine import ContainerStandIn
from support.podman import IMAGE, podman_environment
from support.program import ProgramEnv, ProgramResult, script_answer, text_script

KEY = "model-key-0123456789"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    machine.environment["GEMINI_API_KEY"] = KEY
    return machine


@pytest.fixture
def stand_in(machine: ProgramEnv) -> ContainerStandIn:
    """A stand-in for docker and podman on the PATH of the program."""
    stand_in = ContainerStandIn(machine.base / "engine")
    machine.environment["PATH"] = stand_in.search_path
    return stand_in


def run_command(machine: ProgramEnv, command: str, *words: str, **changes: str | None) -> ProgramResult:
    """A scripted run that calls the shell once, allowed to do what it wants."""
    call = script_answer(calls=[("run_shell_command", {"command": command})])
    model = machine.script(call + text_script("Done."))
    return machine.run("-m", model, "-y", *words, "-p", "go", **changes)


def option(argv: list[str], name: str) -> list[str]:
    return [argv[index + 1] for index, word in enumerate(argv) if word == name]


class TestDocker:
    @pytest.fixture(autouse=True)
    def settings(self, machine: ProgramEnv) -> Path:
        return machine.write_user_settings(tools={"sandbox": "docker"})

    def test_without_the_program_nothing_runs(self, machine: ProgramEnv, settings: Path) -> None:
        programs = machine.base / "programs"
        programs.mkdir()
        for name in ("bash", "sh", "touch"):
            (programs / name).symlink_to(shutil.which(name) or name)
        done = run_command(machine, "touch marker", PATH=str(programs))
        assert done.code == 44
        assert f"Cannot use the sandbox docker, set by {settings}:1." in done.stderr
        assert "docker was not found on PATH." in done.stderr
        assert not (machine.project / "marker").exists()

    def test_a_service_that_does_not_answer(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        stand_in.configure(dead=True)
        done = run_command(machine, "touch marker")
        assert (done.code, stand_in.calls("run")) == (44, [])
        assert "docker version: Cannot connect to the service." in done.stderr
        assert "Start the docker service." in done.stderr
        assert not (machine.project / "marker").exists()

    def test_commands_run_in_containers(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        outside = machine.home / "outside"
        done = run_command(machine, f"echo inside > made; echo x > {outside}; env > environment")
        assert done.code == 0, done.stderr
        assert (machine.project / "made").read_text() == "inside\n"
        assert not outside.exists()
        assert KEY not in (machine.project / "environment").read_text()
        call = stand_in.calls("run")[-1]
        argv = call["argv"]
        assert (option(argv, "--network"), option(argv, "--pull")) == (["none"], ["never"])
        project = os.path.realpath(machine.project)
        assert f"type=bind,source={project},target={project}" in option(argv, "--mount")
        assert KEY not in json.dumps(call)
        assert "GEMINI_API_KEY" not in json.dumps(call)

    def test_what_runs_nothing_is_not_stopped(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        stand_in.configure(dead=True)
        assert machine.run("--version").code == 0
        assert machine.run("policy", "explain", "write_file").code == 0
        assert machine.run("sessions", "list").code == 0
        doctor = machine.run("doctor")
        assert doctor.code == 44
        assert "Cannot connect to the service" in doctor.stdout
        assert "git" in doctor.stdout  # the other checks are there too

    def test_doctor_says_what_is_inside(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        lines = [line.split(maxsplit=2) for line in machine.run("doctor").stdout.splitlines()]
        shown = {name: detail for _, name, detail in (line for line in lines if len(line) == 3)}
        assert shown["in"].endswith("docker (tejat-sandbox)")
        assert shown["inside"] == "shell commands, tool commands, MCP servers with a command"
        assert "hooks" in shown["outside"]
        assert "seconds for each command" in shown["start"]
        assert stand_in.calls("version") != []

    def test_a_missing_image_is_not_fetched(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        done = run_command(machine, "touch marker", GEMINI_SANDBOX_IMAGE="far/away:1")
        assert (done.code, stand_in.calls("pull")) == (44, [])
        assert f"Pull it with: {stand_in.path}/docker pull far/away:1" in done.stderr


class TestValues:
    @pytest.mark.parametrize(
        ("value", "words", "variable", "sandbox"),
        [
            ({"command": "podman", "image": "x"}, [], None, "podman (x)"),
            ({"command": "podman", "image": "x"}, ["-s"], None, "podman (x)"),
            ({"command": "podman", "image": "x"}, ["--sandbox=true"], None, "podman (x)"),
            ({"command": "podman", "image": "x"}, [], "true", "podman (x)"),
            ({"enabled": False}, [], None, None),
            (True, ["--no-sandbox"], None, None),
            (False, [], "docker", "docker (tejat-sandbox)"),
            ("docker", ["--sandbox=podman"], None, "podman (tejat-sandbox)"),
            ("docker", [], "off", None),
        ],
    )
    def test_values(
        self,
        machine: ProgramEnv,
        stand_in: ContainerStandIn,
        value: object,
        words: list[str],
        variable: str | None,
        sandbox: str | None,
    ) -> None:
        stand_in.configure(images=["x", "tejat-sandbox"])
        machine.write_user_settings(tools={"sandbox": value})
        done = run_command(machine, "echo name=$SANDBOX > made", *words, GEMINI_SANDBOX=variable)
        assert done.code == 0, done.stderr
        name, _, image = (sandbox or "").partition(" ")
        assert (machine.project / "made").read_text() == f"name={name}\n"
        assert [call["argv"][-7] for call in stand_in.calls("run")][-1:] == ([image.strip("()")] if sandbox else [])

    def test_a_project_does_not_switch_it_off(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        machine.write_user_settings(tools={"sandbox": "docker"})
        machine.write_project_settings(tools={"sandbox": False})
        assert run_command(machine, "true", "--skip-trust").code == 0
        assert stand_in.calls("run") != []

    def test_what_is_not_supported(self, machine: ProgramEnv) -> None:
        done = run_command(machine, "touch marker", GEMINI_SANDBOX="lxc")
        assert done.code == 44
        assert "Cannot use the sandbox lxc, set by GEMINI_SANDBOX." in done.stderr
        assert not (machine.project / "marker").exists()

    def test_variables_of_containers(self, machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
        data = machine.base / "data"
        data.mkdir()
        variables = {
            "SANDBOX_FLAGS": "--memory 1g",
            "SANDBOX_ENV": "GREETING=hello",
            "SANDBOX_MOUNTS": f"{data}:/tmp/data,{data}::rw",
        }
        done = run_command(machine, f"echo $GREETING > {data}/made; touch /tmp/data/x", "--sandbox=docker", **variables)
        assert done.code == 0, done.stderr
        assert (data / "made").read_text() == "hello\n"
        assert not (data / "x").exists()
        assert "--memory=1g" in stand_in.calls("run")[-1]["argv"]


class TestAllowedPaths:
    def test_a_secret_place_can_be_read(self, machine: ProgramEnv) -> None:
        place = machine.home / ".kube"
        place.mkdir()
        (place / "config").write_text("cluster\n")
        command = f"cat {place}/config > seen; echo x >> {place}/config"
        machine.write_user_settings(tools={"sandbox": True})
        assert run_command(machine, command).code == 0
        assert (machine.project / "seen").read_text() == ""
        machine.write_user_settings(tools={"sandbox": True, "sandboxAllowedPaths": [str(place)]})
        assert run_command(machine, command).code == 0
        assert (machine.project / "seen").read_text() == "cluster\n"
        assert (place / "config").read_text() == "cluster\n"

    def test_relative_paths_end_the_run(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(tools={"sandboxAllowedPaths": ["rel"]})
        done = run_command(machine, "true")
        assert done.code == 52
        assert "a list of absolute paths" in done.stderr

    def test_a_project_shows_nothing(self, machine: ProgramEnv) -> None:
        place = machine.home / ".kube"
        place.mkdir()
        (place / "config").write_text("cluster\n")
        path = machine.write_project_settings(tools={"sandboxAllowedPaths": [str(place)]})
        done = run_command(machine, f"cat {place}/config > seen", "--skip-trust")
        assert (machine.project / "seen").read_text() == ""
        assert f"{path}:1: a project cannot add paths to the sandbox." in done.stderr

    def test_sensitive_and_missing_paths_are_named(self, machine: ProgramEnv) -> None:
        paths = [str(machine.home), "/missing/place", str(machine.home / ".gemini")]
        machine.write_user_settings(tools={"sandboxAllowedPaths": paths})
        done = run_command(machine, "true")
        assert done.code == 0
        assert f"{machine.home} is never mounted in the sandbox." in done.stderr
        assert "/missing/place does not exist." in done.stderr


def test_an_image_is_built_from_a_trusted_file(machine: ProgramEnv, stand_in: ContainerStandIn) -> None:
    stand_in.configure(images=[])
    assert machine.run("sandbox", "build", "--sandbox", "podman").code == 0
    argv = stand_in.calls("build")[0]["argv"]
    assert (option(argv, "--tag"), option(argv, "--file")) == (["tejat-sandbox"], ["-"])
    (machine.project / ".gemini").mkdir()
    dockerfile = machine.project / ".gemini" / "sandbox.Dockerfile"
    dockerfile.write_text("FROM scratch\n")
    refused = machine.run("sandbox", "build")
    assert (refused.code != 0, len(stand_in.calls("build"))) == (True, 1)
    assert "not trusted" in refused.stderr
    assert machine.run("trust", "--yes").code == 0
    assert machine.run("sandbox", "build").code == 0
    assert stand_in.calls("build")[1]["argv"][-1] == str(machine.project)
    dockerfile.write_text("FROM elsewhere\n")
    assert machine.run("sandbox", "build").code != 0
    assert len(stand_in.calls("build")) == 2


@pytest.fixture(scope="module")
def podman_variables() -> Generator[Mapping[str, str]]:
    with podman_environment() as variables:
        yield variables


def test_real_podman_refuses_a_write_outside(machine: ProgramEnv, podman_variables: Mapping[str, str]) -> None:
    machine.write_user_settings(tools={"sandbox": {"command": "podman", "image": IMAGE}})
    outside = machine.home / "outside"
    command = f"echo x > made; echo x > {outside}; touch /etc/x && touch wrote"
    done = run_command(machine, command, **podman_variables)
    assert done.code == 0, done.stderr
    assert (machine.project / "made").exists()
    assert not outside.exists()
    assert not (machine.project / "wrote").exists()
