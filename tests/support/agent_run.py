"""Agent runs with a scripted model and real tools; records events, requests, journal and history."""

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.note_tool import NoteTool, open_scheduler
from support.prices import FixedPrices
from tejat.core.agent.events import AgentEvent
from tejat.core.agent.prices import Price
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.core.messages.history import History, Message, history_problem, user_message
from tejat.core.messages.types import MessagePart
from tejat.core.model import Capability, Chunk, FailureKind, ModelClient, ModelRequest, Usage
from tejat.core.tools.base import BaseTool
from tejat.engine.loop.budget import Budget, BudgetLimits
from tejat.engine.loop.compressor import Compressor
from tejat.engine.loop.conversation import Conversation, Safeguards
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.request_builder import RequestTemplate
from tejat.engine.loop.tool_declarations import ToolDeclarations
from tejat.engine.loop.turn import RunOutcome, run_turns
from tejat.engine.models.conversation_models import ConversationModels
from tejat.engine.models.fallback import SingleFallback
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.journal_reader import LoadedSession, read_journal
from tejat.models.retry import RetryingModel
from tejat.models.scripted.model import ScriptClient
from tejat.models.scripted.script_file import Script, ScriptedAnswer, ScriptedCall

SYSTEM = "You are a test."
USAGE = Usage(prompt=10, output=5)
PRICE = Price(input=1.0, cached=0.5, output=2.0)


def text_answer(
    text: str, *, purpose: str = "conversation", pause: float = 0.0, usage: Usage = USAGE
) -> ScriptedAnswer:
    return ScriptedAnswer(0, purpose=purpose, say=text, pause=pause, usage=usage)


def call_answer(*requested: ScriptedCall | str, say: str = "", usage: Usage = USAGE) -> ScriptedAnswer:
    """A scripted answer with calls. A string stands for a call of the note tool."""
    made = tuple(ScriptedCall("note", {"text": call}) if isinstance(call, str) else call for call in requested)
    return ScriptedAnswer(0, say=say, calls=made, usage=usage)


def failed_answer(kind: FailureKind, *, say: str = "", purpose: str = "conversation") -> ScriptedAnswer:
    return ScriptedAnswer(0, purpose=purpose, say=say, fail=kind, detail=f"It failed: {kind}.")


class RecordingModel:
    """A scripted model that records its requests and requires a legal history."""

    def __init__(self, answers: Sequence[ScriptedAnswer], *, window: int = 1_000_000, name: str = "first") -> None:
        numbered = [_numbered(answer, number) for number, answer in enumerate(answers, 1)]
        self._inner = ScriptClient(Script(tuple(numbered), window), name)
        self._name = name
        self.requests: list[ModelRequest] = []
        self.asked: list[list[tuple[str, tuple[MessagePart, ...]]]] = []
        self.is_closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_window(self) -> int:
        return self._inner.context_window

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._inner.capabilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        assert history_problem(request.messages) is None
        self.requests.append(request)
        self.asked.append(comparable(request.messages))
        async for chunk in self._inner.stream(request):
            yield chunk

    async def prepare(self) -> Sequence[str]:
        return await self._inner.prepare()

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._inner.count_tokens(request)

    async def close(self) -> None:
        self.is_closed = True


def _numbered(answer: ScriptedAnswer, number: int) -> ScriptedAnswer:
    return replace(answer, number=number)


def comparable(messages: Sequence[Message]) -> list[tuple[str, tuple[MessagePart, ...]]]:
    """Messages in a form that can be compared: messages themselves are compared by identity."""
    return [(message.role.value, message.parts) for message in messages]


@dataclass
class AgentRun:
    """One conversation. `events` are all emitted events; `on_event` sees each of them first."""

    conversation: Conversation
    model: RecordingModel
    journal: SessionJournal
    note: NoteTool
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    on_event: Callable[[AgentEvent], object] = lambda _: None

    def emit(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.on_event(event)

    def run(self, prompt: str = "go") -> RunOutcome:
        return asyncio.run(self.answer(prompt))

    async def answer(self, prompt: str = "go") -> RunOutcome:
        """Run the loop; afterwards the history is legal and the journal agrees with it."""
        self.conversation.start_prompt(user_message(prompt), prompt)
        try:
            return await run_turns(self.conversation)
        finally:
            self.check_consistency()

    def run_and_cancel(self, prompt: str, when: Callable[[AgentEvent], bool]) -> None:
        """Cancel the run at the first event for which `when` holds."""

        async def main() -> None:
            task = asyncio.ensure_future(self.answer(prompt))
            self.on_event = lambda event: when(event) and task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self.on_event = lambda _: None

        asyncio.run(main())

    def check_consistency(self) -> None:
        assert history_problem(self.conversation.history.messages) is None
        if self.journal.failure is None and os.path.exists(self.journal.path):
            assert comparable(self.load_journal().messages) == self.history

    @property
    def history(self) -> list[tuple[str, tuple[MessagePart, ...]]]:
        return comparable(self.conversation.history.messages)

    def load_journal(self) -> LoadedSession:
        with open(self.journal.path, "rb") as file:
            return read_journal(file.fileno(), session_id="")

    def record_kinds(self) -> list[str]:
        """The kinds of the journal records so far."""
        with open(self.journal.path, encoding="utf-8") as file:
            return [json.loads(line)["kind"] for line in file]

    def events_of(self, *kinds: type) -> list[AgentEvent]:
        return [event for event in self.events if isinstance(event, kinds)]

    def switch_model(self, *answers: ScriptedAnswer) -> RecordingModel:
        """Replace the model, as if the service had recovered."""
        model = RecordingModel(answers)
        self.conversation.model = model
        return model


@contextmanager
def agent_run(
    directory: Path,
    *answers: ScriptedAnswer,
    tools: Sequence[BaseTool] = (),
    approver: Approver | None = None,
    limits: BudgetLimits | None = None,
    window: int = 1_000_000,
    attempts: int = 1,
    history: Sequence[Message] = (),
    fallback: ModelClient | None = None,
    clock: Callable[[], float] | None = None,
    guard: LoopDetector | None = None,
    threshold: float = 0.5,
) -> Generator[AgentRun]:
    """A conversation with a tool `note` that needs no approval, and the given tools."""
    note = NoteTool(asks=False)
    model = RecordingModel(answers, window=window)
    asked: ModelClient = model if attempts == 1 else RetryingModel(model, max_attempts=attempts, first_wait=0.01)
    budget = Budget(limits or BudgetLimits(), FixedPrices(lambda _: PRICE), clock=clock or time.monotonic)
    path = directory / "journals"
    journal = SessionJournal.create(str(path), session_id="id", root=str(directory), model="first")
    if history:
        journal.record_preamble(history)
    with open_scheduler(directory, [note, *tools], approver) as scheduler:
        conversation = Conversation(
            asked,
            lambda: scheduler,
            History(history),
            RequestTemplate(SYSTEM, ToolDeclarations(scheduler.registry, scheduler.permission.policy.hides)),
            Safeguards(budget, guard or LoopDetector(), Compressor(threshold=threshold)),
            EventBus(),
            models=None if fallback is None else ConversationModels(SingleFallback(lambda: fallback)),
        )
        conversation.history_events.subscribe(journal.record)
        run = AgentRun(conversation, model, journal, note)
        conversation.events.subscribe(run.emit)
        try:
            yield run
        finally:
            journal.close()
