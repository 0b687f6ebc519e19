"""What was carried over from a set-up of Gemini CLI, key by key and file by file."""

import json
from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.setup.setup_report import SetupReport, setup_report
from tejat.core.errors import ConfigurationError
from tejat.core.ui.report import Paragraph, ReportTable

SECRET = "hush-hush-hush"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def report(machine: ProgramEnv, *, trusts_folder: bool = True) -> SetupReport:
    faults: list[ConfigurationError] = []
    config = load_run_config(
        [str(machine.project)], environment=machine.environment, trusts_folder=trusts_folder, faults=faults
    )
    return setup_report(config, faults)


def shown(found: SetupReport) -> list[str]:
    lines: list[str] = []
    for block in found.to_report().blocks:
        match block:
            case Paragraph(text):
                lines.append(f"# {text}")
            case ReportTable(rows):
                lines += [" | ".join(row) for row in rows]
            case _:
                pytest.fail("unexpected block")
    return lines


def files(found: SetupReport) -> dict[str, tuple[str, str]]:
    return {file.path: (file.use.value, file.detail) for file in found.files}


def write(directory: Path, *names: str) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text("x")


class TestSettings:
    def test_counts_first_then_every_key_under_its_heading(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(
            general={"vimMode": True, "vimmode": 1},
            ui={"hideContextSummary": True, "showSpinner": False, "theme": 7},
            tools={"allowed": ["glob", "ls"], "usePty": True},
            showCitations=True,
            vimMode=True,
        )
        place = "~/.gemini/settings.json:1"
        assert shown(report(machine)) == [
            "Settings in effect | 2",
            "Settings that work differently | 1",
            "Settings without effect | 3",
            "Settings removed from Gemini CLI | 1",
            "Settings with a wrong value | 1",
            "Unknown settings | 1",
            "Files in use | 1",
            "# Settings in effect (2)",
            f"general.vimMode | true | {place}",
            f"tools.allowed | 2 entries | {place}",
            "# Settings that work differently (1)",
            f"ui.showSpinner | `false` is the same as `ui.animations` false. | {place}",
            "# Settings without effect (3)",
            f"ui.hideContextSummary | No context summary is shown. | {place}",
            f"showCitations | The sources of a search are always shown. (old name of ui.showCitations) | {place}",
            f"vimMode | general.vimMode takes precedence. | {place}",
            "# Settings removed from Gemini CLI (1)",
            f"tools.usePty | Commands have no terminal. | {place}",
            "# Settings with a wrong value (1)",
            f"ui.theme | ui.theme must be a string, not the number 7 | {place}",
            "# Unknown settings (1)",
            f"general.vimmode | did you mean general.vimMode? | {place}",
            "# Files in use (1)",
            "settings | ~/.gemini/settings.json | see the keys above",
        ]

    def test_for_programs(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(general={"vimmode": 1}, ui={"hideContextSummary": True}, vimMode=True)
        found = report(machine).to_json()
        assert found["counts"] == {
            "obeyed": 1,
            "mapped": 0,
            "no effect": 1,
            "retired": 0,
            "wrong value": 0,
            "unknown": 1,
        }
        assert found["settings"] == [
            {
                "key": "general.vimmode",
                "file": str(path),
                "line": 1,
                "status": "unknown",
                "suggestion": "general.vimMode",
            },
            {
                "key": "ui.hideContextSummary",
                "file": str(path),
                "line": 1,
                "status": "no effect",
                "reason": "No context summary is shown.",
            },
            {"key": "vimMode", "file": str(path), "line": 1, "status": "obeyed", "present_name": "general.vimMode"},
        ]

    def test_no_secret_is_shown(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(
            mcpServers={"one": {"command": "x", "env": {"KEY": SECRET}, "headers": {"a": SECRET}}},
            model={"baseUrl": f"https://user:{SECRET}@example.com"},
        )
        found = report(machine)
        assert SECRET not in "\n".join(shown(found))
        assert SECRET not in str(found.to_json())
        assert "mcpServers | one | ~/.gemini/settings.json:1" in shown(found)

    def test_very_many_keys(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(**{f"unknown{number:05}": number for number in range(3_000)})
        found = report(machine)
        lines = shown(found)
        assert "Unknown settings | 3000" in lines
        assert "# 2800 more" in lines
        assert len(lines) < 250
        assert len(json.dumps(found.to_json()["settings"])) > 20_000

    def test_a_broken_file(self, machine: ProgramEnv) -> None:
        (machine.home / ".gemini").mkdir(mode=0o700)
        (machine.home / ".gemini" / "settings.json").write_text("{")
        found = report(machine)
        assert len(found.faults) == 1
        assert "# Errors that end a run" in shown(found)

    def test_a_wrong_value_that_ends_a_run(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(tools={"core": 7})
        found = report(machine)
        problem = "tools.core must be a list of strings, not the number 7"
        assert found.faults == (f"Error in {path}: line 1: {problem}",)
        assert f"tools.core | {problem} | ~/.gemini/settings.json:1" in shown(found)
        assert "Settings in effect | 0" in shown(found)

    @pytest.mark.parametrize(
        ("content", "key"),
        [
            ({"telemetry": {"enabled": True, "target": "elsewhere"}}, "telemetry"),
            ({"hooks": {"BeforeTool": {"command": "guard"}}}, "hooks.BeforeTool"),
        ],
    )
    def test_other_errors_that_end_a_run(self, machine: ProgramEnv, content: dict[str, object], key: str) -> None:
        machine.write_user_settings(**content)
        found = report(machine)
        assert len(found.faults) == 1
        assert [(each.key, each.status.value) for each in found.settings] == [(key, "wrong value")]

    def test_rules_that_end_a_run(self, machine: ProgramEnv) -> None:
        path = machine.home / ".gemini" / "policies" / "mine.toml"
        path.parent.mkdir(parents=True, mode=0o700)
        path.write_text('[[rule]]\ntoolName = "glob"\ndecision = "forbid"\npriority = 1\n')
        (fault,) = report(machine).faults
        assert fault.startswith(f"policy: {path}:3: ")
        assert machine.run("doctor", "--setup").code == 52

    def test_an_authentication_type_that_ends_a_run(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(security={"auth": {"enforcedType": "vertex-ai"}})
        found = report(machine)
        assert found.faults == (f"authentication: vertex-ai ({path}:1); this run would use gemini-api-key",)
        assert found.exit_code == 41
        machine.environment["GEMINI_TELEMETRY_TARGET"] = "elsewhere"
        assert report(machine).exit_code == 52

    def test_nothing_there(self, machine: ProgramEnv) -> None:
        assert shown(report(machine)) == [
            "Nothing found | no settings or other files of Gemini CLI",
            "Settings in effect | 0",
        ]


class TestFiles:
    def test_of_the_user(self, machine: ProgramEnv) -> None:
        gemini = machine.home / ".gemini"
        write(gemini, "GEMINI.md", "policies/a.toml", "commands/git/a.toml", "commands/b.toml", "keybindings.json")
        write(gemini, "oauth_creds.json", "tmp/abc/chats/session-1.json", "extensions/one/gemini-extension.json")
        write(gemini, "extensions/extension-enablement.json", "agents/helper.md", "skills/s/SKILL.md")
        write(machine.home, ".agents/skills/t/SKILL.md")
        (machine.home / ".agents/skills/t/SKILL.md").write_text("---\nname: t\ndescription: Does t.\n---\nDo it.\n")
        (gemini / "trustedFolders.json").write_text("{}")
        found = {path.removeprefix(f"{machine.home}/"): use for path, use in files(report(machine)).items()}
        assert found == {
            ".gemini/GEMINI.md": ("used", "sent to the model"),
            ".gemini/policies": ("used", "1 file"),
            ".gemini/commands": ("used", "2 files"),
            ".gemini/trustedFolders.json": (
                "used",
                "folders that Gemini CLI trusts are trusted as they are when first opened",
            ),
            ".gemini/keybindings.json": ("not used", "key bindings are not supported yet"),
            ".gemini/oauth_creds.json": ("not used", "never read: the sign-in of Gemini CLI"),
            ".gemini/tmp": ("not used", "1 chat; import it with `tejat sessions import`"),
            ".gemini/extensions/one": ("not used", "`tejat extensions list` says why"),
            ".gemini/agents": ("used", "1 file"),
            ".gemini/skills/s/SKILL.md": (
                "not used",
                f"Skipped the skill {gemini}/skills/s/SKILL.md: no front matter: the first line must be ---.",
            ),
            ".agents/skills": ("used", "t"),
        }

    def test_of_a_project(self, machine: ProgramEnv) -> None:
        write(machine.project, "GEMINI.md", ".gemini/commands/a.toml", ".gemini/policies/a.toml", ".geminiignore")
        write(machine.project, ".mcp.json")
        trusted = report(machine)
        found = {path.removeprefix(f"{machine.project}/"): use for path, use in files(trusted).items()}
        assert found == {
            "GEMINI.md": ("used", "read"),
            ".gemini/commands": ("used", "1 file"),
            ".gemini/policies": ("partly used", "ask and deny rules apply, allow rules do not"),
            ".geminiignore": ("used", "files it matches are ignored"),
            ".mcp.json": ("not used", "its servers are not started; add them to .gemini/settings.json"),
        }
        untrusted = files(report(machine, trusts_folder=False))
        assert untrusted[str(machine.project / "GEMINI.md")] == ("not used", "the folder is not trusted")
        assert untrusted[str(machine.project / ".gemini" / "commands")] == ("not used", "the folder is not trusted")

    def test_settings_of_a_folder_that_is_not_trusted(self, machine: ProgramEnv) -> None:
        path = machine.write_project_settings(tools={"exclude": ["glob"]}, mcp={"excluded": ["one"]}, vimMode=True)
        detail = "the folder is not trusted; only these settings apply: tools.exclude, mcp.excluded"
        assert files(report(machine, trusts_folder=False)) == {str(path): ("partly used", detail)}
        machine.write_project_settings(tools={"exclude": ["glob"]})
        assert files(report(machine, trusts_folder=False))[str(path)][0] == "partly used"
        machine.write_project_settings(vimMode=True)
        assert files(report(machine, trusts_folder=False)) == {str(path): ("not used", "the folder is not trusted")}

    def test_environment_files_that_are_not_used(self, machine: ProgramEnv) -> None:
        write(machine.project, ".env", ".gemini/.env")
        plain, own = (str(machine.project / name) for name in (".env", ".gemini/.env"))
        assert files(report(machine)) == {
            own: ("used", "variables are set"),
            plain: ("not used", f"{own} is used instead"),
        }
        untrusted = ("not used", "the folder is not trusted")
        assert files(report(machine, trusts_folder=False)) == {own: untrusted, plain: untrusted}
        Path(own).unlink()
        path = machine.write_user_settings(advanced={"ignoreLocalEnv": True})
        assert files(report(machine))[plain] == ("not used", f"turned off by {path}:1")

    def test_policies_that_are_replaced(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(policyPaths=["~/rules"])
        for directory in (machine.home / "rules", machine.home / ".gemini" / "policies"):
            directory.mkdir(mode=0o700)
            (directory / "a.toml").write_text("")
        detail = f"ask and deny rules apply; {path}:1 replaces allow rules"
        assert files(report(machine))[str(machine.home / ".gemini" / "policies")] == ("partly used", detail)

    def test_servers_that_are_not_started(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(mcpServers={"one": {"command": "x"}}, mcp={"excluded": ["one"]})
        assert files(report(machine))[f"{path}:1"] == ("not used", f"one: {path}:1 excludes it.")

    def test_servers_and_variables(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(mcpServers={"one": {"command": "x"}})
        write(machine.home, ".gemini/.env")
        machine.environment["CLOUD_SHELL"] = "true"
        found = report(machine)
        assert files(found)[f"{path}:1"] == ("used", "one")
        assert files(found)[str(machine.home / ".gemini" / ".env")] == ("used", "variables are set")
        assert [name for name, _ in found.variables] == ["CLOUD_SHELL"]
        assert "# Variables without effect (1)" in shown(found)
