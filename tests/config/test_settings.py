"""Settings merged from every file that counts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tejat.config.places import Places, SourceTier
from tejat.config.settings import Setting, Settings, load_settings
from tejat.config.settings_file import SettingsError
from tejat.core.errors import UsageError
from tejat.core.sandbox_wish import SandboxWish

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


@dataclass(frozen=True)
class Machine:
    """A home, a project and the administrator's two directories, all of them made up."""

    base: Path

    @property
    def places(self) -> Places:
        home = str(self.base / "home")
        admin = (str(self.base / "admin"), str(self.base / "added"))
        return Places(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", admin)

    @property
    def project(self) -> str:
        return str(self.base / "project")

    def write(self, name: str, value: object) -> str:
        """Write one of the files and return its path. `user` and `project` are the usual ones."""
        names = {"user": "home/.gemini/settings.json", "project": "project/.gemini/settings.json"}
        path = self.base / names.get(name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    def load(self, *, trusted: bool = False, environment: Mapping[str, str] | None = None, roots: int = 1) -> Settings:
        directories = [self.project, str(self.base / "second")][:roots]
        return load_settings(self.places, directories, trusted=trusted, environment=environment or {})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path)


EVERYTHING = """{
  "tools": {
    "core": ["read_file"],
    "exclude": ["glob"],
    "allowed": ["ShellTool(git log)"],
    "sandbox": "required",
    "sandboxNetworkAccess": true,
    "truncateToolOutputThreshold": 1000,
    "shell": {
      "inactivityTimeout": 10,
      "environment": ["CARGO_HOME"],
    },
  },
  "mcp": {
    "allowed": ["one"],
    "excluded": ["two"],
  },
  "context": {"fileName": ["AGENTS.md", " ", "GEMINI.md"]},
  "general": {"preferredEditor": "vim"},
  "security": {"disableYoloMode": true}, // the end
  "ui": {"theme": 7}
}"""

# The same settings by their old names, as far as they have one.
FLAT = {
    "coreTools": ["read_file"],
    "excludeTools": ["glob"],
    "allowedTools": ["ShellTool(git log)"],
    "sandbox": "required",
    "allowMCPServers": ["one"],
    "excludeMCPServers": ["two"],
    "contextFileName": ["AGENTS.md", "GEMINI.md"],
    "preferredEditor": "vim",
}


def test_nothing_is_set(machine: Machine) -> None:
    assert machine.load() == Settings()
    assert Settings() == Settings(
        sandbox=Setting(SandboxWish.AUTO, "default", SourceTier.DEFAULT),
        shell_idle_seconds=Setting(300.0, "default", SourceTier.DEFAULT),
        output_characters=Setting(40_000, "default", SourceTier.DEFAULT),
        context_file_names=Setting(("GEMINI.md",), "default", SourceTier.DEFAULT),
    )


def test_every_setting_knows_its_line(machine: Machine) -> None:
    path = machine.write("user", EVERYTHING)
    assert machine.load() == Settings(
        core=Setting(("read_file",), f"{path}:3", USER),
        exclude=(Setting("glob", f"{path}:4", USER),),
        allowed=Setting(("ShellTool(git log)",), f"{path}:5", USER),
        sandbox=Setting(SandboxWish.REQUIRED, f"{path}:6", USER),
        sandbox_network=Setting(True, f"{path}:7", USER),
        output_characters=Setting(1000, f"{path}:8", USER),
        shell_idle_seconds=Setting(10.0, f"{path}:10", USER),
        shell_environment=Setting(("CARGO_HOME",), f"{path}:11", USER),
        mcp_allowed=Setting(("one",), f"{path}:15", USER),
        mcp_excluded=(Setting("two", f"{path}:16", USER),),
        context_file_names=Setting(("AGENTS.md", "GEMINI.md"), f"{path}:18", USER),
        preferred_editor=Setting("vim", f"{path}:19", USER),
        yolo_disabled=Setting(True, f"{path}:20", USER),
        files=(path,),
    )


def test_old_names(machine: Machine) -> None:
    path = machine.write("user", FLAT)
    assert machine.load() == Settings(
        core=Setting(("read_file",), f"{path}:1", USER),
        exclude=(Setting("glob", f"{path}:1", USER),),
        allowed=Setting(("ShellTool(git log)",), f"{path}:1", USER),
        sandbox=Setting(SandboxWish.REQUIRED, f"{path}:1", USER),
        mcp_allowed=Setting(("one",), f"{path}:1", USER),
        mcp_excluded=(Setting("two", f"{path}:1", USER),),
        context_file_names=Setting(("AGENTS.md", "GEMINI.md"), f"{path}:1", USER),
        preferred_editor=Setting("vim", f"{path}:1", USER),
        files=(path,),
    )


class TestPrecedence:
    LAYERS = (
        "added/system-defaults.json",
        "admin/system-defaults.json",
        "user",
        "project",
        "added/settings.json",
        "admin/settings.json",
    )
    TIERS = (ADMIN, ADMIN, USER, WORKSPACE, ADMIN, ADMIN)

    @pytest.mark.parametrize("count", range(1, 7))
    def test_the_last_file_wins_and_exclude_lists_unite(self, machine: Machine, count: int) -> None:
        paths = [
            machine.write(name, {"coreTools": [f"core{number}"], "excludeTools": [f"out{number}", "same"]})
            for number, name in enumerate(self.LAYERS[:count])
        ]
        settings = machine.load(trusted=True)
        last, tier = paths[-1], self.TIERS[count - 1]
        assert settings.core == Setting((f"core{count - 1}",), f"{last}:1", tier)
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
            assert settings.sandbox == Setting(SandboxWish.OFF, f"{named}:1", ADMIN)
            assert settings.files == (named, admin)

    def test_a_value_that_is_overruled_is_checked_too(self, machine: Machine) -> None:
        path = machine.write("user", {"coreTools": 5})
        machine.write("admin/settings.json", {"coreTools": ["read_file"]})
        with pytest.raises(SettingsError, match=f"^Error in {path}: line 1: coreTools must be a list of texts"):
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
            ignored=(path,),
        )

    def test_nothing_is_ignored_where_there_is_nothing_else(self, machine: Machine) -> None:
        machine.write("project", {"tools": {"exclude": ["glob"]}, "excludeMCPServers": ["one"]})
        assert machine.load().ignored == ()

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
        assert settings.ignored == (second,)

    @pytest.mark.parametrize("trusted", [True, False])
    def test_the_home_directory_has_the_persons_own_settings(self, machine: Machine, trusted: bool) -> None:
        path = machine.write("user", {"coreTools": ["a"]})
        (machine.base / "link").symlink_to(machine.base / "home")
        for root in (machine.base / "home", machine.base / "link"):
            settings = load_settings(machine.places, [str(root)], trusted=trusted, environment={})
            assert settings == Settings(core=Setting(("a",), f"{path}:1", USER), files=(path,))

    def test_a_directory_that_is_only_called_like_ours_is_a_project(self, machine: Machine) -> None:
        root = machine.base / "home" / "x.gemini" / ".gemini"
        path = machine.write("home/x.gemini/.gemini/.gemini/settings.json", {"allowedTools": ["a"]})
        settings = load_settings(machine.places, [str(root)], trusted=False, environment={})
        assert settings == Settings(files=(path,), ignored=(path,))


