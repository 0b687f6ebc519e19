"""A review shows an extension as it is now, and pins exactly that."""

import asyncio
import shutil
from pathlib import Path

import pytest

from support.extensions import write_extension
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import NotConfirmed
from tejat.app.extensions.review import ExtensionReview
from tejat.app.run_config import load_run_config
from tejat.config.extensions.loader import ExtensionState


class Reviewer:
    def __init__(self, machine: ProgramEnv) -> None:
        self.directory = machine.home / ".gemini" / "extensions" / "demo"
        self.environment = ExtensionEnvironment(
            load_run_config([str(machine.project)], environment=machine.environment)
        )

    @property
    def state(self) -> ExtensionState:
        return self.environment.find("demo").state

    def review(self, *choices: int) -> tuple[str, str]:
        """The message about a review, and what was shown."""
        user = FakePrompter(choices=choices)
        review = ExtensionReview(self.environment, ConsentDialog(user))
        return asyncio.run(review.review(self.environment.find("demo"))), user.output


@pytest.fixture
def reviewer(tmp_path: Path) -> Reviewer:
    machine = ProgramEnv(tmp_path)
    write_extension(machine.home / ".gemini" / "extensions" / "demo", files={"GEMINI.md": "one\n"}, is_new=True)
    return Reviewer(machine)


def test_a_new_one(reviewer: Reviewer) -> None:
    assert reviewer.state is ExtensionState.NEW
    with pytest.raises(NotConfirmed):
        reviewer.review(0)
    assert reviewer.state is ExtensionState.NEW
    message, shown = reviewer.review(1)
    assert message == 'Extension "demo" is used as it is now.'
    assert shown.startswith("Extension demo 1.0.0\n")
    assert reviewer.state is ExtensionState.ENABLED


def test_a_changed_one_shows_the_changes_first(reviewer: Reviewer) -> None:
    reviewer.review(1)
    (reviewer.directory / "GEMINI.md").write_text("two\n")
    assert reviewer.state is ExtensionState.CHANGED
    _, shown = reviewer.review(1)
    assert shown.startswith("Changes of demo since it was agreed to\nchanged GEMINI.md\n")
    assert "-one\n+two\n" in shown
    assert "\nExtension demo 1.0.0\n" in shown
    assert reviewer.state is ExtensionState.ENABLED


def test_an_unchanged_one_is_not_asked_about(reviewer: Reviewer) -> None:
    reviewer.review(1)
    message, shown = reviewer.review()
    assert message == 'Extension "demo" has not changed since you agreed to it.'
    assert "Extension demo 1.0.0" in shown


def test_a_copy_in_its_place_is_agreed_to_again(reviewer: Reviewer) -> None:
    """A directory that was restored from a backup has the same files, but is another one."""
    reviewer.review(1)
    shutil.copytree(reviewer.directory, reviewer.directory.with_name("other"))
    shutil.rmtree(reviewer.directory)
    reviewer.directory.with_name("other").rename(reviewer.directory)
    assert reviewer.state is ExtensionState.CHANGED
    assert reviewer.review(1)[0] == 'Extension "demo" is used as it is now.'
    assert reviewer.state is ExtensionState.ENABLED


def test_what_changes_while_it_is_shown_is_not_agreed_to(reviewer: Reviewer) -> None:
    user = FakePrompter()
    review = ExtensionReview(reviewer.environment, ConsentDialog(user))

    async def agree() -> None:
        sheet = await review.prepare(reviewer.environment.find("demo"))
        (reviewer.directory / "GEMINI.md").write_text("two\n")
        await review.agree(sheet)

    asyncio.run(agree())
    assert reviewer.state is ExtensionState.CHANGED
