"""Which container is used, and why one is refused."""

import os
from pathlib import Path

import pytest

from support.container_engine import IMAGE, ContainerStandIn
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import SandboxUnavailable
from tejat.workspace.sandbox.container.options import ContainerOptions
from tejat.workspace.sandbox.selection import select_sandbox


@pytest.fixture
def stand_in(tmp_path: Path) -> ContainerStandIn:
    return ContainerStandIn(tmp_path / "engine")


def options(stand_in: ContainerStandIn, engine: str = "docker", *, image: str = "", home: str = "") -> ContainerOptions:
    client = (("PATH", stand_in.search_path),)
    return ContainerOptions(engine, "file:3", home, image=image, client_environment=client)


def select(given: ContainerOptions, tmp_path: Path, *, root: str = "") -> str:
    roots = [root or str(tmp_path / "project")]
    sandbox, report = select_sandbox(
        SandboxMode.REQUIRED, roots=roots, state_directory=str(tmp_path / "state"), container=given
    )
    assert sandbox is not None
    assert sandbox.is_container
    assert report.start_seconds is not None
    assert report.files.enforced
    return f"{sandbox.name}: {report.sandbox}"


def refusal(given: ContainerOptions, tmp_path: Path, *, root: str = "") -> SandboxUnavailable:
    with pytest.raises(SandboxUnavailable) as caught:
        select(given, tmp_path, root=root)
    return caught.value


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_named_engine_is_used(stand_in: ContainerStandIn, tmp_path: Path, engine: str) -> None:
    assert select(options(stand_in, engine), tmp_path) == f"{engine}: {engine} ({IMAGE})"


def test_runsc_must_be_a_runtime_of_the_service(stand_in: ContainerStandIn, tmp_path: Path) -> None:
    assert "runtime runsc is not configured" in str(refusal(options(stand_in, "runsc"), tmp_path))
    stand_in.configure(runtimes=["runc", "runsc"])
    assert select(options(stand_in, "runsc"), tmp_path) == f"runsc: runsc ({IMAGE})"


def test_a_refusal_says_who_what_and_what_to_do(stand_in: ContainerStandIn, tmp_path: Path) -> None:
    stand_in.configure(dead=True)
    lines = str(refusal(options(stand_in), tmp_path)).splitlines()
    assert lines[:3] == [
        "Cannot use the sandbox docker, set by file:3.",
        "docker version: Cannot connect to the service. Is it running?",
        "Start the docker service.",
    ]
    assert stand_in.calls("run") == []


def test_a_program_that_is_missing_or_in_a_root(stand_in: ContainerStandIn, tmp_path: Path) -> None:
    there = options(stand_in)
    missing = ContainerOptions("docker", "x", client_environment=(("PATH", str(tmp_path)),))
    assert "docker was not found on PATH." in str(refusal(missing, tmp_path))
    only = ContainerOptions("docker", "x", client_environment=(("PATH", str(stand_in.path)),))
    assert "docker was not found on PATH." in str(refusal(only, tmp_path, root=str(tmp_path / "engine")))
    assert select(there, tmp_path)


class TestImages:
    def test_the_one_of_gemini_cli_comes_last(self, stand_in: ContainerStandIn, tmp_path: Path) -> None:
        stand_in.configure(images=["gemini-cli-sandbox", "mine:1"])
        assert select(options(stand_in), tmp_path) == "docker: docker (gemini-cli-sandbox)"
        assert select(options(stand_in, image="mine:1"), tmp_path) == "docker: docker (mine:1)"

    def test_none(self, stand_in: ContainerStandIn, tmp_path: Path) -> None:
        stand_in.configure(images=[])
        refused = refusal(options(stand_in), tmp_path)
        assert "tejat sandbox build" in str(refused)
        assert refused.pull_command == ()

    def test_a_named_one_is_never_fetched_unasked(self, stand_in: ContainerStandIn, tmp_path: Path) -> None:
        refused = refusal(options(stand_in, image="far/away:2"), tmp_path)
        assert refused.pull_command == (str(stand_in.path / "docker"), "pull", "far/away:2")
        assert " ".join(refused.pull_command) in str(refused)
        assert stand_in.calls("pull") == []

    def test_a_name_that_is_none(self, stand_in: ContainerStandIn, tmp_path: Path) -> None:
        assert "is not a valid image name" in str(refusal(options(stand_in, image="--privileged"), tmp_path))


@pytest.mark.parametrize("root", ["/", "/home", "/home/me", "/home/me/.gemini/tmp"])
def test_roots_that_no_container_gets(stand_in: ContainerStandIn, tmp_path: Path, root: str) -> None:
    given = ContainerOptions(
        *("docker", "x", "/home/me", ("/home/me/.gemini",)), client_environment=(("PATH", stand_in.search_path),)
    )
    assert "cannot be mounted" in str(refusal(given, tmp_path, root=root))
    assert select(given, tmp_path, root=os.path.realpath(tmp_path / "project"))


@pytest.mark.parametrize("name", ["lxc", "windows-native", "/usr/bin/mine", "sandbox-exec"])
def test_sandboxes_that_are_not_supported(stand_in: ContainerStandIn, tmp_path: Path, name: str) -> None:
    text = str(refusal(options(stand_in, name), tmp_path))
    assert text.startswith(f"Cannot use the sandbox {name}, set by file:3.\n")
    assert stand_in.calls("version") == []


def test_an_engine_that_does_not_hold_commands_is_refused(stand_in: ContainerStandIn, tmp_path: Path) -> None:
    stand_in.configure(bwrap="/usr/bin/env")  # fails: nothing runs
    assert "commands do not run in it" in str(refusal(options(stand_in), tmp_path))
