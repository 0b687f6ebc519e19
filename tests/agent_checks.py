"""Conversations between a scripted model and real tools, watched from all sides: events, requests, journal, history."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from notes import Note, session
from tejat.core.agent_events import AgentEvent
from tejat.core.confirm import Approver
from tejat.core.history import History, Message, problem_with, user_message
from tejat.core.model import Ability, Chunk, FailureKind, ModelClient, ModelRequest, Usage
from tejat.core.tool import BaseTool
from tejat.core.types import MessagePart
from tejat.core.value import replace
from tejat.engine.budget import Budget, Limits
from tejat.engine.compress import Compressor
from tejat.engine.conversation import Care, Conversation, Premises
from tejat.engine.declared import Declared
from tejat.engine.journal import Journal
from tejat.engine.journal_reading import LoadedSession, read_journal
from tejat.engine.loop_guard import LoopGuard
from tejat.engine.prices import Price
from tejat.engine.turn import Ending, run_turns
from tejat.models.retry import Retrying
from tejat.models.script_file import Script, ScriptedAnswer, ScriptedCall
from tejat.models.scripted import ScriptedModel

SYSTEM = "You are a test."
USAGE = Usage(prompt=10, output=5)
PRICE = Price(input=1.0, cached=0.5, output=2.0)


def says(text: str, *, purpose: str = "conversation", pause: float = 0.0, usage: Usage = USAGE) -> ScriptedAnswer:
    return ScriptedAnswer(0, purpose=purpose, say=text, pause=pause, usage=usage)


def calls(*wanted: ScriptedCall | str, say: str = "", usage: Usage = USAGE) -> ScriptedAnswer:
    """An answer with calls. A text stands for a note of it."""
    made = tuple(ScriptedCall("note", {"text": call}) if isinstance(call, str) else call for call in wanted)
    return ScriptedAnswer(0, say=say, calls=made, usage=usage)


def fails(kind: FailureKind, *, say: str = "", purpose: str = "conversation") -> ScriptedAnswer:
    return ScriptedAnswer(0, purpose=purpose, say=say, fail=kind, detail=f"It failed: {kind}.")


class Watched:
    """A scripted model that keeps what it was asked, and insists on a legal history each time."""

    def __init__(self, answers: Sequence[ScriptedAnswer], *, window: int = 1_000_000, name: str = "first") -> None:
        numbered = [_numbered(answer, number) for number, answer in enumerate(answers, 1)]
        self._inner = ScriptedModel(Script(tuple(numbered), window), name)
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
    def abilities(self) -> frozenset[Ability]:
        return self._inner.abilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        assert problem_with(request.messages) is None
        self.requests.append(request)
        self.asked.append(plain(request.messages))
        async for chunk in self._inner.stream(request):
            yield chunk

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._inner.count_tokens(request)

    async def close(self) -> None:
        self.is_closed = True


def _numbered(answer: ScriptedAnswer, number: int) -> ScriptedAnswer:
    return replace(answer, number=number)


def plain(messages: Sequence[Message]) -> list[tuple[str, tuple[MessagePart, ...]]]:
    """What can be compared: messages are compared by identity."""
    return [(message.role.value, message.parts) for message in messages]


@dataclass
class Scene:
    """One conversation at work. `events` are all that were told, `meanwhile` sees each of them first."""

    conversation: Conversation
    model: Watched
    journal: Journal
    note: Note
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    meanwhile: Callable[[AgentEvent], object] = lambda _: None

    def tell(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.meanwhile(event)

    def run(self, prompt: str = "go") -> Ending:
        return asyncio.run(self.answer(prompt))

    async def answer(self, prompt: str = "go") -> Ending:
        """The loop's ending; the history is legal, and the journal tells the same."""
        self.conversation.begin(user_message(prompt), prompt)
        try:
            return await run_turns(self.conversation, self.tell)
        finally:
            self.check()

    def run_and_cancel(self, prompt: str, when: Callable[[AgentEvent], bool]) -> None:
        """Cancel the run as soon as an event is the one that is waited for."""

        async def main() -> None:
            task = asyncio.ensure_future(self.answer(prompt))
            self.meanwhile = lambda event: when(event) and task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self.meanwhile = lambda _: None

        asyncio.run(main())

    def check(self) -> None:
        assert problem_with(self.conversation.history.messages) is None
        if self.journal.failure is None and os.path.exists(self.journal.path):
            assert plain(self.recorded().messages) == self.history

    @property
    def history(self) -> list[tuple[str, tuple[MessagePart, ...]]]:
        return plain(self.conversation.history.messages)

    def recorded(self) -> LoadedSession:
        with open(self.journal.path, "rb") as file:
            return read_journal(file.fileno(), session_id="")

    def records(self) -> list[str]:
        """The kinds of the records so far."""
        with open(self.journal.path, encoding="utf-8") as file:
            return [json.loads(line)["kind"] for line in file]

    def of(self, *kinds: type) -> list[AgentEvent]:
        return [event for event in self.events if isinstance(event, kinds)]

    def go_on_with(self, *answers: ScriptedAnswer) -> Watched:
        """Another model takes its place, as if the service had come back."""
        model = Watched(answers)
        self.conversation.model = model
        return model


@contextmanager
def scene(
    directory: Path,
    *answers: ScriptedAnswer,
    tools: Sequence[BaseTool] = (),
    person: Approver | None = None,
    limits: Limits | None = None,
    window: int = 1_000_000,
    attempts: int = 1,
    history: Sequence[Message] = (),
    fallback: ModelClient | None = None,
    clock: Callable[[], float] | None = None,
    guard: LoopGuard | None = None,
    threshold: float = 0.5,
) -> Generator[Scene]:
    """A conversation with a tool `note` that needs no answer, and with those that are given."""
    note = Note(asks=False)
    model = Watched(answers, window=window)
    asked: ModelClient = model if attempts == 1 else Retrying(model, attempts=attempts, first_wait=0.01)
    budget = Budget(limits or Limits(), lambda _: PRICE, *([] if clock is None else [clock]))
    path = directory / "journals"
    journal = Journal.create(str(path), session_id="id", root=str(directory), model="first")
    if history:
        journal.opening(history)
    with session(directory, [note, *tools], person) as scheduler:
        conversation = Conversation(
            asked,
            lambda: scheduler,
            History(history),
            Premises(SYSTEM, Declared(scheduler.registry, scheduler.permission.policy.hides)),
            Care(budget, guard or LoopGuard(), Compressor(threshold=threshold)),
            journal=journal,
            fallback=None if fallback is None else lambda: fallback,
        )
        try:
            yield Scene(conversation, model, journal, note)
        finally:
            journal.close()
