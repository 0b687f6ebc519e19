"""New and changed extensions are offered for review at the start of a session, and nothing is used without a yes."""

import asyncio
from pathlib import Path

import pytest

from support.extensions import write_extension
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.onboarding.extensions import review_extensions
from tejat.app.run_config import RunConfig, load_run_config
from tejat.core.ui.prompter import Choice

LATER, REVIEW, LEAVE_OFF = range(3)
USE = 1


class Starter:
    """Starts of a session."""

    def __init__(self, machine: ProgramEnv) -> None:
        self._machine = machine
        self.extensions = machine.home / ".gemini" / "extensions"

    def config(self) -> RunConfig:
        return load_run_config([str(self._machine.project)], environment=self._machine.environment)

    def start(self, *choices: int | None, entries: list[str] | None = None) -> FakePrompter:
        """The user after one start, with these answers."""
        user = FakePrompter(choices=choices, entries=entries or [])
        before = self.used()
        is_any_used = asyncio.run(review_extensions(self.config(), user))
        assert is_any_used == (self.used() != before)
        return user

    def used(self) -> list[str]:
        return [extension.name for extension in self.config().extensions]

    def write(self, name: str, text: str = "one\n") -> Path:
        return write_extension(self.extensions / name, files={"GEMINI.md": text}, is_new=True)


@pytest.fixture
def starter(tmp_path: Path) -> Starter:
    starter = Starter(ProgramEnv(tmp_path))
    starter.write("demo")
    return starter


def titles(user: FakePrompter) -> list[str]:
    return [asked.title for asked in user.asked if isinstance(asked, Choice)]


def test_used_after_a_review(starter: Starter) -> None:
    user = starter.start(REVIEW, USE)
    assert titles(user) == ["Review the extension demo?", "Use this extension?"]
    assert "Extension demo 1.0.0" in user.output
    assert starter.used() == ["demo"]
    assert starter.start().asked == []


def test_the_first_answer_is_to_decide_later(starter: Starter) -> None:
    for asked in starter.start(REVIEW, LATER).asked:
        assert isinstance(asked, Choice)
        assert asked.options[asked.initial].label == "Decide later"
        assert asked.is_critical


@pytest.mark.parametrize("answers", [(LATER,), (REVIEW, LATER), (None,), (REVIEW, None)])
def test_later_means_next_time(starter: Starter, answers: tuple[int | None, ...]) -> None:
    starter.start(*answers)
    assert starter.used() == []
    assert titles(starter.start()) == ["Review the extension demo?"]


@pytest.mark.parametrize("answers", [(LEAVE_OFF,), (REVIEW, LEAVE_OFF)])
def test_left_off_until_it_changes(starter: Starter, answers: tuple[int, ...]) -> None:
    starter.start(*answers)
    assert starter.used() == []
    assert starter.start().asked == []
    starter.write("demo", "two\n")
    assert titles(starter.start()) == ["Review the extension demo?"]


def test_a_changed_one_shows_the_diff(starter: Starter) -> None:
    starter.start(REVIEW, USE)
    starter.write("demo", "two\n")
    assert starter.used() == []
    user = starter.start(REVIEW, USE)
    (first, _) = user.asked
    assert isinstance(first, Choice)
    assert "changed since it was agreed to: GEMINI.md" in str(first.report)
    assert "-one\n+two" in user.output
    assert starter.used() == ["demo"]


def test_a_file_can_be_looked_at_before_the_answer(starter: Starter) -> None:
    user = starter.start(REVIEW, 3, USE, entries=["GEMINI.md"])
    assert "> one" in user.output
    assert starter.used() == ["demo"]


def test_one_after_the_other(starter: Starter) -> None:
    starter.write("other")
    user = starter.start(LATER, REVIEW, USE)
    assert titles(user) == ["Review the extension demo?", "Review the extension other?", "Use this extension?"]
    assert starter.used() == ["other"]


def test_escape_ends_the_questions(starter: Starter) -> None:
    starter.write("other")
    assert titles(starter.start(None)) == ["Review the extension demo?"]
    assert starter.used() == []


def test_what_fails_is_shown_and_stays_off(starter: Starter) -> None:
    starter.write("other")
    (starter.extensions / "demo" / "link").symlink_to("/etc/passwd")
    user = starter.start(REVIEW, LATER)
    assert "link is a link that leads out of the extension" in user.output
    assert titles(user) == ["Review the extension demo?", "Review the extension other?"]


def test_disabled_ones_are_not_asked_about(starter: Starter) -> None:
    (starter.extensions / "extension-enablement.json").write_text('{"demo": {"overrides": ["!/*"]}}')
    assert starter.start().asked == []
