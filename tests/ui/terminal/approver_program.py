"""A small program that asks a question on a screen, or two, and prints the last reply."""

import asyncio
import locale
import os
import sys

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings
from rich.text import Text

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    Risk,
    Scope,
)
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.ui.prompter import Choice, Option
from tejat.core.ui.report import text_report
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager
from tejat.ui.terminal.approver import TerminalApprover
from tejat.ui.terminal.prompter import TerminalPrompter
from tejat.ui.terminal.render.cells import Frame, split_cells
from tejat.ui.terminal.render.theme import detect_theme
from tejat.ui.terminal.screen.inline_screen import InlineScreen, ScreenHandlers, TerminalStreams
from tejat.ui.terminal.views.transcript import Transcript

HIDDEN = "\n".join([*(f"echo {number}" for number in range(39)), "touch MARK"])
HOSTILE = "echo \x1b]52;c;eA==\x07\x1b[2J\r\u202e; touch MARK"
QUESTIONS = {
    "shell": ApprovalRequest(
        ExecConfirmation("T", "git log", "/w", ("git",)), "shell", "Why.", "allow shell: git log", tuple(Scope)
    ),
    "risky": ApprovalRequest(ExecConfirmation("T", HOSTILE, "/w", ("echo", "touch")), "shell", risks=(Risk.DELETES,)),
    "long": ApprovalRequest(ExecConfirmation("T", HIDDEN, "/w", ("echo", "touch")), "shell"),
    "edit": ApprovalRequest(
        EditConfirmation("T", "a.txt", "/w/a.txt", "@@ -1,1 +1,1 @@\n-old\n+new\n", "old\n", "new\n"),
        "replace",
        can_modify=True,
    ),
    "form": ApprovalRequest(
        ElicitationConfirmation("T", "srv", "Who?", {"properties": {"name": {"type": "string"}}, "required": ["name"]}),
        "",
    ),
}


class NoEditor:
    def __init__(self) -> None:
        self.buffer = Buffer()
        self.bindings = KeyBindings()

    def view(self, *, width: int, height: int) -> Frame:
        return Frame((split_cells("> "),), (2, 0))


async def run(what: str, then: str = "") -> None:
    stopped: list[str] = []
    screen = InlineScreen(
        NoEditor(),
        detect_theme(os.environ, encoding=locale.getpreferredencoding()),
        status=lambda _: Text("status"),
        queued=list,
        handlers=ScreenHandlers(*[lambda: None] * 4),
        terminal=TerminalStreams(sys.stdin, sys.stdout, os.environ),
    )
    user = TerminalPrompter(screen, ExternalEditor, Transcript(screen).show_report, lambda _: screen.theme, Pager())
    approver = TerminalApprover(screen, stop=lambda: stopped.append("stopped"), editor=ExternalEditor, pager=Pager())
    async with screen:
        if what in QUESTIONS:
            answer = await approver.ask(QUESTIONS[what])
            if then:
                answer = await approver.ask(replace(QUESTIONS[then], note="Asked next."))
            screen.print(Text(f"answered: {in_words(answer)} {' '.join(stopped)}"))
            return
        try:
            screen.print(Text(f"answered: {await asked(user, what)}"))
        except UsageError as error:
            screen.print(Text(f"refused: {error}"))


async def asked(user: TerminalPrompter, what: str) -> object:
    match what:
        case "choose":
            options = tuple(Option(name, f"the {name} one") for name in ("first", "second", "third"))
            return await user.choose(Choice("Which?", options, report=text_report("Look at this.")))
        case "enter":
            return await user.enter("Your key", is_secret=True)
        case "page":
            return await user.page([text_report("Short."), text_report("\n".join(f"row {n}" for n in range(40)))])
        case "fitting":
            return await user.page([text_report("Short.")])
        case "write":
            return await user.edit("before\n", suffix=".txt")
        case _:
            return await user.copy("Hello")


def in_words(answer: ApprovalReply) -> str:
    return f"{answer.outcome.value} {answer.feedback} {answer.new_content!r} {answer.answers}"


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1].split("-")))
