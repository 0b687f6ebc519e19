"""A session: one conversation that answers prompts and that any number of front ends can watch and steer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from tejat.core.agent.events import (
    EndReason,
    HistoryRepaired,
    Noticed,
    Prompted,
    RunEnded,
    SessionSource,
    SessionStarted,
    Severity,
)
from tejat.core.agent.history_events import RunFinished, StateRecorded
from tejat.core.agent.session_state import SessionState
from tejat.core.errors import BadPrompt, CallbackFailure, NotTrusted, StoppedByHook
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.log import agent_logger, report_unexpected
from tejat.core.messages.history import Message, user_message
from tejat.core.messages.prompt import Attachment, Prompt, prompt_text
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import JsonObject, Part, Text
from tejat.core.model import FailureKind, ModelFailure, ModelRequest, ModelResponse
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.turn import RunOutcome, run_turns
from tejat.engine.prompt.expanded_prompt import ExpandedPrompt
from tejat.engine.sessions.figures.run_recorder import RunRecorder
from tejat.engine.sessions.journal import SessionJournal

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent, Compressed, EventSink, SessionEnd
    from tejat.core.agent.hooks import AgentHooks
    from tejat.core.agent.questions import PendingQuestion
    from tejat.core.approval.confirmation import ApprovalReply
    from tejat.engine.sessions.questions import QuestionQueue

_MAX_HOOK_ROUNDS = 8
"""How often hooks may make a model continue within one run."""


class PromptExpansion(Protocol):
    async def __call__(self, prompt: str, emit: EventSink, *, may_call: bool = True) -> ExpandedPrompt:
        """Expand what the user typed: mentions, and a command if it `may_call` one. Raises BadPrompt, NotTrusted."""
        ...


class SessionInfo(Frozen):
    """The identity of a session. `repairs` are the corrections of its history when it was resumed."""

    session_id: str
    source: SessionSource = SessionSource.STARTUP
    is_resumed: bool = False
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Notices for the user, shown before anything else."""
    recorded_at: float | None = None
    """The time of the recording that is replayed; None for a live session."""
    warnings: tuple[str, ...] = ()
    """Notices about something that is missing in this session."""


