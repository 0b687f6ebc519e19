"""One session with two front ends: the terminal, and another one that answers questions once a file appears."""

import asyncio
import os
import sys

from tejat.app.session.interactive import open_interactive_session
from tejat.core.agent.events import AgentEvent, QuestionAnswered, QuestionAsked
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.ui.contract import UiSession
from tejat.ui.plain.output import PlainOutput
from tejat.ui.plain.style import Style
from tejat.ui.shared.questions import answer_questions
from tejat.ui.terminal.app import TerminalApp


class FileApprover:
    """Approves as soon as the file `allow` is there."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        while not os.path.exists("allow"):  # noqa: ASYNC110, ASYNC240 -- another process makes it
            await asyncio.sleep(0.02)
        return ApprovalReply(Outcome.PROCEED_ONCE)


class SecondFrontEnd:
    """Writes the run and the notices in plain lines to a log, and tries to answer every question a second time."""

    def __init__(self, session: UiSession, log: str) -> None:
        self._session = session
        self._log = log
        self._output = PlainOutput(self._write, self.write_line, Style(None))

    def handle_event(self, event: AgentEvent) -> None:
        self._output.handle_event(event)
        match event:
            case QuestionAsked(question):
                self.write_line(f"asked about {question.request.tool_name}")
            case QuestionAnswered(question_id, reply):
                counts = self._session.answer(question_id, ApprovalReply(Outcome.CANCEL))
                self.write_line(f"answered {reply and reply.outcome.value}, a second answer counts: {counts}")
            case _:
                pass

    def write_line(self, line: str) -> None:
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        with open(self._log, "a", encoding="utf-8") as file:
            file.write(text)


async def main(model: str, log: str) -> int:
    options = AgentOptions(model=model, sandbox="off")
    async with open_interactive_session(options) as session:
        terminal = TerminalApp(
            environment=os.environ,
            encoding="utf-8",
            preferences=session.preferences,
            folder=os.getcwd(),
            history=None,
        )
        second = SecondFrontEnd(session, log)
        async with terminal:
            session.subscribe(second.handle_event)
            with answer_questions(session, FileApprover(), second.write_line):
                return await terminal.run_repl(session)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
