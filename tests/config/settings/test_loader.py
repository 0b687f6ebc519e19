"""Settings merged from every file that counts."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.settings_rows import GATHERED, NAMED, PER_FILE, SETTINGS, UNITED
from tejat.config.hooks import parse_hooks
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.file import SettingsError
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import McpServer, SessionRetention, Setting, SettingProblem, Settings
from tejat.core.approval.modes import SandboxMode, SandboxRequest
from tejat.core.frozen import fields_of, replace

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


@dataclass(frozen=True)
class Machine:
    """A home, a project and the administrator's two directories, all of them made up."""

    base: Path

    @property
    def paths(self) -> AppPaths:
        home = str(self.base / "home")
        admin = (str(self.base / "admin"), str(self.base / "added"))
        return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", admin)

    @property
    def project(self) -> str:
        return str(self.base / "project")

    def write(self, name: str, value: object) -> str:
        """Write one of the files and return its path. `user`, `project` and `own` are the usual ones."""
        names = {
            "user": "home/.gemini/settings.json",
            "project": "project/.gemini/settings.json",
            "own": "home/.config/tejat/settings.json",
        }
        path = self.base / names.get(name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    def load(self, *, trusted: bool = False, environment: Mapping[str, str] | None = None, roots: int = 1) -> Settings:
        directories = [self.project, str(self.base / "second")][:roots]
        return load_settings(self.paths, directories, trusted=trusted, environment=environment or {})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path)


def nested(name: str, value: object) -> dict[str, object]:
    """An object that gives the value under this name."""
    first, _, rest = name.partition(".")
    return {first: nested(rest, value) if rest else value}


def names_of(rows: list[tuple[tuple[str, ...], object, str, object]]) -> list[tuple[str, object, str, object]]:
    return [(name, written, field, value) for names, written, field, value in rows for name in names]


def test_nothing_is_set(machine: Machine) -> None:
    assert machine.load() == Settings()


def test_every_field_is_tried_here() -> None:
    fields = [field for _, _, field, _ in [*SETTINGS, *UNITED, *NAMED, *GATHERED, *PER_FILE]]
    others = (
        "agent_overrides",
        "secure_mode",
        "telemetry",
        "base_url_model",
        "mcp_name_conflicts",
        "files",
        "ignored_files",
        "problems",
    )
    assert sorted([*fields, *others]) == sorted(each.name for each in fields_of(Settings))


@pytest.mark.parametrize(("name", "written", "field", "value"), names_of(SETTINGS))
def test_one_setting_by_each_of_its_names(
    machine: Machine, name: str, written: object, field: str, value: object
) -> None:
    path = machine.write("user", "\n\n" + json.dumps(nested(name, written)))
    assert machine.load() == replace(Settings(), **{field: Setting(value, f"{path}:3", USER)}, files=(path,))
    assert getattr(Settings(), field) != getattr(machine.load(), field)


@pytest.mark.parametrize(("name", "written", "field", "value"), names_of(UNITED))
def test_one_list_that_unites(machine: Machine, name: str, written: object, field: str, value: list[str]) -> None:
    path = machine.write("user", "\n" + json.dumps(nested(name, written)))
    settings = machine.load()
    assert [entry.value for entry in getattr(settings, field)] == value
    assert getattr(settings, field)[-1] == Setting(value[-1], f"{path}:2", USER)
    assert settings == replace(Settings(), **{field: getattr(settings, field)}, files=(path,))


@pytest.mark.parametrize(("name", "written", "field", "value"), names_of(NAMED))
def test_one_object_of_names(
    machine: Machine, name: str, written: object, field: str, value: dict[str, object]
) -> None:
    path = machine.write("user", "\n" + json.dumps(nested(name, written)))
    expected = {each: Setting(member, f"{path}:2", USER) for each, member in value.items()}
    assert machine.load() == replace(Settings(), **{field: expected}, files=(path,))


def test_telemetry_of_every_file_but_those_of_projects(machine: Machine) -> None:
    admin = machine.write("admin/settings.json", {"telemetry": True})
    user = machine.write("user", {"telemetry": {"outfile": "o"}})
    machine.write("project", {"telemetry": {"target": "wrong"}})
    expected = Setting({"outfile": "o"}, f"{user}:1", USER), Setting({"enabled": True}, f"{admin}:1", ADMIN)
    assert machine.load(trusted=True).telemetry == expected


