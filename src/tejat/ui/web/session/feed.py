"""One live session for all browsers that look at it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack

from tejat.core.agent.events import AgentEvent, Prompted, QuestionAnswered, QuestionAsked, RunEnded
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.ui.report import Tone, text_report
from tejat.ui.contract import UiSession
from tejat.ui.html.transcript import HtmlTranscript
from tejat.ui.shared.approval.choices import always_note
from tejat.ui.shared.prompt_queue import PromptQueue
from tejat.ui.shared.repl import Repl
from tejat.ui.web.contract import SessionDirectory
from tejat.ui.web.http.event_stream import encode_event
from tejat.ui.web.session.agent_tree import AgentTree
from tejat.ui.web.session.attachments import AttachedFiles
from tejat.ui.web.session.page_views import PageViews
from tejat.ui.web.session.questions import question_to_json, reply_from_json
from tejat.ui.web.session.status_json import status_to_json
from tejat.ui.web.session.view_state import ViewState

FRAME_SECONDS = 0.04
"""Time between two updates while much happens."""


class SessionFeed:
    """Keeps the page of a session up to date, and passes on what users do there.

    `open` attaches it; `close` detaches it. The session goes on without it.
    """

    def __init__(self, directory: SessionDirectory, session_id: str) -> None:
        self.state = ViewState()
        self.files = AttachedFiles()
        self.listeners = 0
        self._directory = directory
        self._session_id = session_id
        self._stack = AsyncExitStack()
        self._transcript = HtmlTranscript(root="")
        self._agents = AgentTree("", time.time)
        self._queue = PromptQueue()
        self._views = PageViews(self.state, self)
        self._asked: dict[str, ApprovalRequest] = {}
        self._answering: dict[str, tuple[str, ApprovalReply]] = {}
        self._past: list[AgentEvent] | None = []
        """The events before the connection was open."""
        self._is_running = False
        self._run_since = 0.0
        self._flush_timer: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self._session: UiSession | None = None
        self._repl: Repl | None = None
        self._repl_task: asyncio.Task[None] | None = None
        self._watch_task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Attach to the session; the page then has all of it so far. Raises UsageError."""
        connection = await self._stack.enter_async_context(
            self._directory.open_live(self._session_id, self._handle_event)
        )
        self._session = connection.session
        self._transcript = HtmlTranscript(root=connection.root)
        self._agents = AgentTree(connection.root, time.time)
        past, self._past = self._past or [], None
        for event in past:
            self._record(event, is_past=True)
        self._is_running = connection.is_running
        self._watch_task = asyncio.create_task(self._watch_connection(connection.wait_closed))
        for note in self._session.take_notes():
            self._views.show_report(text_report(note, Tone.WARNING))
        self._repl_task = asyncio.create_task(self._run_repl())
        self.flush()

    async def close(self) -> None:
        """Detach from the session."""
        if self._flush_timer is not None:
            self._flush_timer.cancel()
        if self._session is not None:
            self._session.leave()
        for task in filter(None, (self._repl_task, self._watch_task)):
            task.cancel()
            await asyncio.wait((task,))
        await self._stack.aclose()

    @property
    def is_working(self) -> bool:
        """Whether a run goes on, or a line of a browser."""
        return self._is_running or (self._repl is not None and self._repl.is_working)

    @property
    def has_ended(self) -> bool:
        """Whether the connection to the session is over."""
        return self._watch_task is not None and self._watch_task.done()

    @property
    def session(self) -> UiSession:
        assert self._session is not None
        return self._session

    @property
    def repl(self) -> Repl:
        assert self._repl is not None
        return self._repl

    async def _watch_connection(self, wait_closed: Callable[[], Awaitable[object]]) -> None:
        """Let browsers load the page again when the session is gone: it may be stored."""
        await wait_closed()
        self.state.clear()

    async def _run_repl(self) -> None:
        """Run submitted lines. Quitting ends the loop in a terminal; here the session goes on."""
        while True:
            self._repl = Repl(self.session, self._views, self._queue, expand=self.files.expand)
            await self._repl.run(None)
            text = _(
                "The session goes on. To end it, run: {command}", command=f"tejat sessions stop {self._session_id}"
            )
            self._views.show_report(text_report(text))

    # What happens in the session.

    def _handle_event(self, event: AgentEvent) -> None:
        if self._past is not None:
            self._past.append(event)
            return
        self._record(event)
        self.mark_changed()

    def _record(self, event: AgentEvent, *, is_past: bool = False) -> None:
        self._transcript.handle_event(event)
        self._agents.handle_event(event)
        match event:
            case Prompted():
                self._is_running, self._run_since = True, time.time()
            case RunEnded():
                self._is_running = False
            case QuestionAsked(question):
                self._asked[question.question_id] = question.request
            case QuestionAnswered(question_id, reply):
                request = self._asked.pop(question_id, None)
                if request is not None and not is_past:
                    self._note_answer(question_id, request, reply)
            case _:
                pass

    def _note_answer(self, question_id: str, request: ApprovalRequest, reply: ApprovalReply | None) -> None:
        client, own_reply = self._answering.pop(question_id, ("", None))
        rule = "" if reply is None else always_note(request, reply)
        is_withdrawn = reply is None
        self.state.add_notice(
            {
                "kind": "answered",
                "question": question_id,
                "by": client if reply == own_reply else "",
                "withdrawn": is_withdrawn,
                "rule": rule,
            }
        )

    def mark_changed(self) -> None:
        """Update the page soon: at once after a pause, else with the next frame."""
        if self._flush_timer is None:
            loop = asyncio.get_running_loop()
            self._flush_timer = loop.call_at(self._flushed_at + FRAME_SECONDS, self._flush_on_time)

    def _flush_on_time(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001 -- a block that cannot be shown must not end the page
            message = report_unexpected(error, "the web page")
            self.state.add_notice({"kind": "hint", "text": message, "client": ""})

    def flush(self) -> None:
        """Update the page now."""
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        for update in self._transcript.take_updates():
            self.state.set_block(update.block_id, update.html, update.parent)
        if self._session is None:
            return
        self.state.set_value("status", status_to_json(self._session.status))
        self.state.set_value("agents", self._agents.to_json())
        self.state.set_value("questions", [question_to_json(each) for each in self._session.pending_questions])
        self.state.set_value("dialogs", [*self._views.prompter.dialogs])
        self.state.set_value("work", self._work_to_json())

    def _work_to_json(self) -> JsonObject:
        return {
            "working": self.is_working,
            "since": round(self._run_since, 1) if self._is_running else 0,
            "queue": list(self._queue.pending()),
        }

    def clear(self) -> None:
        """Begin anew: the conversation before belongs to another session."""
        self._transcript.take_updates()
        self._transcript = HtmlTranscript(root=self.session.status.folder)
        self.state.clear()
        self.mark_changed()

    # What browsers do.

    async def stream(self, position: str) -> AsyncGenerator[bytes]:
        """Yield everything after a position, as it changes; `reset` if the page must be loaded again."""
        self.listeners += 1
        try:
            epoch, number = self.state.epoch, self.state.parse_position(position)
            while number is not None and self.state.epoch == epoch:
                if self.state.number > number:
                    changes, number = self.state.changes_after(number), self.state.number
                    yield encode_event("change", changes, position=self.state.position)
                await self.state.wait_for_change(number, epoch)
            yield encode_event("reset", None)
        finally:
            self.listeners -= 1

    def snapshot(self, count: int) -> JsonObject:
        """The latest blocks and all values, with the position that the stream goes on from."""
        self.flush()
        blocks, earlier = self.state.latest_blocks(count)
        return {
            "position": self.state.position,
            "blocks": [block.to_json() for block in blocks],
            "earlier": earlier,
            "values": dict(self.state.values),
        }

    def submit(self, line: str, client: str) -> None:
        """Run a line, or queue it."""
        self._views.prompter.client = client
        self.repl.submit(line)
        self.mark_changed()

    def steer(self, text: str, client: str) -> None:
        """Send a text to the model while it works."""
        self._views.prompter.client = client
        self.repl.steer(text)
        self.mark_changed()

    def take_back(self) -> str:
        """Return the newest line of the queue for editing, empty if there is none."""
        self.mark_changed()
        return self._queue.pop_last() or ""

    def interrupt(self) -> bool:
        """Stop what runs, whoever started it; return whether anything did."""
        is_working = self.is_working
        if self.repl.is_working:
            self.repl.stop()
        else:
            self.session.interrupt()  # of a run that began before the page was opened
        self.mark_changed()
        return is_working

    def switch_mode(self, client: str, *, yolo: bool) -> None:
        """Switch to the next approval mode, or turn YOLO mode on or off."""
        self._views.prompter.client = client
        if yolo:
            self.repl.toggle_yolo()
        else:
            self.repl.next_mode()

    def answer_dialog(self, dialog_id: str, value: JsonValue) -> bool:
        """Answer a dialog of a command; False if it is not open any more."""
        return self._views.prompter.answer(dialog_id, value)

    def answer_question(self, question_id: str, fields: JsonFields, client: str) -> bool:
        """Answer a question; False if it was answered before. Raises InvalidReply and ValueError."""
        question = self._find_question(question_id)
        if question is None:
            return False
        reply = reply_from_json(question.request, fields)
        self._answering[question_id] = (client, reply)
        if self.session.answer(question_id, reply):
            return True
        self._answering.pop(question_id, None)
        return False

    def _find_question(self, question_id: str) -> PendingQuestion | None:
        return next((each for each in self.session.pending_questions if each.question_id == question_id), None)
