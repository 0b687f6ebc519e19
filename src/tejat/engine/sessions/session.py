"""A session: one conversation that can be asked again and again, and found again later."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    EndReason,
    EventSink,
    HistoryRepaired,
    Noticed,
    Prompted,
    RunEnded,
    SessionEnd,
    SessionSource,
    SessionStarted,
    Severity,
)
from tejat.core.errors import BadPrompt, NotTrusted, StoppedByHook
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.history import Message, user_message
from tejat.core.messages.types import Part
from tejat.core.model import FailureKind, ModelFailure, ModelRequest, ModelResponse
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.turn import RunOutcome, run_turns
from tejat.engine.prompt.mentions import ExpandedPrompt
from tejat.engine.sessions.journal import SessionJournal

if TYPE_CHECKING:
    from tejat.core.agent.hooks import AgentHooks

_MAX_HOOK_ROUNDS = 8
"""How often hooks may send a model on that had ended, within one run."""


@frozen
class SessionInfo:
    """Which session it is. `repairs` is what had to be put right when it was taken up again."""

    session_id: str
    source: SessionSource = SessionSource.STARTUP
    is_resumed: bool = False
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the person should know before anything else."""
    recorded_at: float | None = None
    """When the run took place that is played again; None for a run of its own."""


class Session:
    """Runs prompts, one at a time.

    `expand` makes of a prompt what it stands for, a command or files that it names with `@`, tells of the calls that
    this takes, and raises BadPrompt and NotTrusted. `problems` tells what of the session could not be kept, which is no
    reason to end it. `prepare` comes before every prompt, and waits for what has to be there; `conclude` comes after
    it, before its end is told. `hooks` have a say in each prompt, and may send the model on when it has ended.
    """

    def __init__(
        self,
        conversation: Conversation,
        info: SessionInfo,
        *,
        expand: Callable[[str, EventSink], Awaitable[ExpandedPrompt]],
        journal: SessionJournal | None = None,
        problems: Callable[[], Sequence[str]] = tuple,
        prepare: Callable[[EventSink], Awaitable[None]] | None = None,
        conclude: Callable[[], Awaitable[None]] | None = None,
        hooks: "AgentHooks | None" = None,
    ) -> None:
        self.conversation = conversation
        self.info = info
        self._expand = expand
        self._journal = journal
        self._problems = problems
        self._prepare = prepare
        self._conclude = conclude
        self._hooks = hooks
        self._notes: list[tuple[Message, str]] = []
        self._is_answering = False
        self._lock = asyncio.Lock()
        self._emit: EventSink = _discard_event
        self._reported_problems: set[str] = set()

    @property
    def session_id(self) -> str:
        return self.info.session_id

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered, or the history summarised."""
        return self._lock.locked()

    @property
    def journal_path(self) -> str:
        """The file that the session is kept in, empty if it is not kept."""
        return "" if self._journal is None else self._journal.path

    async def run(self, prompt: str | Sequence[Part], emit: EventSink) -> RunEnded:
        """Answer one prompt. Every event goes to `tell`, `RunEnded` last, whatever happens.

        Raises nothing but the cancellation of its task and what is a defect of the program.
        """
        async with self._lock:
            self._emit, self._is_answering = emit, True
            self.conversation.answer_texts.clear()
            self.conversation.steering.clear()
            ending = RunOutcome(EndReason.INTERRUPTED, _("Operation cancelled."))
            try:
                self._announce()
                ending = await self._run_and_conclude(self._answer(prompt))
            except BadPrompt as error:
                ending = RunOutcome(EndReason.BAD_PROMPT, str(error))
            except NotTrusted as error:
                ending = RunOutcome(EndReason.NOT_TRUSTED, str(error))
            except StoppedByHook as stop:
                ending = RunOutcome(EndReason.NOT_ALLOWED, str(stop))
            except Exception as error:
                # What the error of a defect says may be anything, also a key.
                ending = RunOutcome(EndReason.FAILED, _("Internal error: {error}.", error=type(error).__name__))
                raise
            finally:
                ended = self._build_run_ended(ending)
                self._emit, self._is_answering = _discard_event, False
                self._flush_notes()
                emit(ended)
            return ended

    def steer(self, text: str) -> bool:
        """Tell the model something between two of its requests; False where nothing goes on."""
        if not self._is_answering or not text.strip():
            return False
        self.conversation.steering.append(text)
        return True

    def add_note(self, message: Message, shown: str) -> None:
        """Let the model know something with the next prompt, without asking it. `shown` is what the person wrote."""
        if self.is_busy:
            self._notes.append((message, shown))
        else:
            self.conversation.add_note(message, shown)

    async def compress(self, emit: EventSink) -> Compressed:
        """Summarise the conversation because the person wants it. Raises nothing but the cancellation of its task."""
        outcomes: list[Compressed] = []

        def heard(event: AgentEvent) -> None:
            if isinstance(event, Compressed):
                outcomes.append(event)
            else:
                emit(event)

        async with self._lock:
            self._emit = heard
            try:
                await self.conversation.compress(heard, by_user=True)
            finally:
                self._emit = _discard_event
                self._flush_notes()
        return outcomes[-1]

    async def query(self, request: ModelRequest) -> ModelResponse:
        """A question on the side, from a tool that is running. Raises ModelFailure, also when the budget is spent."""
        spent = self.conversation.budget.exceeded_limit()
        if spent:
            raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return await self.conversation.query(request, self._emit)

    def notify(self, noticed: Noticed) -> None:
        """Tell whoever watches the run that is going on, if there is one."""
        self._emit(noticed)

    async def end(self, reason: SessionEnd) -> None:
        """Make way for another session with the same model and hooks."""
        try:
            if self._hooks is not None:
                await self._hooks.end(reason)
        finally:
            if self._journal is not None:
                self._journal.close()

    async def close(self) -> None:
        try:
            if self._hooks is not None:
                await self._hooks.close()
        finally:
            if self._journal is not None:
                self._journal.close()
            await self.conversation.model.close()

    def _flush_notes(self) -> None:
        """What came to be known while nothing could be added."""
        notes, self._notes = self._notes, []
        for message, shown in notes:
            self.conversation.add_note(message, shown)

    def _announce(self) -> None:
        identity, self.info = self.info, replace(self.info, is_resumed=True, repairs=(), notes=())
        self._emit(SessionStarted(identity.session_id, self.conversation.model.name, identity.is_resumed))
        for note in identity.notes:
            self._emit(Noticed(note, Severity.NOTE))
        if identity.repairs:
            self._emit(HistoryRepaired(identity.repairs))

    async def _run_and_conclude(self, answer: Coroutine[None, None, RunOutcome]) -> RunOutcome:
        try:
            return await answer
        finally:
            if self._conclude is not None:
                await self._conclude()

    async def _answer(self, prompt: str | Sequence[Part]) -> RunOutcome:
        """Raises BadPrompt, NotTrusted and StoppedByHook."""
        shown = prompt if isinstance(prompt, str) else ""
        budget = self.conversation.budget
        try:
            async with asyncio.timeout(budget.remaining_seconds):
                message = await self._build_message(prompt)
        except TimeoutError:
            return RunOutcome(*budget.time_limit_reached())
        self.conversation.start_prompt(message, shown)
        self._emit(Prompted(message, shown))
        return await self._run_stop_hooks(await run_turns(self.conversation, self._emit), shown or message.text)

    async def _build_message(self, prompt: str | Sequence[Part]) -> Message:
        """What the model gets: the prompt, and what hooks say to it. Raises BadPrompt, NotTrusted and StoppedByHook."""
        parts: Sequence[Part] = ()
        if self._prepare is not None:
            await self._prepare(self._emit)
        if isinstance(prompt, str):
            expanded = await self._expand(prompt, self._emit)
            parts = expanded.parts
            for note in expanded.notes:
                self._emit(Noticed(note, Severity.NOTE))
        else:
            parts = prompt
        message = user_message(*parts)
        if message.is_empty:
            raise BadPrompt(_("The prompt is empty."))
        if self._hooks is None:
            return message
        context = await self._hooks.before_prompt(message.text, source=self.info.source)
        return user_message(*parts, context) if context else message

    async def _run_stop_hooks(self, ending: RunOutcome, prompt: str) -> RunOutcome:
        """Ask hooks whether the model may end, and send it on where they object."""
        if self._hooks is None:
            return ending
        rounds, budget = 0, self.conversation.budget
        while ending.reason is EndReason.FINISHED:
            answer = _join_texts(self.conversation.answer_texts)
            try:
                async with asyncio.timeout(budget.remaining_seconds):
                    words = await self._hooks.after_prompt(prompt, answer, is_repeated=rounds > 0)
            except TimeoutError:
                return RunOutcome(*budget.time_limit_reached())
            if not words:
                break
            if rounds == _MAX_HOOK_ROUNDS:
                self._emit(
                    Noticed(_("Hooks have sent the model on {rounds} times. The run ends nevertheless.", rounds=rounds))
                )
                break
            rounds += 1
            self.conversation.add_follow_up(words)
            ending = await run_turns(self.conversation, self._emit)
        return ending

    def _build_run_ended(self, ending: RunOutcome) -> RunEnded:
        if self._journal is not None:
            self._journal.record_end(ending.reason)
        for problem in self._problems():
            if problem not in self._reported_problems:
                self._reported_problems.add(problem)
                self._emit(Noticed(problem))
        budget, steering = self.conversation.budget, self.conversation.steering
        return RunEnded(
            ending.reason,
            text=_join_texts(self.conversation.answer_texts),
            message=ending.message,
            usage=budget.usage,
            cost=budget.cost,
            turns=budget.turns,
            seconds=budget.seconds,
            failure=ending.failure,
            undelivered=tuple(steering),
        )


def _join_texts(said: Sequence[str]) -> str:
    """What the model said in one run, answer after answer, each on a line of its own."""
    return "\n".join(text.strip("\n") for text in said if text.strip())


def _discard_event(_: object) -> None:
    """Nobody watches between two runs."""
