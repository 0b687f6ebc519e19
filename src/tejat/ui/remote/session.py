"""A session of another process, as front ends here use it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from tejat.core.agent.events import (
    AgentEvent,
    EventSink,
    QuestionAnswered,
    QuestionAsked,
    RunEnded,
    SessionStarted,
)
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.prompt import Prompt
from tejat.core.messages.types import JsonObject
from tejat.core.messages.value_reader import InvalidValue
from tejat.core.ui.commands import AgentSummary
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report
from tejat.core.ui.status import ModeChange, Preferences, Status
from tejat.core.value_json import event_from_dict, value_to_json
from tejat.engine.sessions.event_bus import EventBus
from tejat.mcp.protocol import METHOD_NOT_FOUND
from tejat.ui.jsonrpc.peer import JsonRpcPeer, PeerError, RequestError
from tejat.ui.remote import methods
from tejat.ui.remote.catalogues import RemoteCommands, RemoteFiles
from tejat.ui.remote.client import open_connection
from tejat.ui.remote.params import read_items, read_param
from tejat.ui.remote.prompter_requests import answer_prompter_request


@asynccontextmanager
async def attach_session(
    path: str, warn: Callable[[str], None], *, with_history: bool = False
) -> "AsyncGenerator[RemoteSession]":
    """Attach to the session whose socket is at the path.

    `with_history` gets the whole conversation as events, otherwise only the latest runs. Raises UsageError.
    """
    session = RemoteSession(warn)
    async with open_connection(path, session.peer, session):
        await session.attach(with_history=with_history)
        yield session


class RemoteSession:
    """Implements `ui.contract.UiSession`.

    `history` are the events up to now. Without the whole conversation they are delivered to the first listeners, which
    all have to subscribe in one step.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.peer = JsonRpcPeer(warn, name="session")
        self.commands = RemoteCommands(self.peer, self._run_for)
        self.files = RemoteFiles(self.peer)
        self.history: tuple[AgentEvent, ...] = ()
        self.agents: tuple[AgentSummary, ...] = ()
        self.resume_preview: Report | None = None
        self.resumable_id: str | None = None
        self.title = self.root = ""
        self.is_running = False
        self._status: Status | None = None
        self._preferences = Preferences()
        self._events = EventBus[AgentEvent]()
        self._early: list[AgentEvent] | None = []
        self._is_delivering = False
        self._questions: dict[str, PendingQuestion] = {}
        self._user: UserPrompter | None = None
        self._shell_ids = count(1)
        self._shells: dict[int, Callable[[str], None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_leaving = False
        self._unread: list[tuple[str, JsonObject]] | None = []

    async def attach(self, *, with_history: bool) -> None:
        """Get the session as it is now. Raises UsageError."""
        try:
            found = await self.peer.request(methods.ATTACH, {"history": with_history})
            if found.get("protocol") != methods.PROTOCOL:
                raise UsageError(_("This session runs another version of Tejat. Use that one to attach to it."))
            events = found.get("events")
            self.history = tuple(map(event_from_dict, events if isinstance(events, list) else ()))
            questions = read_items(found, "questions", PendingQuestion)
            self.agents = read_items(found, "agents", AgentSummary)
            self.resume_preview = None if found.get("preview") is None else read_param(found, "preview", Report)
            self._apply_state(read_object(found, "state"))
        except PeerError as error:
            raise UsageError(_("Could not attach to the session: {reason}", reason=error)) from error
        except (InvalidValue, RequestError) as error:
            raise UsageError(_("This session runs another version of Tejat. Use that one to attach to it.")) from error
        self.is_running = found.get("is_running") is True
        self._questions = {each.question_id: each for each in questions}
        if not with_history and self._early is not None:
            # Pending questions are known already, and those that were answered are not asked again.
            shown = [each for each in self.history if not isinstance(each, QuestionAsked | QuestionAnswered)]
            self._early[:0] = shown
        # What came right after the answer is newer than what the answer says.
        unread, self._unread = self._unread or [], None
        for method, params in unread:
            self.handle_notification(method, params)

    @property
    def status(self) -> Status:
        assert self._status is not None
        return self._status

    @property
    def preferences(self) -> Preferences:
        return self._preferences

    @property
    def resume_hint(self) -> str:
        """How to come back while the session goes on."""
        if not self.peer.is_connected:
            return ""
        return _("This session continues. Come back with: {command}", command=f"tejat attach {self.status.session_id}")

    @property
    def survives_exit(self) -> bool:
        """True: the session belongs to another process."""
        return True

    def leave(self) -> None:
        """See `UiSession`."""
        self._is_leaving = True

    def replay(self) -> tuple[AgentEvent, ...]:
        """The events up to now, if they were asked for."""
        return self.history

    def take_notes(self) -> tuple[str, ...]:
        """Nothing: the first front end has shown them."""
        return ()

    def load_definitions(self) -> None:
        """See `UiSession`. The process of the session has read them."""

    async def preload_definitions(self) -> None:
        """See `load_definitions`."""

    async def wait_for_sandbox(self) -> None:
        """Wait until the sandbox of commands is known, or the session is gone."""
        await self._try(methods.SANDBOX, {})

    @property
    def pending_questions(self) -> tuple[PendingQuestion, ...]:
        return tuple(self._questions.values())

    def subscribe(self, listener: EventSink) -> Callable[[], None]:
        """Deliver all events to a listener until the returned function is called."""
        unsubscribe = self._events.subscribe(listener)
        if not self._is_delivering:
            self._is_delivering = True
            asyncio.get_running_loop().call_soon(self._deliver_early)
        return unsubscribe

    async def prompt(self, prompt: Prompt) -> RunEnded:
        """Answer a prompt. Cancelling it stops the run, unless the front end leaves. Raises UsageError."""
        ended = await self._request(methods.PROMPT, {"prompt": value_to_json(prompt)})
        return read_param(ended, "ended", RunEnded)

    def interrupt(self) -> bool:
        """Cancel the run in progress; False if there is none."""
        if self.is_running:
            self._begin(self._try(methods.INTERRUPT, {}))
        return self.is_running

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        """Answer a question; False if it is known to be answered. The first answer of all front ends counts."""
        is_open = question_id in self._questions
        if is_open:
            self._begin(self._try(methods.ANSWER, {"question_id": question_id, "reply": value_to_json(reply)}))
        return is_open

    def fail_question(self, question_id: str, error: Exception) -> bool:
        """Leave the question to the other front ends."""
        return False

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        """Run a shell line in the working directory of the session. Raises UsageError."""
        shell_id = next(self._shell_ids)
        self._shells[shell_id] = show
        try:
            ran = await self._request(methods.SHELL, {"id": shell_id, "line": line})
        finally:
            del self._shells[shell_id]
        return read_param(ran, "result", str)

    def steer(self, text: str) -> bool:
        """Send a text to the model between two calls; False if no run is active."""
        if self.is_running:
            self._begin(self._try(methods.STEER, {"text": text}))
        return self.is_running

    async def next_mode(self, user: UserPrompter) -> ModeChange:
        """Switch to the next approval mode that is permitted. Raises UsageError."""
        return read_param(await self._run_for(methods.MODE, {"is_yolo": False}, user), "change", ModeChange)

    async def toggle_yolo(self, user: UserPrompter) -> ModeChange:
        """Turn YOLO mode on after a confirmation, or off. Raises UsageError."""
        return read_param(await self._run_for(methods.MODE, {"is_yolo": True}, user), "change", ModeChange)

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        """See `MethodHandler`: what a command asks the user of this front end."""
        if self._user is None:
            raise RequestError(METHOD_NOT_FOUND, f"Nobody can be asked: {method}")
        return await answer_prompter_request(self._user, method, params)

    def handle_notification(self, method: str, params: JsonObject) -> None:
        """See `MethodHandler`."""
        if self._unread is not None:
            self._unread.append((method, params))
            return
        match method:
            case methods.EVENT:
                self._handle_event(event_from_dict(params.get("event")))
            case methods.STATE:
                self._apply_state(params)
            case methods.OUTPUT if show := self._shells.get(read_param(params, "id", int)):
                show(read_param(params, "output", str))
            case methods.SHOW if self._user is not None:
                self._user.show(read_param(params, "report", Report))
            case _:
                pass

    def _handle_event(self, event: AgentEvent) -> None:
        match event:
            case SessionStarted():
                self.is_running = True
            case RunEnded():
                self.is_running = False
            case QuestionAsked(question):
                self._questions[question.question_id] = question
            case QuestionAnswered(question_id):
                self._questions.pop(question_id, None)
            case _:
                pass
        if self._early is None:
            self._events.emit(event)
        else:
            self._early.append(event)

    def _deliver_early(self) -> None:
        early, self._early = self._early or [], None
        for event in early:
            self._events.emit(event)

    def _apply_state(self, state: JsonObject) -> None:
        self._status = read_param(state, "status", Status)
        self._preferences = read_param(state, "preferences", Preferences)
        self.commands.update(state)
        resumable_id = state.get("resumable_id")
        self.resumable_id = resumable_id if isinstance(resumable_id, str) else None
        self.title, self.root = read_param(state, "title", str), read_param(state, "root", str)

    async def _run_for(self, method: str, params: JsonObject, user: UserPrompter) -> JsonObject:
        """Send a request whose questions go to this user. Raises UsageError."""
        before, self._user = self._user, user
        try:
            answer = await self._request(method, params)
        finally:
            self._user = before
        self._apply_state(read_object(answer, "state"))
        return answer

    async def _request(self, method: str, params: JsonObject) -> JsonObject:
        """Raises UsageError if the session answers with an error or is gone."""
        try:
            return await self.peer.request(method, params, may_cancel=lambda: not self._is_leaving)
        except PeerError as error:
            raise UsageError(str(error)) from error

    async def _try(self, method: str, params: JsonObject) -> None:
        """Send a request whose failure is shown by the end of the connection, if it matters."""
        with suppress(PeerError):
            await self.peer.request(method, params)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def read_object(params: JsonObject, name: str) -> JsonObject:
    """Return a member that is an object. Raises RequestError."""
    found = params.get(name)
    if not isinstance(found, dict):
        raise RequestError(METHOD_NOT_FOUND, f"{name} must be an object.")
    return found
