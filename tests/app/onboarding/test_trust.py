"""A folder with configuration is asked about before any of it counts."""

import asyncio
import json
from pathlib import Path

import pytest

from support.program import ProgramEnv
from support.prompter import FakePrompter, report_text
from tejat.app.onboarding.trust import StartupExit, review_instructions, setup_trust
from tejat.app.run_config import UserConfig, load_run_config, load_user_config
from tejat.app.session.prompt.context import load_context_files
from tejat.config.trust.decision import TrustLevel, trust_folder
from tejat.core.ui.prompter import Choice

TRUST, PARENT, DISTRUST = 0, 1, 2
USE, NOT_NOW = 0, 1


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def config_of(machine: ProgramEnv) -> UserConfig:
    return load_user_config([str(machine.project)], environment=machine.environment)


def level_of(machine: ProgramEnv) -> TrustLevel:
    return load_run_config([str(machine.project)], environment=machine.environment).trust.level


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class TestTrust:
    def settle(self, machine: ProgramEnv, *choices: int | None) -> tuple[TrustLevel | None, FakePrompter]:
        """The trust that the run goes on with, None if it does not."""
        person = FakePrompter(choices=choices)
        config = asyncio.run(setup_trust(config_of(machine), person))
        return None if isinstance(config, StartupExit) else config.trust.level, person

    def test_a_folder_without_configuration_is_not_asked_about(self, machine: ProgramEnv) -> None:
        settled, person = self.settle(machine)
        assert (settled, person.asked, person.reports) == (TrustLevel.UNKNOWN, [], [])

    @pytest.mark.parametrize("name", [".gemini/settings.json", ".env", "GEMINI.md", "AGENTS.md", ".mcp.json"])
    def test_a_folder_with_configuration_is(self, machine: ProgramEnv, name: str) -> None:
        write(machine.project / name, "{}")
        settled, person = self.settle(machine, DISTRUST)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.title == "Do you trust this folder?"
        assert [option.label for option in asked.options] == [
            "Trust this folder (project)",
            f"Trust the parent folder ({machine.base.name})",
            "Don't trust",
        ]
        assert asked.is_critical
        assert name in str(asked.report)
        assert str(machine.project) in str(asked.report)
        assert settled is TrustLevel.NOT_TRUSTED

    def test_the_question_lists_what_would_be_used(self, machine: ProgramEnv) -> None:
        server, hook = {"command": "./serve.sh"}, {"hooks": [{"type": "command", "command": "./check.sh"}]}
        settings = {"mcpServers": {"a": server, "b": server}, "hooks": {"BeforeTool": [hook]}}
        write(machine.project / ".gemini" / "settings.json", json.dumps(settings))
        for name in ("one", "two", "three"):
            write(machine.project / ".gemini" / "commands" / f"{name}.toml", 'prompt = "x"')
        write(machine.project / "serve.sh", "")
        write(machine.project / "GEMINI.md", "Be kind.")
        _, person = self.settle(machine, None)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.report is not None
        lines = report_text(asked.report).splitlines()
        expected = "It contains 2 MCP servers, 1 hook, 1 script, 3 commands, .gemini/settings.json, GEMINI.md."
        assert expected in lines
        assert "  mcpServers.a runs: ./serve.sh" in lines
        assert len(lines) < 16

    def test_a_yes_is_for_the_folder_as_it_was_shown(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        settled, _ = self.settle(machine, TRUST)
        assert settled is TrustLevel.TRUSTED
        assert level_of(machine) is TrustLevel.TRUSTED
        assert self.settle(machine)[1].asked == []

    def test_what_changes_afterwards_is_asked_about_again(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        self.settle(machine, TRUST)
        write(machine.project / ".gemini" / "settings.json", '{"tools": {"discoveryCommand": "evil"}}')
        _, person = self.settle(machine, None)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert "Changed since you trusted it: .gemini/settings.json" in str(asked.report)
        assert [option.label for option in asked.options] == ["Trust this folder (project)", "Don't trust"]
        assert level_of(machine) is TrustLevel.CHANGED

    def test_the_parent_covers_its_other_folders_as_they_are_first_seen(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        other = machine.base / "other"
        write(other / ".env", "A=b")
        settled, _ = self.settle(machine, PARENT)
        assert settled is TrustLevel.TRUSTED
        assert level_of(machine) is TrustLevel.TRUSTED

        def other_level() -> TrustLevel:
            return load_run_config([str(other)], environment=machine.environment).trust.level

        assert other_level() is TrustLevel.TRUSTED
        write(other / ".env", "A=c")
        assert other_level() is TrustLevel.CHANGED

    def test_a_parent_that_others_can_write_to_is_not_offered(self, machine: ProgramEnv) -> None:
        write(machine.project / ".env", "A=b")
        machine.base.chmod(0o777)
        _, person = self.settle(machine, None)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert [option.label for option in asked.options] == ["Trust this folder (project)", "Don't trust"]

    def test_a_no_is_remembered(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        config = asyncio.run(setup_trust(config_of(machine), FakePrompter(choices=[DISTRUST])))
        assert isinstance(config, UserConfig)
        assert config.trust.level is TrustLevel.NOT_TRUSTED
        assert config.load_project().is_untrusted
        assert any(".gemini/settings.json" in note for note in config.load_project().notes)
        assert level_of(machine) is TrustLevel.NOT_TRUSTED
        assert self.settle(machine)[1].asked == []

    def test_escape_decides_nothing(self, machine: ProgramEnv) -> None:
        write(machine.project / ".env", "A=b")
        settled, _ = self.settle(machine, None)
        assert settled is None
        assert level_of(machine) is TrustLevel.UNKNOWN

    def test_before_the_answer_nothing_of_the_folder_counts(self, machine: ProgramEnv) -> None:
        """Not even settings that are broken: they are somebody else's."""
        write(machine.project / ".gemini" / "settings.json", "{ broken")
        settled, _ = self.settle(machine, DISTRUST)
        assert settled is TrustLevel.NOT_TRUSTED


class TestInstructions:
    @pytest.fixture(autouse=True)
    def changed(self, machine: ProgramEnv) -> None:
        write(machine.project / "GEMINI.md", "Be kind.\n")
        trust_folder(config_of(machine).paths, str(machine.project))
        assert asyncio.run(review_instructions(config_of(machine), FakePrompter())) is None
        write(machine.project / "GEMINI.md", "Be quick.\n" * 300)

    def used(self, machine: ProgramEnv) -> int:
        run_config = load_run_config([str(machine.project)], environment=machine.environment)
        return len(load_context_files(run_config).files)

    def test_changed_ones_are_shown_and_asked_about(self, machine: ProgramEnv) -> None:
        person = FakePrompter(choices=[USE])
        assert asyncio.run(review_instructions(config_of(machine), person)) is None
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.title == "Use these instructions for the model?"
        assert asked.initial == NOT_NOW
        assert str(asked.report).count("Be quick.") == 200
        assert "[100 more lines in GEMINI.md]" in str(asked.report)
        assert self.used(machine) == 1
        assert asyncio.run(review_instructions(config_of(machine), FakePrompter())) is None

    def test_not_now(self, machine: ProgramEnv) -> None:
        assert asyncio.run(review_instructions(config_of(machine), FakePrompter(choices=[NOT_NOW]))) is None
        assert self.used(machine) == 0

    def test_leaving(self, machine: ProgramEnv) -> None:
        left = asyncio.run(review_instructions(config_of(machine), FakePrompter(choices=[None])))
        assert left is StartupExit.QUIT