@pytest.mark.parametrize("member", ["target", "otlpProtocol"])
def test_a_wrong_destination_of_telemetry_ends_the_run(machine: Machine, member: str) -> None:
    machine.write("user", {"telemetry": {member: "elsewhere"}})
    with pytest.raises(SettingsError, match=f"telemetry.{member} must be"):
        machine.load()
    machine.write("user", {"telemetry": {"enabled": 7}})
    assert [problem.key for problem in machine.load().problems] == ["telemetry.enabled"]


@pytest.mark.parametrize(("names", "written", "field", "value"), PER_FILE)
def test_one_value_for_each_file(
    machine: Machine, names: tuple[str, ...], written: object, field: str, value: object
) -> None:
    user = machine.write("user", nested(names[0], written))
    project = machine.write("project", nested(names[0], written))
    expected = Setting(value, f"{user}:1", USER), Setting(value, f"{project}:1", WORKSPACE)
    assert getattr(machine.load(trusted=True), field) == expected


@pytest.mark.parametrize(("names", "written", "field", "value"), GATHERED)
def test_what_every_file_adds_to(
    machine: Machine, names: tuple[str, ...], written: object, field: str, value: dict[str, list[object]]
) -> None:
    user = machine.write("user", nested(names[0], written))
    project = machine.write("project", nested(names[0], written))
    expected = {
        each: tuple(
            Setting(entry, f"{path}:1", tier)
            for path, tier in ((user, USER), (project, WORKSPACE))
            for entry in entries
        )
        for each, entries in value.items()
    }
    loaded = machine.load(trusted=True, environment={"HOME": "/x"})
    assert loaded == replace(Settings(), **{field: expected}, files=(user, project))
    assert getattr(machine.load(), field) == {each: got[: len(got) // 2] for each, got in expected.items()}


@pytest.mark.parametrize(
    ("names", "written", "field"), [row[:3] for row in [*SETTINGS, *UNITED, *NAMED] if len(row[0]) > 1]
)
def test_the_name_in_use_comes_before_older_ones(
    machine: Machine, names: tuple[str, ...], written: object, field: str
) -> None:
    newest = nested(names[0], written)
    machine.write("user", newest)
    alone = getattr(machine.load(), field)
    older = nested(names[-1], {"wrong": {"tokenBudget": 5}})
    machine.write("user", json.dumps(older | newest))
    assert getattr(machine.load(), field) == alone


def test_comments_unknown_keys_and_lines(machine: Machine) -> None:
    path = machine.write(
        "user",
        """{
  // a comment
  "model": {"name": "m", "unheardOf": [1, {"deep": null}]}, /* another */
  "unheardOf": {"model": {"name": "other"}},
  "general": {"previewFeatures": true, "vimMode": true,},
}""",
    )
    text = Path(path).read_bytes()
    assert machine.load() == Settings(
        model_name=Setting("m", f"{path}:3", USER), vim_mode=Setting(True, f"{path}:5", USER), files=(path,)
    )
    assert Path(path).read_bytes() == text


def test_a_model_by_its_old_name_beside_the_new_object(machine: Machine) -> None:
    user = machine.write("user", {"model": "old", "maxSessionTurns": -1})
    assert machine.load() == Settings(
        model_name=Setting("old", f"{user}:1", USER), max_session_turns=Setting(None, f"{user}:1", USER), files=(user,)
    )
    machine.write("user", {"model": {"maxSessionTurns": 4}})
    assert machine.load().model_name is None


def test_a_variable_names_the_model(machine: Machine) -> None:
    machine.write("admin/settings.json", {"model": {"name": "m"}})
    assert machine.load(environment={"GEMINI_MODEL": " n "}).model_name == Setting("n", "GEMINI_MODEL", USER)
    assert machine.load(environment={"GEMINI_MODEL": " "}).model_name != Setting("n", "GEMINI_MODEL", USER)


# The old names of what an untrusted project may tighten, and of more.
FLAT = {
    "coreTools": ["read_file"],
    "excludeTools": ["glob"],
    "allowedTools": ["ShellTool(git log)"],
    "sandbox": "required",
    "allowMCPServers": ["one"],
    "excludeMCPServers": ["two"],
    "contextFileName": ["AGENTS.md", "GEMINI.md"],
    "preferredEditor": "vim",
    "mcpServers": {"one": {"command": "touch"}},
    "hooks": {"BeforeTool": []},
    "toolDiscoveryCommand": "touch",
    "toolCallCommand": "touch",
    "includeDirectories": ["/"],
    "autoAccept": True,
    "telemetry": {"outfile": "/x"},
    "model": {"baseUrl": "http://127.0.0.1:1"},
    "folderTrust": False,
}


class TestMerging:
    def test_directories_of_all_files(self, machine: Machine) -> None:
        user = machine.write("user", {"includeDirectories": ["~/notes", "~", "/a/../b"]})
        project = machine.write("project", {"context": {"includeDirectories": ["../lib", "sub", "~other"]}})
        assert machine.load(trusted=True).include_directories == (
            Setting(f"{machine.base}/home/notes", f"{user}:1", USER),
            Setting(f"{machine.base}/home", f"{user}:1", USER),
            Setting("/b", f"{user}:1", USER),
            Setting(f"{machine.base}/lib", f"{project}:1", WORKSPACE),
            Setting(f"{machine.base}/project/sub", f"{project}:1", WORKSPACE),
            Setting(f"{machine.base}/project/~other", f"{project}:1", WORKSPACE),
        )

    def test_a_later_server_replaces_the_whole_entry(self, machine: Machine) -> None:
        machine.write("admin/system-defaults.json", {"mcpServers": {"a": {"command": "a", "cwd": "/x"}}})
        user = machine.write("user", {"mcpServers": {"a": {"httpUrl": "http://a"}, "b": {"url": "http://b"}}})
        assert machine.load(trusted=True).mcp_servers == {
            "a": Setting(McpServer(http_url="http://a"), f"{user}:1", USER),
            "b": Setting(McpServer(url="http://b"), f"{user}:1", USER),
        }

    @pytest.mark.parametrize("who", ["user", "admin/settings.json"])
    def test_but_a_project_takes_over_none(self, machine: Machine, who: str) -> None:
        theirs = machine.write(who, {"mcpServers": {"a": {"command": "a"}}})
        project = machine.write("project", {"mcpServers": {"a": {"httpUrl": "http://a"}, "c": {"command": "c"}}})
        settings = machine.load(trusted=True)
        tier = USER if who == "user" else ADMIN
        assert settings.mcp_servers == {
            "a": Setting(McpServer(command="a"), f"{theirs}:1", tier),
            "c": Setting(McpServer(command="c"), f"{project}:1", WORKSPACE),
        }
        assert settings.mcp_name_conflicts == (Setting("a", f"{project}:1", WORKSPACE),)

    @pytest.mark.parametrize(
        ("written", "kept"),
        [
            (0, SessionRetention(None, min_days=0)),
            (0.5, SessionRetention(0.5, min_days=0)),
            ({"enabled": False, "maxAge": "1d"}, SessionRetention(None)),
            ({"enabled": True}, SessionRetention(30.0)),
            ({"maxAge": "12h", "minRetention": "2h"}, SessionRetention(0.5, min_days=1 / 12)),
            ({"maxAge": "2w", "maxCount": "5"}, SessionRetention(14.0, 5)),
            ({"maxAge": "1m"}, SessionRetention(30.0)),
        ],
    )
    def test_how_long_sessions_are_kept(self, machine: Machine, written: object, kept: SessionRetention) -> None:
        machine.write("user", {"general": {"sessionRetention": written}})
        assert machine.load().session_retention.value == kept

    @pytest.mark.parametrize("written", [{"maxAge": "12h"}, {"maxAge": "3d", "minRetention": "1w"}])
    def test_sessions_of_which_too_many_would_go_are_all_kept(self, machine: Machine, written: object) -> None:
        machine.write("user", {"general": {"sessionRetention": written}})
        settings = machine.load()
        assert settings.session_retention.value == SessionRetention(None)
        assert [problem.key for problem in settings.problems] == ["general.sessionRetention.maxAge"]


class TestWhatATrustedProjectMayNotSay:
    def test_where_things_go_and_whether_it_is_trusted(self, machine: Machine) -> None:
        path = machine.write(
            "project",
            {
                "model": {"baseUrl": "http://127.0.0.1:1", "name": "m"},
                "web": {"searchUrl": "http://127.0.0.1:1"},
                "security": {
                    "folderTrust": {"enabled": False},
                    "auth": {"selectedType": "x"},
                    "disableYoloMode": False,
                },
                "telemetry": {"otlpEndpoint": "http://127.0.0.1:1"},
                "usageStatisticsEnabled": True,
                "bugCommand": {"urlTemplate": "http://127.0.0.1:1"},
                "tools": {"sandbox": "off"},
            },
        )
        assert machine.load(trusted=True) == Settings(model_name=Setting("m", f"{path}:1", WORKSPACE), files=(path,))

    def test_what_programs_the_person_runs_what_they_see_and_what_is_kept(self, machine: Machine) -> None:
        path = machine.write(
            "project",
            {
                "preferredEditor": "./evil",
                "shellPager": "./evil",
                "tools": {"shell": {"environment": ["GEMINI_API_KEY"]}},
                "general": {"sessionRetention": 0.001},
                "model": {"prices": {"gemini": {"input": 0, "output": 0}}},
            },
        )
        assert machine.load(trusted=True) == Settings(files=(path,))

    def test_it_may_be_stricter(self, machine: Machine) -> None:
        machine.write("user", {"tools": {"sandbox": "off"}, "security": {"disableYoloMode": False}})
        path = machine.write("project", {"tools": {"sandbox": "auto"}, "security": {"disableYoloMode": True}})
        settings = machine.load(trusted=True)
        assert settings.sandbox == Setting(SandboxRequest(SandboxMode.AUTO), f"{path}:1", WORKSPACE)
        assert settings.yolo_disabled == Setting(True, f"{path}:1", WORKSPACE)

    def test_not_laxer(self, machine: Machine) -> None:
        user = machine.write("user", {"tools": {"sandbox": "required"}, "security": {"disableYoloMode": True}})
        machine.write("project", {"tools": {"sandbox": "auto"}, "security": {"disableYoloMode": False}})
        settings = machine.load(trusted=True)
        assert settings.sandbox == Setting(SandboxRequest(SandboxMode.REQUIRED), f"{user}:1", USER)
        assert settings.yolo_disabled == Setting(True, f"{user}:1", USER)

    def test_that_its_servers_are_trusted(self, machine: Machine) -> None:
        servers = {"mcpServers": {"a": {"command": "a", "trust": True}}}
        machine.write("project", servers)
        assert machine.load(trusted=True).mcp_servers["a"].value == McpServer(command="a", is_trusted=False)
        machine.write("user", {"mcpServers": {"b": {"command": "a", "trust": True}}})
        assert machine.load(trusted=True).mcp_servers["b"].value == McpServer(command="a", is_trusted=True)


class TestReferences:
    VARIABLES: Mapping[str, str] = {"FORMAT": "flat", "GEMINI_API_KEY": "secret-value"}

    @pytest.mark.parametrize("layer", ["user", "project", "admin/settings.json"])
    def test_in_every_layer(self, machine: Machine, layer: str) -> None:
        machine.write(layer, {"memoryImportFormat": "${FORMAT}", "ui": {"theme": "$NOWHERE"}})
        settings = machine.load(trusted=True, environment=self.VARIABLES)
        assert settings.theme is not None
        assert (settings.import_format.value, settings.theme.value) == ("flat", "$NOWHERE")

    def test_a_secret_is_not_for_the_project(self, machine: Machine) -> None:
        servers = {"mcpServers": {"a": {"url": "http://h/${GEMINI_API_KEY}", "env": {"K": "${GEMINI_API_KEY:-x}"}}}}
        machine.write("project", servers)
        assert machine.load(trusted=True, environment=self.VARIABLES).mcp_servers["a"].value == McpServer(
            url="http://h/${GEMINI_API_KEY}", environment={"K": "${GEMINI_API_KEY:-x}"}
        )
        machine.write("user", {"mcpServers": {"b": {"headers": {"X": "Bearer $GEMINI_API_KEY"}}}})
        assert machine.load(environment=self.VARIABLES).mcp_servers["b"].value == McpServer(
            headers={"X": "Bearer secret-value"}
        )

    def test_a_wrong_value_is_told_as_it_is_written(self, machine: Machine) -> None:
        machine.write("user", {"context": {"importFormat": "$GEMINI_API_KEY"}})
        (problem,) = machine.load(environment=self.VARIABLES).problems
        assert problem.text == "context.importFormat must be tree or flat, not '$GEMINI_API_KEY'"


class TestWrongValues:
    def test_the_default_holds_and_the_value_is_reported(self, machine: Machine) -> None:
        path = machine.write("user", '{"ui": {\n"theme": 7},\n"context": {"discoveryMaxDirs": "many"}, "web": []}')
        project = machine.write("project", {"ui": {"theme": "GitHub"}, "general": {"maxAttempts": -1}})
        settings = machine.load(trusted=True)
        assert settings.theme == Setting("GitHub", f"{project}:1", WORKSPACE)
        assert settings.problems == (
            SettingProblem(path, 3, "web", "an object", "a list"),
            SettingProblem(project, 1, "general.maxAttempts", "an integer of at least 1", "the number -1"),
            SettingProblem(path, 3, "context.discoveryMaxDirs", "an integer of at least 1", "'many'"),
            SettingProblem(path, 2, "ui.theme", "a string", "the number 7"),
        )

    def test_one_wrong_member_does_not_drop_the_others(self, machine: Machine) -> None:
        machine.write("user", {"model": {"prices": {"a": {"input": 1, "output": 2}, "b": {"input": -1, "output": 2}}}})
        settings = machine.load()
        assert set(settings.prices) == {"a"}
        assert [problem.key for problem in settings.problems] == ["model.prices.b.input"]

    @pytest.mark.parametrize(
        "written",
        [
            {"tools": {"core": 1}},
            {"security": "strict"},
            {"security": {"disableYoloMode": "maybe"}},
            {"mcpServers": {"a": 1}},
            {"hooks": 1},
            {"hooks": {"BeforeTool": [{"hooks": [{"type": "http", "name": "guard"}]}]}},
            {"hooks": {"AfterTool": [{"hooks": [{"command": "x", "timeout": 0}]}]}},
            {"hooks": {"disabled": [5]}},
            {"model": {"name": 5}},
            {"tools": {"discoveryCommand": 5}},
            {"tools": {"callCommand": [5]}},
            {"mcp": {"serverCommand": "'"}},
        ],
    )
    def test_what_protects_or_is_needed_stops_the_run(self, machine: Machine, written: object) -> None:
        path = machine.write("user", written)
        with pytest.raises(SettingsError, match=f"^Error in {path}: line 1: "):
            machine.load()


class TestHooks:
    def test_texts_for_numbers_and_switches(self, machine: Machine) -> None:
        group = {"sequential": "true", "hooks": [{"command": "echo $HOME", "timeout": "5000"}]}
        machine.write("user", {"hooks": {"BeforeTool": [group]}, "hooksConfig": {"enabled": "TRUE"}})
        settings = machine.load()
        (hook,) = parse_hooks(settings.hooks, settings.hooks_switches).hooks
        assert (hook.command, hook.timeout, hook.is_sequential) == ("echo $HOME", 5.0, True)
        machine.write("user", {"hooks": {"BeforeTool": [group]}, "hooksConfig": {"enabled": "False"}})
        settings = machine.load()
        assert parse_hooks(settings.hooks, settings.hooks_switches).hooks == ()

    def test_an_invalid_hook_that_is_disabled(self, machine: Machine) -> None:
        guard = {"BeforeTool": [{"hooks": [{"type": "http", "name": "guard"}]}]}
        machine.write("user", {"hooks": guard, "hooksConfig": {"disabled": ["guard"]}})
        settings = machine.load()
        assert parse_hooks(settings.hooks, settings.hooks_switches).hooks == ()
        machine.write("user", {"hooks": guard})
        with pytest.raises(SettingsError, match=r"line 1: in hooks.BeforeTool, the type of a hook must be command"):
            machine.load()

    def test_wrong_switches_are_reported(self, machine: Machine) -> None:
        machine.write("user", {"hooksConfig": {"disabled": ["guard", 5], "enabled": "maybe", "notifications": 1}})
        settings = machine.load()
        assert [entry.value for entry in settings.hooks_switches["disabled"]] == ["guard"]
        assert [problem.key for problem in settings.problems] == [
            "hooksConfig.disabled",
            "hooksConfig.enabled",
            "hooksConfig.notifications",
        ]


class TestPrecedence:
    LAYERS = (
        "added/system-defaults.json",
        "admin/system-defaults.json",
        "user",
        "project",
        "own",
        "added/settings.json",
        "admin/settings.json",
    )
    TIERS = (ADMIN, ADMIN, USER, WORKSPACE, USER, ADMIN, ADMIN)

    @pytest.mark.parametrize("count", range(1, 8))
    def test_the_last_file_wins_and_exclude_lists_unite(self, machine: Machine, count: int) -> None:
        paths = [
            machine.write(name, {"theme": f"theme{number}", "excludeTools": [f"out{number}", "same"]})
            for number, name in enumerate(self.LAYERS[:count])
        ]
        settings = machine.load(trusted=True)
        last, tier = paths[-1], self.TIERS[count - 1]
        assert settings.theme == Setting(f"theme{count - 1}", f"{last}:1", tier)
        apart = {Setting(f"out{number}", f"{path}:1", self.TIERS[number]) for number, path in enumerate(paths)}
        assert set(settings.exclude) == {*apart, Setting("same", f"{last}:1", tier)}
        assert len(settings.exclude) == count + 1
        assert settings.files == tuple(paths)

    def test_a_file_named_by_a_variable_only_adds(self, machine: Machine) -> None:
        named = machine.write("elsewhere.json", {"coreTools": ["mine"], "excludeTools": ["out"], "sandbox": False})
        admin = machine.write("admin/settings.json", {"coreTools": ["theirs"]})
        for variable in ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"):
            settings = machine.load(environment={variable: named})
            assert settings.core == Setting(("theirs",), f"{admin}:1", ADMIN)
            assert settings.exclude == (Setting("out", f"{named}:1", ADMIN),)
            assert settings.sandbox == Setting(SandboxRequest(SandboxMode.OFF), f"{named}:1", ADMIN)
            assert settings.files == (named, admin)

    def test_a_value_that_is_overruled_is_checked_too(self, machine: Machine) -> None:
        path = machine.write("user", {"coreTools": 5})
        machine.write("admin/settings.json", {"coreTools": ["read_file"]})
        with pytest.raises(SettingsError, match=f"^Error in {path}: line 1: coreTools must be a list of strings"):
            machine.load()


class TestProject:
    def test_only_tightens_while_it_is_not_trusted(self, machine: Machine) -> None:
        user = machine.write("user", {"excludeTools": ["glob"], "excludeMCPServers": ["one"]})
        loose = {**json.loads(json.dumps(FLAT)), "excludeTools": ["replace"], "excludeMCPServers": ["two"]}
        path = machine.write("project", {**loose, "tools": {"sandboxNetworkAccess": True}})
        assert machine.load() == Settings(
            exclude=(Setting("replace", f"{path}:1", WORKSPACE), Setting("glob", f"{user}:1", USER)),
            mcp_excluded=(Setting("two", f"{path}:1", WORKSPACE), Setting("one", f"{user}:1", USER)),
            files=(path, user),
            ignored_files=(path,),
        )

    def test_nothing_is_ignored_where_there_is_nothing_else(self, machine: Machine) -> None:
        machine.write("project", {"tools": {"exclude": ["glob"]}, "excludeMCPServers": ["one"]})
        assert machine.load().ignored_files == ()

    def test_wrong_values_that_do_not_count_are_not_looked_at(self, machine: Machine) -> None:
        machine.write("project", {"coreTools": 5, "sandbox": "docker", "context": {"fileName": "../../.bashrc"}})
        assert machine.load().core is None

    @pytest.mark.parametrize("text", ["{", '{"excludeTools": "glob"}', '{"tools": []}'])
    def test_exclude_lists_that_cannot_be_read_stop_the_run(self, machine: Machine, text: str) -> None:
        path = machine.write("project", text)
        with pytest.raises(SettingsError, match=f"^Error in {path}: "):
            machine.load()

    def test_of_further_roots_only_exclude_lists_count(self, machine: Machine) -> None:
        first = machine.write("project", {"coreTools": ["a"], "excludeTools": ["x"]})
        second = machine.write("second/.gemini/settings.json", {"coreTools": ["b"], "excludeTools": ["y"]})
        settings = machine.load(trusted=True, roots=2)
        assert settings.core == Setting(("a",), f"{first}:1", WORKSPACE)
        assert [entry.value for entry in settings.exclude] == ["y", "x"]
        assert settings.ignored_files == (second,)

    @pytest.mark.parametrize("trusted", [True, False])
    def test_the_home_directory_has_the_persons_own_settings(self, machine: Machine, trusted: bool) -> None:
        path = machine.write("user", {"coreTools": ["a"]})
        (machine.base / "link").symlink_to(machine.base / "home")
        for root in (machine.base / "home", machine.base / "link"):
            settings = load_settings(machine.paths, [str(root)], trusted=trusted, environment={})
            assert settings == Settings(core=Setting(("a",), f"{path}:1", USER), files=(path,))

    def test_a_directory_that_is_only_called_like_ours_is_a_project(self, machine: Machine) -> None:
        root = machine.base / "home" / "x.gemini" / ".gemini"
        path = machine.write("home/x.gemini/.gemini/.gemini/settings.json", {"allowedTools": ["a"]})
        settings = load_settings(machine.paths, [str(root)], trusted=False, environment={})
        assert settings == Settings(files=(path,), ignored_files=(path,))


class TestAddress:
    def test_it_belongs_to_the_model_that_the_user_names(self, machine: Machine) -> None:
        machine.write("user", {"model": {"name": "openai:a", "baseUrl": "https://example.com"}})
        machine.write("project", {"model": {"name": "claude-b"}})
        settings = machine.load(trusted=True, environment={"GEMINI_MODEL": "gemini-c"})
        assert settings.base_url_model is not None
        assert settings.base_url_model.value == "openai:a"

    def test_without_a_model_it_belongs_to_every_service(self, machine: Machine) -> None:
        machine.write("user", {"model": {"baseUrl": "https://example.com"}})
        machine.write("project", {"model": {"name": "claude-b"}})
        assert machine.load(trusted=True).base_url_model is None


class TestSandbox:
    def test_what_the_administrator_requires_no_variable_takes_back(self, machine: Machine) -> None:
        path = machine.write("admin/settings.json", {"tools": {"sandbox": "required"}})
        machine.write("user", {"tools": {"sandbox": "off"}})
        settings = machine.load(environment={"GEMINI_SANDBOX": "off"})
        assert settings.sandbox == Setting(SandboxRequest(SandboxMode.REQUIRED, floor=2), f"{path}:1", ADMIN)

    def test_a_variable_wins_over_the_files(self, machine: Machine) -> None:
        machine.write("user", {"sandbox": "auto"})
        loaded = machine.load(environment={"GEMINI_SANDBOX": "off"})
        assert loaded.sandbox == Setting(SandboxRequest(SandboxMode.OFF), "GEMINI_SANDBOX", USER)

    @pytest.mark.parametrize("value", [["auto"], 1.5, {"command": 3}, {"allowedPaths": ["relative"]}])
    def test_values_that_are_none(self, machine: Machine, value: object) -> None:
        path = machine.write("user", {"tools": {"sandbox": value}})
        with pytest.raises(SettingsError, match=re.escape(f"Error in {path}: line 1: tools.sandbox")):
            machine.load()

    def test_an_empty_variable_says_nothing(self, machine: Machine) -> None:
        assert machine.load(environment={"GEMINI_SANDBOX": " "}).sandbox == Setting(SandboxRequest())


class TestNames:
    @pytest.mark.parametrize("value", ["", " ", [], [""]])
    def test_blank_file_names_do_not_count(self, machine: Machine, value: object) -> None:
        machine.write("user", {"contextFileName": value})
        assert machine.load().context_file_names.value == ("GEMINI.md", "AGENTS.md")

    def test_one_file_name_beneath(self, machine: Machine) -> None:
        machine.write("user", {"contextFileName": ".github/copilot-instructions.md"})
        assert machine.load().context_file_names.value == (".github/copilot-instructions.md",)

    @pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../x", "..", ".", "a//b", "a\u202eb", "a\0b", "a\x1b"])
    def test_file_names_that_lead_away(self, machine: Machine, name: str) -> None:
        machine.write("user", {"contextFileName": ["GEMINI.md", name]})
        settings = machine.load()
        assert [problem.wanted for problem in settings.problems] == ["a file name or a list of file names"]
        assert settings.context_file_names == Settings().context_file_names

    @pytest.mark.parametrize("name", ["A=B", "1A", "A B", "A-B", "Ä"])
    def test_what_is_no_variable(self, machine: Machine, name: str) -> None:
        machine.write("user", {"tools": {"shell": {"environment": ["PATH", name]}}})
        settings = machine.load()
        assert [problem.wanted for problem in settings.problems] == ["a list of environment variable names"]
        assert settings.shell_environment == Settings().shell_environment

    def test_empty_lists_are_not_the_same_as_none(self, machine: Machine) -> None:
        path = machine.write("user", {"coreTools": [], "allowedTools": []})
        settings = machine.load()
        assert (settings.core, settings.allowed) == (Setting((), f"{path}:1", USER), Setting((), f"{path}:1", USER))