class Session:
    """Runs prompts, one at a time, and emits what happens to the event bus of its conversation.

    `expand` turns a prompt into what it stands for, a command or the files that it mentions, and raises BadPrompt and
    NotTrusted. `problems` returns what could not be recorded, which does not end the session. `prepare` is awaited
    before every prompt, `conclude` after it and before its end is reported. `hooks` may add to each prompt and make the
    model continue. `questions` holds the questions of the session; without it nobody can be asked. `state` has the
    values that outlive summaries and resumes.
    """

    def __init__(
        self,
        conversation: Conversation,
        info: SessionInfo,
        *,
        expand: PromptExpansion,
        journal: SessionJournal | None = None,
        state: SessionState | None = None,
        problems: Callable[[], Sequence[str]] = tuple,
        prepare: Callable[[EventSink], Awaitable[None]] | None = None,
        conclude: Callable[[], Awaitable[None]] | None = None,
        hooks: AgentHooks | None = None,
        questions: QuestionQueue | None = None,
    ) -> None:
        self.conversation = conversation
        self.info = info
        self.state = state or SessionState()
        self._expand = expand
        self._journal = journal
        self._problems = problems
        self._prepare = prepare
        self._conclude = conclude
        self._hooks = hooks
        self._questions = questions
        self._notes: list[tuple[Message, str]] = []
        self._lock = asyncio.Lock()
        self._run: asyncio.Task[RunEnded] | None = None
        self._is_interrupted = False
        self._reported_problems: set[str] = set()
        self._stop_recording: Callable[[], None] = lambda: None
        if journal is not None:
            conversation.history_events.subscribe(journal.record)
            self._stop_recording = conversation.events.subscribe(RunRecorder(journal.record_figures))
        self.state.subscribe(lambda key, value: conversation.history_events.emit(StateRecorded(key, value)))

    @property
    def session_id(self) -> str:
        return self.info.session_id

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered or the history is being summarised."""
        return self._lock.locked()

    @property
    def is_recorded(self) -> bool:
        return self._journal is not None

    @property
    def journal_path(self) -> str:
        """The path of the journal, empty if there is no such file."""
        return "" if self._journal is None else self._journal.path

    @property
    def pending_questions(self) -> tuple[PendingQuestion, ...]:
        return () if self._questions is None else self._questions.pending

    def subscribe(self, listener: EventSink) -> Callable[[], None]:
        """Deliver all later events to `listener`. Returns a function that ends the subscription."""
        return self.conversation.events.subscribe(listener)

    async def prompt(self, prompt: Prompt, listener: EventSink | None = None) -> RunEnded:
        """Answer one prompt, after those before it. `listener` is subscribed for this run only.

        The last event is `RunEnded`, however the run ends, also after `interrupt`. Cancelling the caller ends the run
        and raises CancelledError when it has ended. Raises otherwise only CallbackFailure, programming errors and what
        listeners raise.
        """
        async with self._lock:
            unsubscribe = None if listener is None else self.subscribe(listener)
            self._is_interrupted = False
            self._run = asyncio.create_task(self._answer_prompt(prompt))
            try:
                return await _await_run(self._run)
            finally:
                self._run = None
                if unsubscribe is not None:
                    unsubscribe()

    def interrupt(self) -> bool:
        """Cancel the run in progress. False if there is none."""
        if self._run is None or self._run.done():
            return False
        self._is_interrupted = True
        # Not at once: a task that is cancelled before its first step would not report its end.
        asyncio.get_running_loop().call_soon(self._run.cancel)
        return True

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        """Answer a pending question. False if it is unknown or already answered."""
        return self._questions is not None and self._questions.answer(question_id, reply)

    def fail_question(self, question_id: str, error: Exception) -> bool:
        """Raise an error for whoever asked a pending question. False if it is unknown or already answered."""
        return self._questions is not None and self._questions.fail(question_id, error)

    def steer(self, text: str) -> bool:
        """Send the model a message between two of its requests. False if no run is in progress."""
        if self._run is None or not text.strip():
            return False
        self.conversation.steering.append(text)
        return True

    def add_note(self, message: Message, display_text: str) -> None:
        """Add a message that goes out with the next prompt. `display_text` is what the user typed."""
        if self.is_busy:
            self._notes.append((message, display_text))
        else:
            self.conversation.add_note(message, display_text)

    async def compress(self) -> Compressed:
        """Summarise the conversation on request of the user. The outcome is emitted to every front end."""
        async with self._lock:
            try:
                return await self.conversation.compress(by_user=True)
            finally:
                self._flush_notes()

    async def query(self, request: ModelRequest) -> ModelResponse:
        """Send a request of a tool to the model. Raises ModelFailure, also when the budget is spent."""
        spent = self.conversation.budget.exceeded_limit(request_tokens=estimate_request_tokens(request))
        if spent:
            raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return await self.conversation.query(request)

    def record_agent(self, agent_id: str, records: Iterable[JsonObject]) -> None:
        """Record what happened in a run of a sub-agent, apart from the history."""
        if self._journal is not None:
            self._journal.record_agent(agent_id, records)

    def notify(self, noticed: Noticed) -> None:
        """Show a notice to the user."""
        self._emit(noticed)

    async def end(self, reason: SessionEnd) -> None:
        """Make way for another session with the same model and hooks."""
        try:
            if self._hooks is not None:
                await self._hooks.end(reason)
        finally:
            self._close_journal()

    async def close(self) -> None:
        try:
            if self._hooks is not None:
                await self._hooks.close()
        finally:
            self._close_journal()
            await self.conversation.model.close()

    def _close_journal(self) -> None:
        self._stop_recording()
        if self._journal is not None:
            self._journal.close()

    def _emit(self, event: AgentEvent) -> None:
        self.conversation.events.emit(event)

    async def _answer_prompt(self, prompt: Prompt) -> RunEnded:
        self.conversation.answer_texts.clear()
        self.conversation.steering.clear()
        outcome = RunOutcome(EndReason.INTERRUPTED, _("Operation cancelled."))
        try:
            self._announce()
            outcome = await self._run_and_conclude(self._answer(prompt))
        except BadPrompt as error:
            outcome = RunOutcome(EndReason.BAD_PROMPT, str(error))
        except NotTrusted as error:
            outcome = RunOutcome(EndReason.NOT_TRUSTED, str(error))
        except StoppedByHook as stop:
            outcome = RunOutcome(EndReason.NOT_ALLOWED, str(stop))
        except asyncio.CancelledError:
            if not self._is_interrupted:
                raise
        except CallbackFailure as failure:
            self.conversation.withdraw_prompt()
            kind = type(failure.error).__name__
            outcome = RunOutcome(EndReason.FAILED, _("The program that runs this session raised {error}.", error=kind))
            raise
        except Exception as error:
            self.conversation.withdraw_prompt()
            outcome = RunOutcome(EndReason.FAILED, report_unexpected(error, "a session", log=agent_logger))
            raise
        finally:
            ended = self._build_run_ended(outcome)
            self._flush_notes()
            self._emit(ended)
        return ended

    def _flush_notes(self) -> None:
        """Add the notes that arrived during a run."""
        notes, self._notes = self._notes, []
        for message, display_text in notes:
            self.conversation.add_note(message, display_text)

    def add_startup_notes(self, notes: Sequence[str]) -> None:
        """Add notes about the start that were found later."""
        self.info = replace(self.info, notes=(*self.info.notes, *notes))

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes about the start, for a front end that shows them before the first prompt."""
        notes, self.info = (*self.info.warnings, *self.info.notes), replace(self.info, notes=(), warnings=())
        return notes

    def _announce(self) -> None:
        info, self.info = self.info, replace(self.info, is_resumed=True, repairs=(), notes=(), warnings=())
        self._emit(SessionStarted(info.session_id, self.conversation.model.name, info.is_resumed))
        for warning in info.warnings:
            self._emit(Noticed(warning, Severity.WARNING))
        for note in info.notes:
            self._emit(Noticed(note, Severity.NOTE))
        if info.repairs:
            self._emit(HistoryRepaired(info.repairs))

    async def _run_and_conclude(self, answer: Coroutine[None, None, RunOutcome]) -> RunOutcome:
        try:
            return await answer
        finally:
            if self._conclude is not None:
                await self._conclude()

    async def _answer(self, prompt: Prompt) -> RunOutcome:
        """Raises BadPrompt, NotTrusted and StoppedByHook."""
        display_text = prompt_text(prompt)
        budget = self.conversation.budget
        try:
            async with asyncio.timeout(budget.remaining_seconds):
                message = await self._build_message(prompt)
        except TimeoutError:
            return RunOutcome(*budget.time_limit_reached())
        self.conversation.start_prompt(message, display_text)
        self._emit(Prompted(message, display_text))
        return await self._run_stop_hooks(await run_turns(self.conversation), display_text or message.text)

    async def _build_message(self, prompt: Prompt) -> Message:
        """Expand the prompt and add the context of hooks. Raises BadPrompt, NotTrusted and StoppedByHook."""
        if self._prepare is not None:
            await self._prepare(self._emit)
        parts = await self._expand_pieces((prompt,) if isinstance(prompt, str) else prompt)
        message = user_message(*parts)
        if message.is_empty:
            raise BadPrompt(_("The prompt is empty."))
        if self._hooks is None:
            return message
        context = await self._hooks.before_prompt(message.text, source=self.info.source)
        return user_message(*parts, context) if context else message

    async def _expand_pieces(self, pieces: Sequence[str | Part | Attachment]) -> list[Part]:
        """What the model gets for the pieces of a prompt. Only the first can call a command."""
        parts: list[Part] = []
        for number, piece in enumerate(pieces):
            if isinstance(piece, Attachment):
                parts += piece.parts
            elif isinstance(piece, str):
                expanded = await self._expand(piece, self._emit, may_call=number == 0)
                parts += (part for part in expanded.parts if part != Text(""))
                for note in expanded.notes:
                    self._emit(Noticed(note, Severity.NOTE))
            else:
                parts.append(piece)
        return parts

    async def _run_stop_hooks(self, outcome: RunOutcome, prompt: str) -> RunOutcome:
        """Let the model continue as long as hooks object to its end."""
        if self._hooks is None:
            return outcome
        rounds, budget = 0, self.conversation.budget
        while outcome.reason is EndReason.FINISHED:
            answer = _join_texts(self.conversation.answer_texts)
            try:
                async with asyncio.timeout(budget.remaining_seconds):
                    follow_up = await self._hooks.after_prompt(prompt, answer, is_repeated=rounds > 0)
            except TimeoutError:
                return RunOutcome(*budget.time_limit_reached())
            if not follow_up:
                break
            if rounds == _MAX_HOOK_ROUNDS:
                notice = _("Hooks continued the run {rounds} times. Ending it.", rounds=rounds)
                self._emit(Noticed(notice))
                break
            rounds += 1
            self.conversation.add_follow_up(follow_up)
            outcome = await run_turns(self.conversation)
        return outcome

    def _build_run_ended(self, outcome: RunOutcome) -> RunEnded:
        self.conversation.history_events.emit(RunFinished(outcome.reason))
        for problem in self._problems():
            if problem not in self._reported_problems:
                self._reported_problems.add(problem)
                self._emit(Noticed(problem))
        budget, steering = self.conversation.budget, self.conversation.steering
        return RunEnded(
            outcome.reason,
            text=_join_texts(self.conversation.answer_texts),
            message=outcome.message,
            usage=budget.usage,
            cost=budget.cost,
            turns=budget.turns,
            seconds=budget.seconds,
            failure=outcome.failure,
            undelivered=tuple(steering),
        )


def _join_texts(texts: Sequence[str]) -> str:
    return "\n".join(text.strip("\n") for text in texts if text.strip())


async def _await_run(run: asyncio.Task[RunEnded]) -> RunEnded:
    """Wait for a run. A cancellation of the caller cancels the run and is raised when that has ended."""
    cancellation: asyncio.CancelledError | None = None
    while not run.done():
        try:
            await asyncio.wait((run,))
        except asyncio.CancelledError as error:
            cancellation = error
            run.cancel()
    if cancellation is not None and (run.cancelled() or run.exception() is None):
        raise cancellation
    return run.result()
