"""The ground of a run: everything that has a say in it, and a folder that may not speak for itself."""

import json
import os
from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import RunConfig, load_run_config
from tejat.core.errors import UsageError


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def load_config(
    machine: ProgramEnv, *more: str, trusts_folder: bool = False, excluded: tuple[str, ...] = ()
) -> RunConfig:
    return load_run_config(
        [str(machine.project), *more],
        environment=machine.environment,
        trusts_folder=trusts_folder,
        excluded_tools=excluded,
    )


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_of_an_empty_machine(machine: ProgramEnv) -> None:
    run_config = load_config(machine)
    assert (
        run_config.roots,
        run_config.environment,
        run_config.environment_file,
        run_config.notes,
        run_config.secrets,
    ) == (
        (str(machine.project),),
        machine.environment,
        None,
        (),
        (),
    )


def test_the_environment_is_the_one_that_is_handed_in(machine: ProgramEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "the-key-of-this-process")
    assert "GEMINI_API_KEY" not in load_config(machine).environment
    assert load_run_config([str(machine.project)]).environment["GEMINI_API_KEY"] == "the-key-of-this-process"


def test_secrets_are_values_that_look_like_some_and_not_too_short(machine: ProgramEnv) -> None:
    machine.environment |= {"GEMINI_API_KEY": "12345678", "MY_TOKEN": "short", "EDITOR": "not-a-secret"}
    assert load_config(machine).secrets == ("12345678",)
    assert "12345678" not in repr(load_config(machine))


def test_values_of_custom_headers_are_secrets(machine: ProgramEnv) -> None:
    machine.environment["GEMINI_CLI_CUSTOM_HEADERS"] = "X-Team: blue, X-Proxy: some-opaque-value"
    assert load_config(machine).secrets == ("some-opaque-value",)


def test_an_environment_file_of_a_folder_counts_only_if_it_is_trusted(machine: ProgramEnv) -> None:
    write(machine.project / ".env", "CI=from-the-file\nHOME=/nowhere\n")
    strange, trusted = load_config(machine), load_config(machine, trusts_folder=True)
    assert (strange.environment.get("CI"), strange.environment_file) == (None, None)
    assert trusted.environment_file == str(machine.project / ".env")
    assert trusted.environment["CI"] == "from-the-file"
    assert trusted.environment["HOME"] == str(machine.home)


@pytest.mark.skipif(os.geteuid() != 0, reason="for root")
class TestRoot:
    WARNING = "Running as root: edits and commands can change any file. Use your own account."

    def test_by_sudo(self, machine: ProgramEnv) -> None:
        assert self.WARNING not in load_config(machine).notes
        machine.environment["SUDO_UID"] = "1000"
        assert self.WARNING in load_config(machine).notes

    def test_in_a_folder_of_another_user(self, machine: ProgramEnv) -> None:
        os.chown(machine.project, 12345, 12345)
        assert self.WARNING in load_config(machine).notes


class TestVariablesOfAProject:
    def test_do_not_decide_where_requests_go(self, machine: ProgramEnv) -> None:
        names = ("GEMINI_MODEL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT")
        write(machine.project / ".env", "".join(f"{name}=true-or-x\n" for name in names))
        trusted = load_config(machine, trusts_folder=True)
        assert trusted.settings.model_name is None
        assert not set(names) & set(trusted.environment)
        assert trusted.notes == (
            f"{machine.project}/.env cannot set {', '.join(names)}. Set them in your environment or in ~/.gemini/.env.",
        )
        assert trusted.secrets == ("true-or-x",)  # still not to be written anywhere

    def test_are_for_its_own_settings_and_not_for_those_of_the_user(self, machine: ProgramEnv) -> None:
        write(machine.project / ".env", "PLACE=elsewhere\n")
        server = {"command": "serve", "args": ["$PLACE"], "env": {"PLACE": "$PLACE"}}
        write(machine.project / ".gemini" / "settings.json", {"mcpServers": {"theirs": server}})
        write(machine.home / ".gemini" / "settings.json", {"mcpServers": {"mine": server}})
        trusted = load_config(machine, trusts_folder=True)
        servers = trusted.settings.mcp_servers
        assert {name: entry.value.arguments for name, entry in servers.items()} == {
            "mine": ("$PLACE",),
            "theirs": ("elsewhere",),
        }
        seen = {name: trusted.reference_variables(entry.tier).get("PLACE") for name, entry in servers.items()}
        assert seen == {"mine": None, "theirs": "elsewhere"}

    def test_reach_commands_if_the_user_lists_them(self, machine: ProgramEnv) -> None:
        write(machine.project / ".env", "DATABASE=test\nOTHER=1\nOPENAI_API_KEY=theirs\n")
        listed = {"tools": {"shell": {"environment": ["DATABASE", "OPENAI_API_KEY"]}}}
        write(machine.home / ".gemini" / "settings.json", listed)
        environment = load_config(machine, trusts_folder=True).environment
        assert environment["DATABASE"] == "test"
        assert not {"OTHER", "OPENAI_API_KEY"} & set(environment)


