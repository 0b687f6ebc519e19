"""The lines of `tejat doctor` about settings."""

import json
from pathlib import Path

import pytest

from support.program import ProgramEnv, write_settings
from tejat.app.run_config import load_run_config
from tejat.app.setup.settings_checks import settings_checks
from tejat.app.setup.strict import check_settings
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def checks(machine: ProgramEnv, *, is_strict: bool = False) -> list[DoctorCheck]:
    faults: list[ConfigurationError] = []
    config = load_run_config([str(machine.project)], environment=machine.environment, faults=faults)
    return list(settings_checks(config, faults, is_strict=is_strict))


def lines(machine: ProgramEnv, *, is_strict: bool = False) -> list[tuple[str, bool, str, int]]:
    found = checks(machine, is_strict=is_strict)
    directory = f"{machine.home / '.gemini'}/"
    return [(check.name, check.passed, check.detail.replace(directory, ""), check.exit_code) for check in found]


MIXED = """{
  "general": {"vimmode": true, "vimMode": false},
  "ui": {"hideContextSummary": true, "theme": 7, "showSpinner": true},
  "showCitations": true,
  "vimMode": true,
  "contextFileName": "A.md",
  "tools": {"usePty": true, "allowed": ["glob", "no_such_tool"]},
  "nonsense": 1
}"""


def test_every_key_that_is_not_simply_obeyed(machine: ProgramEnv) -> None:
    write_settings(machine.home, MIXED)
    name = "settings.json"
    assert lines(machine) == [
        ("unknown", False, f"{name}:2 general.vimmode: unknown setting. Did you mean general.vimMode?", 0),
        ("wrong value", False, f"{name}:3 ui.theme must be a string, not the number 7; the default applies", 0),
        ("unknown", False, f"{name}:8 nonsense: unknown setting", 0),
        ("no effect", True, f"{name}:3 ui.hideContextSummary: read, has no effect: No context summary is shown.", 0),
        (
            "no effect",
            True,
            (
                f"{name}:4 showCitations: old name of ui.showCitations, has no effect: "
                "The sources of a search are always shown."
            ),
            0,
        ),
        ("old name", True, f"{name}:5 vimMode: old name of general.vimMode, which takes precedence", 0),
        ("old name", True, f"{name}:6 contextFileName: old name of context.fileName", 0),
        ("retired", True, f"{name}:7 tools.usePty: removed from Gemini CLI. Commands have no terminal.", 0),
    ]


def test_strict(machine: ProgramEnv) -> None:
    write_settings(machine.home, MIXED)
    wrong = [(name, detail) for name, _, detail, code in lines(machine, is_strict=True) if code == 52]
    assert [name for name, _ in wrong] == ["unknown", "wrong value", "unknown", "retired", "unknown tool"]
    assert wrong[-1][1] == "settings.json:7 tools.allowed: unknown tool 'no_such_tool'"


def test_a_strict_run_names_all_problems_at_once(machine: ProgramEnv) -> None:
    path = write_settings(machine.home, MIXED)
    config = load_run_config([str(machine.project)], environment=machine.environment)
    with pytest.raises(ConfigurationError) as caught:
        check_settings(config)
    said = str(caught.value).splitlines()
    assert said[0] == "5 problems in the settings:"
    assert [line.strip().startswith(f"{path}:") for line in said[1:-1]] == [True] * 5
    write_settings(
        machine.home, {"general": {"vimMode": True}, "ui": {"hideContextSummary": True}, "showCitations": True}
    )
    check_settings(load_run_config([str(machine.project)], environment=machine.environment))


