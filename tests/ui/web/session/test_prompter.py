"""Dialogs of commands in the browser."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tejat.core.messages.types import JsonValue
from tejat.core.ui.prompter import Choice, Option
from tejat.core.ui.report import Report, text_report
from tejat.ui.web.session.prompter import WebPrompter

_Result = TypeVar("_Result")
CHOICE = Choice("Which?", (Option("One", "first"), Option("Two")), report=text_report("Before."), is_critical=True)


def ask(question: Callable[[WebPrompter], Awaitable[_Result]], answer: JsonValue) -> tuple[_Result, WebPrompter]:
    async def main() -> tuple[_Result, WebPrompter]:
        changes: list[int] = []
        prompter = WebPrompter(lambda _report: None, lambda: changes.append(1))
        prompter.client = "me"
        task = asyncio.ensure_future(question(prompter))
        await asyncio.sleep(0)
        (dialog,) = prompter.dialogs
        assert dialog["client"] == "me"
        assert prompter.answer(str(dialog["id"]), answer)
        assert not prompter.answer(str(dialog["id"]), answer), "the first answer counts"
        async with asyncio.timeout(5):
            result = await task
        assert prompter.dialogs == []
        assert len(changes) == 2
        return result, prompter

    return asyncio.run(main())


def test_a_choice_has_its_options_and_report() -> None:
    async def main() -> None:
        prompter = WebPrompter(lambda _report: None, lambda: None)
        task = asyncio.ensure_future(prompter.choose(CHOICE))
        await asyncio.sleep(0)
        (dialog,) = prompter.dialogs
        assert "Before." in str(dialog["html"])
        assert dialog["options"] == [
            {"label": "One", "detail": "first", "note": ""},
            {"label": "Two", "detail": "", "note": ""},
        ]
        task.cancel()
        await asyncio.wait((task,))
        assert prompter.dialogs == [], "whoever asks was cancelled"

    asyncio.run(main())


def test_answers_of_every_kind() -> None:
    assert ask(lambda user: user.choose(CHOICE), 1)[0] == 1
    for wrong in (None, 2, -1, True, "1"):
        assert ask(lambda user: user.choose(CHOICE), wrong)[0] is None
    assert ask(lambda user: user.enter("Name?"), "a\nb")[0] == "a"
    assert ask(lambda user: user.enter("Name?"), None)[0] is None
    assert ask(lambda user: user.edit("text"), "new\ntext")[0] == "new\ntext"
    assert ask(lambda user: user.copy("text"), "copied")[0] == "the clipboard of the browser"


def test_reports_go_to_the_transcript() -> None:
    shown: list[Report] = []
    prompter = WebPrompter(shown.append, lambda: None)
    prompter.show(text_report("one"))
    assert asyncio.run(prompter.page([text_report("two")])) is False
    assert shown == [text_report("one"), text_report("two")]