def test_settings_of_a_folder_count_only_if_it_is_trusted(machine: ProgramEnv) -> None:
    write(machine.project / ".gemini" / "settings.json", {"maxSessionTurns": 3, "excludeTools": ["glob"]})
    strange, trusted = load_config(machine), load_config(machine, trusts_folder=True)
    assert (strange.settings.max_session_turns.value, trusted.settings.max_session_turns.value) == (None, 3)
    assert [entry.value for entry in strange.settings.exclude] == ["glob"]
    assert strange.notes == (
        "This folder is not trusted: its configuration is ignored (.gemini/settings.json). See `tejat trust`.",
    )
    assert trusted.notes == ()


def test_rules_of_an_untrusted_folder_are_used(machine: ProgramEnv) -> None:
    rules = machine.project / ".gemini" / "policies"
    rules.mkdir(parents=True)
    (rules / "team.toml").write_text("")
    assert load_config(machine).notes == ()
    write(machine.project / ".env", "A=1\n")
    (note,) = load_config(machine).notes
    assert "is ignored (.env)." in note


def test_many_things_of_a_folder_are_told_in_one_line(machine: ProgramEnv) -> None:
    write(machine.project / ".gemini" / "settings.json", {})
    for name in "abcd":
        (machine.project / ".gemini" / "commands").mkdir(exist_ok=True)
        (machine.project / ".gemini" / "commands" / f"{name}.toml").write_text('prompt = "x"')
    (note,) = load_config(machine).notes
    assert " and 2 more). " in note


def test_excluded_tools_are_added_to_those_of_the_settings(machine: ProgramEnv) -> None:
    write(machine.home / ".gemini" / "settings.json", {"excludeTools": ["glob"]})
    found = load_config(machine, excluded=("read_file",)).settings.exclude
    assert [(entry.value, entry.source) for entry in found][1:] == [("read_file", "--exclude-tools")]
    assert [entry.value for entry in found] == ["glob", "read_file"]


class TestServers:
    SETTINGS = {"mcp": {"allowed": ["a", "b"], "excluded": ["b"]}}  # noqa: RUF012 -- only read

    def lists(self, machine: ProgramEnv, servers: tuple[str, ...] | None) -> tuple[tuple[str, ...], list[str]]:
        found = load_run_config([str(machine.project)], environment=machine.environment, servers=servers).settings
        assert found.mcp_allowed is not None
        return found.mcp_allowed.value, [entry.value for entry in found.mcp_excluded]

    def test_a_flag_takes_the_place_of_both_lists(self, machine: ProgramEnv) -> None:
        write(machine.home / ".gemini" / "settings.json", self.SETTINGS)
        assert self.lists(machine, None) == (("a", "b"), ["b"])
        assert self.lists(machine, ("b", "c")) == (("b", "c"), [])
        assert self.lists(machine, ()) == ((), [])

    def test_but_not_of_those_of_whoever_runs_the_machine(self, machine: ProgramEnv) -> None:
        admin = machine.base / "admin"
        write(admin / "settings.json", self.SETTINGS)
        machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        assert self.lists(machine, ("b", "c")) == (("b",), ["b"])


def test_more_directories_each_once_and_those_that_are_missing_are_told(machine: ProgramEnv) -> None:
    other = machine.base / "other"
    other.mkdir()
    wanted = [str(other), str(other), "~/gone", str(machine.project)]
    write(machine.home / ".gemini" / "settings.json", {"includeDirectories": wanted})
    run_config = load_config(machine, str(other))
    assert run_config.roots == (str(machine.project), str(other))
    assert run_config.notes == (f"The directory {machine.home}/gone in the settings does not exist.",)


def test_a_directory_that_is_gone(machine: ProgramEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = machine.base / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match=r"The current directory no longer exists. Change to another one\."):
        load_run_config(["."], environment=machine.environment)
    os.chdir(machine.base)
