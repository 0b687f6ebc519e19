"""The sandbox of a run: who asks for it, and what the variables of Gemini CLI add."""

import os
from pathlib import Path

import pytest

from support.extensions import write_extension
from support.program import ProgramEnv
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.sandbox.options import SandboxOptions, resolve_sandbox, sandbox_notes, sandbox_options
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.workspace.sandbox.container.options import ContainerOptions
from tejat.workspace.sandbox.types import SandboxMount


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def load_config(machine: ProgramEnv, **settings: object) -> RunConfig:
    machine.write_user_settings(**settings)
    return load_run_config([str(machine.project)], environment=machine.environment)


def options(machine: ProgramEnv, word: str | None = None, **settings: object) -> SandboxOptions:
    run_config = load_config(machine, **settings)
    return sandbox_options(run_config, resolve_sandbox(word, run_config.settings))


def refusal(machine: ProgramEnv, word: str | None = "docker", **settings: object) -> str:
    with pytest.raises(SandboxUnavailable) as caught:
        options(machine, word, **settings)
    return str(caught.value)


class TestWho:
    @pytest.mark.parametrize("wish", SandboxMode)
    def test_a_flag_wins_over_the_settings(self, machine: ProgramEnv, wish: SandboxMode) -> None:
        settings = load_config(machine, sandbox=False).settings
        assert resolve_sandbox(wish.value, settings).value.mode is wish

    @pytest.mark.parametrize(("setting", "found"), [(True, SandboxMode.REQUIRED), (False, SandboxMode.OFF)])
    def test_without_one_the_settings_count(self, machine: ProgramEnv, setting: bool, found: SandboxMode) -> None:
        assert resolve_sandbox(None, load_config(machine, sandbox=setting).settings).value.mode is found

    def test_the_administrator_has_the_last_word(self, machine: ProgramEnv) -> None:
        admin = machine.base / "admin"
        admin.mkdir(mode=0o755)
        (admin / "settings.json").write_text('{"sandbox": true}')
        (admin / "settings.json").chmod(0o644)
        machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        assert resolve_sandbox("off", load_config(machine).settings).value.mode is SandboxMode.REQUIRED

    def test_sandboxing_of_tools_is_a_required_sandbox(self, machine: ProgramEnv) -> None:
        settings = load_config(machine, security={"toolSandboxing": True}, tools={"sandbox": "off"}).settings
        assert resolve_sandbox(None, settings).value.mode is SandboxMode.REQUIRED
        assert resolve_sandbox("off", settings).value.mode is SandboxMode.REQUIRED

    def test_a_word_that_is_none(self, machine: ProgramEnv) -> None:
        with pytest.raises(UsageError, match=r"must be one of auto, required, off, true, .* not 'perhaps'"):
            resolve_sandbox("perhaps", load_config(machine).settings)


class TestNetwork:
    @pytest.mark.parametrize(
        ("key", "member", "network"),
        [
            (None, None, False),
            (True, None, True),
            (None, True, True),
            (True, False, False),
            (False, True, False),
            (True, True, True),
        ],
    )
    def test_the_stricter_of_two_settings_counts(
        self, machine: ProgramEnv, key: bool | None, member: bool | None, network: bool
    ) -> None:
        tools: dict[str, object] = {"sandbox": {"command": "docker", "networkAccess": member}}
        assert options(machine, tools={**tools, "sandboxNetworkAccess": key}).network is network

    def test_a_proxy_that_is_not_supported(self, machine: ProgramEnv) -> None:
        machine.environment["GEMINI_SANDBOX_PROXY_COMMAND"] = "proxy"
        assert "GEMINI_SANDBOX_PROXY_COMMAND is not supported" in refusal(
            machine, "auto", tools={"sandboxNetworkAccess": True}
        )
        run_config = load_config(machine)
        wanted = resolve_sandbox(None, run_config.settings)
        assert sandbox_options(run_config, wanted).is_offline
        assert sandbox_notes(run_config, wanted) == (
            "GEMINI_SANDBOX_PROXY_COMMAND is not supported: commands have no network at all.",
        )


