"""A small program around a frame that asks what its first argument says, and prints what was answered."""

import asyncio
import locale
import os
import sys

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings
from rich.text import Text

from tejat.core.confirm import (
    Answer,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    Question,
    Risk,
    Scope,
)
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option
from tejat.core.sheet import told
from tejat.frontends.external_editor import Editor
from tejat.frontends.external_pager import Pager
from tejat.frontends.terminal.approver import TerminalApprover
from tejat.frontends.terminal.cells import Picture, cells_of
from tejat.frontends.terminal.frame import Frame
from tejat.frontends.terminal.look import find_look
from tejat.frontends.terminal.person import TerminalPerson
from tejat.frontends.terminal.transcript import Transcript

HIDDEN = "\n".join([*(f"echo {number}" for number in range(39)), "touch MARK"])
HOSTILE = "echo \x1b]52;c;eA==\x07\x1b[2J\r\u202e; touch MARK"
QUESTIONS = {
    "shell": Question(
        ExecConfirmation("T", "git log", "/w", ("git",)), "shell", "Why.", "allow shell: git log", tuple(Scope)
    ),
    "risky": Question(ExecConfirmation("T", HOSTILE, "/w", ("echo", "touch")), "shell", risks=(Risk.DELETES,)),
    "long": Question(ExecConfirmation("T", HIDDEN, "/w", ("echo", "touch")), "shell"),
    "edit": Question(
        EditConfirmation("T", "a.txt", "/w/a.txt", "@@ -1,1 +1,1 @@\n-old\n+new\n", "old\n", "new\n"),
        "replace",
        can_modify=True,
    ),
    "form": Question(
        ElicitationConfirmation("T", "srv", "Who?", {"properties": {"name": {"type": "string"}}, "required": ["name"]}),
        "",
    ),
}


class NoEditor:
    def __init__(self) -> None:
        self.buffer = Buffer()
        self.bindings = KeyBindings()

    def view(self, *, width: int, height: int) -> Picture:
        return Picture((cells_of("> "),), (2, 0))


async def run(what: str) -> None:
    stopped: list[str] = []
    frame = Frame(
        NoEditor(),
        find_look(os.environ, encoding=locale.getpreferredencoding()),
        status=lambda _: Text("status"),
        queued=list,
        on_interrupt=lambda: None,
        on_escape=lambda: None,
        on_end=lambda: None,
        on_hangup=lambda: None,
        environment=os.environ,
        stdin=sys.stdin,
        stdout=sys.stdout,
    )
    person = TerminalPerson(frame, Editor, Transcript(frame).show)
    approver = TerminalApprover(frame, stop=lambda: stopped.append("stopped"), editor=Editor, pager=Pager())
    async with frame:
        if what in QUESTIONS:
            answer = await approver.ask(QUESTIONS[what])
            frame.print(Text(f"answered: {in_words(answer)} {' '.join(stopped)}"))
            return
        try:
            frame.print(Text(f"answered: {await asked(person, what)}"))
        except UsageError as error:
            frame.print(Text(f"refused: {error}"))


async def asked(person: TerminalPerson, what: str) -> object:
    match what:
        case "choose":
            options = tuple(Option(name, f"the {name} one") for name in ("first", "second", "third"))
            return await person.choose(Choice("Which?", options, sheet=told("Look at this.")))
        case "enter":
            return await person.enter("Your key", is_secret=True)
        case "write":
            return await person.edit("before\n", suffix=".txt")
        case _:
            return await person.copy("Hello")


def in_words(answer: Answer) -> str:
    return f"{answer.outcome.value} {answer.feedback} {answer.new_content!r} {answer.answers}"


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1]))