class TestThemes:
    @pytest.mark.parametrize("name", ["dark", "GitHub Light", "VS2015", "Mine"])
    def test_known(self, machine: ProgramEnv, name: str) -> None:
        machine.write_user_settings(ui={"theme": name, "customThemes": {"Mine": {"type": "custom", "name": "Mine"}}})
        assert [check for check in checks(machine) if check.name == "wrong value"] == []

    def test_unknown(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(ui={"theme": "Theirs"})
        detail = "settings.json:1 ui.theme must be a known theme, not 'Theirs'; the default applies"
        assert lines(machine) == [("wrong value", False, detail, 0)]
        assert lines(machine, is_strict=True) == [("wrong value", False, detail, 52)]


class TestTools:
    @pytest.mark.parametrize(
        "name",
        [
            *(
                "glob",
                "GlobTool",
                "run_shell_command(git log)",
                "ShellTool",
                "mcp_here_any",
                "here__any",
                "mcp__here__x",
            ),
            *("mcp_here_*", "mcp_*", "my_tool"),
        ],
    )
    def test_known(self, machine: ProgramEnv, name: str) -> None:
        directory = machine.home / ".gemini" / "tools"
        directory.mkdir(parents=True)
        (directory / "mine.py").write_text(PLUGIN)
        machine.write_user_settings(tools={"allowed": [name]}, mcpServers={"here": {"command": "x"}})
        assert checks(machine, is_strict=True) == []

    @pytest.mark.parametrize("name", ["globe", "there__any", "mcp_there_any"])
    @pytest.mark.parametrize("key", ["core", "allowed", "exclude", "confirmationRequired"])
    def test_unknown(self, machine: ProgramEnv, key: str, name: str) -> None:
        machine.write_user_settings(tools={key: [name]})
        (check,) = checks(machine, is_strict=True)
        assert check.detail.endswith(f" tools.{key}: unknown tool '{name}'")
        assert checks(machine) == []

    def test_a_tool_of_a_server_may_be_excluded_by_its_own_name(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(tools={"exclude": ["any"]}, mcpServers={"here": {"command": "x"}})
        assert checks(machine, is_strict=True) == []

    def test_tools_that_a_command_lists_are_not_known_before(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(tools={"allowed": ["any"], "discoveryCommand": "x", "callCommand": "y"})
        assert checks(machine, is_strict=True) == []


PLUGIN = '''
from tejat import tool

@tool
def my_tool(text: str) -> str:
    """Repeats a text."""
    return text
'''


class TestFaults:
    @pytest.mark.parametrize("text", ["{", "[]", '{"tools": {"core": 7}}', '{"mcpServers": {"x": 7}}'])
    def test_they_are_lines(self, machine: ProgramEnv, text: str) -> None:
        path = write_settings(machine.home, text)
        (check, *_) = checks(machine)
        assert (check.name, check.passed, check.exit_code) == ("error", False, 52)
        assert check.detail.startswith(f"Error in {path}: ")

    def test_the_other_files_still_count(self, machine: ProgramEnv) -> None:
        write_settings(machine.home, "{")
        admin = machine.base / "admin"
        admin.mkdir(mode=0o700)
        (admin / "settings.json").write_text(json.dumps({"ui": {"hideContextSummary": True}}))
        machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        assert [check.name for check in checks(machine)] == ["error", "no effect"]


class TestVariables:
    def test_only_if_they_are_set(self, machine: ProgramEnv) -> None:
        assert checks(machine) == []
        machine.environment |= {"CLOUD_SHELL": "true", "GEMINI_CLI_IDE_SERVER_PORT": "1", "SURFACE": " "}
        sign_in, editor = checks(machine)
        assert (sign_in.group, sign_in.name, sign_in.passed) == ("variables", "CLOUD_SHELL", True)
        assert sign_in.detail.startswith("read, has no effect: Tejat has no Google sign-in")
        assert editor.name == "GEMINI_CLI_IDE_SERVER_PORT"
        assert editor.detail == "read, has no effect: there is no IDE companion yet"


def test_very_many_keys_are_counted(machine: ProgramEnv) -> None:
    write_settings(machine.home, {f"unknown{number:05}": number for number in range(5000)})
    found = checks(machine)
    assert (len(found), found[-1].detail) == (201, "4800 more")
