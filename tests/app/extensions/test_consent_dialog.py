"""The question whether an extension may be used: what is shown before it, and what is not a yes."""

import asyncio
from pathlib import Path

import pytest

from support.extension_trees import write_plain
from support.prompter import FakePrompter
from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.errors import NotConfirmed
from tejat.core.ui.prompter import Choice, Option
from tejat.core.ui.report import Paragraph, Report

SHEET = [Report("Extension demo 1.0.0", (Paragraph("It runs node."),)), Report("Effect here")]


def labels(user: FakePrompter) -> list[list[str]]:
    return [[option.label for option in asked.options] for asked in user.asked if isinstance(asked, Choice)]


def test_yes() -> None:
    user = FakePrompter(choices=[1])
    asyncio.run(ConsentDialog(user).confirm(SHEET))
    assert labels(user) == [["No", "Yes"]]
    assert user.reports == SHEET


@pytest.mark.parametrize("answer", [0, None])
def test_everything_else_is_no(answer: int | None) -> None:
    user = FakePrompter(choices=[answer])
    with pytest.raises(NotConfirmed, match="Nothing was changed"):
        asyncio.run(ConsentDialog(user).confirm(SHEET))
    (asked,) = user.asked
    assert isinstance(asked, Choice)
    assert (asked.initial, asked.is_critical) == (0, True)


def test_agreed_in_advance() -> None:
    user = FakePrompter(pages=True)
    asyncio.run(ConsentDialog(user, agrees=True, can_ask=False).confirm(SHEET))
    assert (user.reports, user.asked) == (SHEET, [])


def test_nobody_to_ask() -> None:
    user = FakePrompter()
    with pytest.raises(NotConfirmed, match="--yes"):
        asyncio.run(ConsentDialog(user, can_ask=False).confirm(SHEET))
    assert (user.reports, user.asked) == (SHEET, [])


def test_a_sheet_in_the_pager_can_be_shown_again(tmp_path: Path) -> None:
    write_plain(tmp_path / "demo", GEMINI_md="Context")
    user = FakePrompter(choices=[3, 2, 1], entries=["GEMINI.md"], pages=True)
    asyncio.run(ConsentDialog(user).confirm(SHEET, directory=str(tmp_path / "demo")))
    assert labels(user)[0] == ["No", "Yes", "Show a file", "Show it again"]
    assert user.output.count("It runs node.") == 2
    assert user.output.count("Extension demo 1.0.0") == 4  # in the pager, and what is left on the screen
    assert "> Context" in user.output


def test_without_files_the_sheet_can_be_shown_again_too() -> None:
    user = FakePrompter(choices=[2, 1], pages=True)
    assert asyncio.run(ConsentDialog(user).ask(SHEET, "Well?", (Option("No"), Option("Yes")))) == 1
    assert labels(user)[0] == ["No", "Yes", "Show it again"]
    assert user.output.count("It runs node.") == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../outside", "../outside is not in the extension."),
        ("missing", "missing: No such file or directory"),
        ("data", "data is not a text file."),
    ],
)
def test_files_that_cannot_be_shown(tmp_path: Path, name: str, message: str) -> None:
    write_plain(tmp_path / "demo", data="a\0b")
    (tmp_path / "outside").write_text("secret")
    user = FakePrompter(choices=[2, None], entries=[name])
    with pytest.raises(NotConfirmed):
        asyncio.run(ConsentDialog(user).confirm(SHEET, directory=str(tmp_path / "demo")))
    assert message in user.output
    assert "secret" not in user.output
