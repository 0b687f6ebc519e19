"""A folder that brings something along is asked about before any of it counts."""

import asyncio
from pathlib import Path

import pytest

from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.onboarding.trust import StartupExit, review_instructions, setup_trust
from tejat.app.run_config import UserConfig, load_run_config, load_user_config
from tejat.app.session.context import load_context_files
from tejat.config.trust.decision import TrustLevel, trust_folder
from tejat.core.ui.prompter import Choice

YES, NOT_NOW, NEVER = 0, 1, 2


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def config_of(machine: ProgramEnv) -> UserConfig:
    return load_user_config([str(machine.project)], environment=machine.environment)


def level_of(machine: ProgramEnv) -> TrustLevel:
    return load_run_config([str(machine.project)], environment=machine.environment).trust.level


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


class TestTrust:
    def settle(self, machine: ProgramEnv, *choices: int | None) -> tuple[TrustLevel | None, FakePrompter]:
        """The trust that the run goes on with, None if it does not."""
        person = FakePrompter(choices=choices)
        config = asyncio.run(setup_trust(config_of(machine), person))
        return None if isinstance(config, StartupExit) else config.trust.level, person

    def test_a_folder_that_brings_nothing_is_not_asked_about(self, machine: ProgramEnv) -> None:
        settled, person = self.settle(machine)
        assert (settled, person.asked, person.reports) == (TrustLevel.UNKNOWN, [], [])

    @pytest.mark.parametrize("name", [".gemini/settings.json", ".env", "GEMINI.md", "AGENTS.md", ".mcp.json"])
    def test_a_folder_that_brings_something_is(self, machine: ProgramEnv, name: str) -> None:
        write(machine.project / name, "{}")
        settled, person = self.settle(machine, NOT_NOW)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.title == "Trust this folder?"
        assert [option.label for option in asked.options] == ["Yes, use it", "Not now", "Never", "Leave"]
        assert asked.initial == NOT_NOW
        assert name in str(asked.report)
        assert str(machine.project) in str(asked.report)
        assert settled is TrustLevel.UNKNOWN
        assert level_of(machine) is TrustLevel.UNKNOWN

    def test_a_yes_is_for_the_folder_as_it_was_shown(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        settled, _ = self.settle(machine, YES)
        assert settled is TrustLevel.TRUSTED
        assert level_of(machine) is TrustLevel.TRUSTED
        assert self.settle(machine)[1].asked == []

    def test_what_changes_afterwards_is_asked_about_again(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        self.settle(machine, YES)
        write(machine.project / ".gemini" / "settings.json", '{"tools": {"discoveryCommand": "evil"}}')
        _, person = self.settle(machine, NOT_NOW)
        assert "It was trusted before, and has changed since." in str(person.asked)
        assert "changed" in str(person.asked)
        assert level_of(machine) is TrustLevel.CHANGED

    def test_a_never_is_remembered(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini" / "settings.json", "{}")
        assert self.settle(machine, NEVER)[0] is TrustLevel.NOT_TRUSTED
        assert level_of(machine) is TrustLevel.NOT_TRUSTED
        assert self.settle(machine)[1].asked == []

    @pytest.mark.parametrize("answer", [3, None])
    def test_who_leaves_has_decided_nothing(self, machine: ProgramEnv, answer: int | None) -> None:
        write(machine.project / ".env", "A=b")
        settled, _ = self.settle(machine, answer)
        assert settled is None
        assert level_of(machine) is TrustLevel.UNKNOWN

    def test_before_the_answer_nothing_of_the_folder_counts(self, machine: ProgramEnv) -> None:
        """Not even settings that are broken: they are somebody else's."""
        write(machine.project / ".gemini" / "settings.json", "{ broken")
        settled, _ = self.settle(machine, NOT_NOW)
        assert settled is TrustLevel.UNKNOWN


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
        person = FakePrompter(choices=[YES])
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