class TestContainers:
    def test_images(self, machine: ProgramEnv) -> None:
        assert options(machine, "docker").container.image == ""
        own = {"sandbox": {"image": "own"}}
        assert options(machine, "docker", **own).container.image == "own"
        tools = {"tools": {"sandbox": {"command": "docker", "image": "theirs"}}}
        assert options(machine, None, **own, **tools).container.image == "theirs"
        machine.environment["GEMINI_SANDBOX_IMAGE"] = "named"
        assert options(machine, None, **own, **tools).container.image == "named"

    def test_what_the_client_gets(self, machine: ProgramEnv) -> None:
        machine.environment |= {"DOCKER_HOST": "unix:///x", "GEMINI_API_KEY": "k" * 20, "SANDBOX_ENV": "A=1, B=2=3"}
        container = options(machine, "docker").container
        assert dict(container.environment) == {"A": "1", "B": "2=3"}
        assert dict(container.client_environment).keys() == {"HOME", "PATH", "DOCKER_HOST"}
        assert container.source == "--sandbox"

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("SANDBOX_FLAGS", "--privileged", "--privileged"),
            ("SANDBOX_ENV", "BASH_ENV=/x", "BASH_ENV"),
            ("SANDBOX_ENV", "NAME", "NAME=VALUE"),
            ("SANDBOX_MOUNTS", "relative:/x", "FROM:TO:ro"),
            ("SANDBOX_MOUNTS", "/etc:/x:rwx", "FROM:TO:ro"),
            ("SANDBOX_MOUNTS", "/missing/place", "does not exist"),
            ("BUILD_SANDBOX", "1", "tejat sandbox build"),
        ],
    )
    def test_variables_that_cannot_be_kept(self, machine: ProgramEnv, name: str, value: str, said: str) -> None:
        machine.environment[name] = value
        assert said in refusal(machine)

    @pytest.mark.parametrize("name", ["SANDBOX_FLAGS", "SANDBOX_ENV", "BUILD_SANDBOX"])
    def test_they_do_not_matter_without_a_container(self, machine: ProgramEnv, name: str) -> None:
        machine.environment[name] = "true"
        assert options(machine).container == ContainerOptions()


class TestPaths:
    def test_mounts(self, machine: ProgramEnv) -> None:
        data = machine.base / "data"
        data.mkdir()
        machine.environment["SANDBOX_MOUNTS"] = f"{data}, {data}:/data, {data}::rw"
        real = os.path.realpath(data)
        assert options(machine).mounts == (
            SandboxMount(real, real),
            SandboxMount(real, "/data"),
            SandboxMount(real, real, is_writable=True),
        )

    @pytest.mark.parametrize("path", ["", ".gemini", ".config/tejat", "project/.env", ".aws/credentials", ".netrc"])
    def test_sensitive_paths_are_never_shown(self, machine: ProgramEnv, path: str) -> None:
        place = machine.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.name.startswith((".env", ".netrc", "credentials")):
            place.touch()
        else:
            place.mkdir(exist_ok=True)
        run_config = load_config(machine, tools={"sandboxAllowedPaths": [str(place)]})
        wanted = resolve_sandbox(None, run_config.settings)
        assert sandbox_options(run_config, wanted).mounts == ()
        assert sandbox_notes(run_config, wanted) == (
            f"tools.sandboxAllowedPaths: {str(place).rstrip('/')} is never mounted in the sandbox.",
        )
        machine.environment["SANDBOX_MOUNTS"] = str(place)
        assert "is never mounted in the sandbox" in refusal(machine, "auto")

    def test_of_all_settings(self, machine: ProgramEnv) -> None:
        for name in ("one", "two"):
            (machine.base / name).mkdir()
        one, two = (os.path.realpath(machine.base / name) for name in ("one", "two"))
        tools = {"sandboxAllowedPaths": [one], "sandbox": {"enabled": True, "allowedPaths": [two, one]}}
        assert options(machine, tools=tools).mounts == (SandboxMount(one, one), SandboxMount(two, two))


def test_extensions_are_shown_without_the_values_of_their_settings(machine: ProgramEnv) -> None:
    extensions = machine.home / ".gemini" / "extensions"
    write_extension(extensions / "plain", files={"run.sh": "#!/bin/sh\n"})
    valued = write_extension(extensions / "valued", files={"run.sh": "#!/bin/sh\n"})
    (valued / ".env").write_text("A=b")
    write_extension(extensions / "unused", is_new=True)
    mounts = options(machine, "auto").mounts
    assert all(mount.source == mount.target and not mount.is_writable for mount in mounts)
    shown = sorted(os.path.relpath(mount.source, extensions) for mount in mounts)
    assert shown == ["plain", *(f"valued/{name}" for name in sorted(os.listdir(valued)) if name != ".env")]