class TestSandbox:
    def test_what_the_administrator_requires_no_variable_takes_back(self, machine: Machine) -> None:
        path = machine.write("admin/settings.json", {"tools": {"sandbox": "required"}})
        machine.write("user", {"tools": {"sandbox": "off"}})
        settings = machine.load(environment={"GEMINI_SANDBOX": "off"})
        assert settings.sandbox == Setting(SandboxWish.REQUIRED, f"{path}:1", ADMIN)

    @pytest.mark.parametrize(
        ("value", "mode"),
        [
            ("auto", SandboxWish.AUTO),
            ("required", SandboxWish.REQUIRED),
            ("off", SandboxWish.OFF),
            (True, SandboxWish.REQUIRED),
            (False, SandboxWish.OFF),
        ],
    )
    def test_modes(self, machine: Machine, value: object, mode: SandboxWish) -> None:
        path = machine.write("user", {"sandbox": value})
        assert machine.load().sandbox == Setting(mode, f"{path}:1", USER)
        word = str(value).lower()
        machine.write("user", {"sandbox": "auto"})
        assert machine.load(environment={"GEMINI_SANDBOX": word}).sandbox == Setting(mode, "GEMINI_SANDBOX", USER)

    @pytest.mark.parametrize("value", ["docker", "sandbox-exec", "", 1, 0, {"command": "docker"}, ["auto"]])
    def test_other_words(self, machine: Machine, value: object) -> None:
        path = machine.write("user", {"tools": {"sandbox": value}})
        with pytest.raises(SettingsError) as caught:
            machine.load()
        assert str(caught.value).startswith(
            f"Error in {path}: line 1: tools.sandbox must be auto, required, off, true or false, but is "
        )

    def test_other_words_in_the_environment(self, machine: Machine) -> None:
        with pytest.raises(UsageError) as caught:
            machine.load(environment={"GEMINI_SANDBOX": "docker"})
        assert str(caught.value) == (
            "The environment variable GEMINI_SANDBOX must be auto, required, off, true or false, but is 'docker'."
        )

    def test_an_empty_variable_says_nothing(self, machine: Machine) -> None:
        assert machine.load(environment={"GEMINI_SANDBOX": " "}).sandbox == Setting(SandboxWish.AUTO)


class TestNames:
    @pytest.mark.parametrize("value", ["", " ", [], [""]])
    def test_blank_file_names_do_not_count(self, machine: Machine, value: object) -> None:
        machine.write("user", {"contextFileName": value})
        assert machine.load().context_file_names.value == ("GEMINI.md",)

    def test_one_file_name_beneath(self, machine: Machine) -> None:
        machine.write("user", {"contextFileName": ".github/copilot-instructions.md"})
        assert machine.load().context_file_names.value == (".github/copilot-instructions.md",)

    @pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../x", "..", ".", "a//b", "a\u202eb", "a\0b", "a\x1b"])
    def test_file_names_that_lead_away(self, machine: Machine, name: str) -> None:
        machine.write("user", {"contextFileName": ["GEMINI.md", name]})
        with pytest.raises(SettingsError, match="contextFileName must be a file name or a list of file names"):
            machine.load()

    @pytest.mark.parametrize("name", ["A=B", "1A", "A B", "A-B", "Ä"])
    def test_what_is_no_variable(self, machine: Machine, name: str) -> None:
        machine.write("user", {"tools": {"shell": {"environment": ["PATH", name]}}})
        with pytest.raises(SettingsError, match="must be a list of names of environment variables"):
            machine.load()

    def test_empty_lists_are_not_the_same_as_none(self, machine: Machine) -> None:
        path = machine.write("user", {"coreTools": [], "allowedTools": []})
        settings = machine.load()
        assert (settings.core, settings.allowed) == (Setting((), f"{path}:1", USER), Setting((), f"{path}:1", USER))
