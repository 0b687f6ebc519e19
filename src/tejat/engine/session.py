"""A session: one conversation that can be asked again and again, and found again later."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from tejat.core.agent_events import (
    AgentEvent,
    Compressed,
    EndReason,
    HistoryRepaired,
    Noticed,
    Prompted,
    RunEnded,
    SessionEnd,
    SessionSource,
    SessionStarted,
    Severity,
    Tell,
)
from tejat.core.errors import BadPrompt, NotTrusted, StoppedByHook
from tejat.core.history import Message, user_message
from tejat.core.model import Answer, FailureKind, ModelFailure, ModelRequest
from tejat.core.types import Part
from tejat.core.value import replace, value
from tejat.core.words import say
from tejat.engine.at_paths import Expanded
from tejat.engine.conversation import Conversation
from tejat.engine.journal import Journal
from tejat.engine.turn import Ending, run_turns

if TYPE_CHECKING:
    from tejat.core.hooks import AgentHooks

_MOST_ROUNDS = 8
"""How often hooks may send a model on that had ended, within one run."""


@value
class Identity:
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
        identity: Identity,
        *,
        expand: Callable[[str, Tell], Awaitable[Expanded]],
        journal: Journal | None = None,
        problems: Callable[[], Sequence[str]] = tuple,
        prepare: Callable[[Tell], Awaitable[None]] | None = None,
        conclude: Callable[[], Awaitable[None]] | None = None,
        hooks: "AgentHooks | None" = None,
    ) -> None:
        self.conversation = conversation
        self.identity = identity
        self._expand = expand
        self._journal = journal
        self._problems = problems
        self._prepare = prepare
        self._conclude = conclude
        self._hooks = hooks
        self._notes: list[tuple[Message, str]] = []
        self._is_answering = False
        self._one_at_a_time = asyncio.Lock()
        self._tell: Tell = _nobody
        self._told: set[str] = set()

    @property
    def session_id(self) -> str:
        return self.identity.session_id

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered, or the history summarised."""
        return self._one_at_a_time.locked()

    @property
    def journal_path(self) -> str:
        """The file that the session is kept in, empty if it is not kept."""
        return "" if self._journal is None else self._journal.path

    async def run(self, prompt: str | Sequence[Part], tell: Tell) -> RunEnded:
        """Answer one prompt. Every event goes to `tell`, `RunEnded` last, whatever happens.

        Raises nothing but the cancellation of its task and what is a defect of the program.
        """
        async with self._one_at_a_time:
            self._tell, self._is_answering = tell, True
            self.conversation.said.clear()
            self.conversation.steering.clear()
            ending = Ending(EndReason.INTERRUPTED, say("Operation cancelled."))
            try:
                self._introduce()
                ending = await self._concluded(self._answer(prompt))
            except BadPrompt as error:
                ending = Ending(EndReason.BAD_PROMPT, str(error))
            except NotTrusted as error:
                ending = Ending(EndReason.NOT_TRUSTED, str(error))
            except StoppedByHook as stop:
                ending = Ending(EndReason.NOT_ALLOWED, str(stop))
            except Exception as error:
                # What the error of a defect says may be anything, also a key.
                ending = Ending(EndReason.FAILED, say("Internal error: {error}.", error=type(error).__name__))
                raise
            finally:
                ended = self._ended(ending)
                self._tell, self._is_answering = _nobody, False
                self._add_notes()
                tell(ended)
            return ended

    def steer(self, text: str) -> bool:
        """Tell the model something between two of its requests; False where nothing goes on."""
        if not self._is_answering or not text.strip():
            return False
        self.conversation.steering.append(text)
        return True

    def note(self, message: Message, shown: str) -> None:
        """Let the model know something with the next prompt, without asking it. `shown` is what the person wrote."""
        if self.is_busy:
            self._notes.append((message, shown))
        else:
            self.conversation.note(message, shown)

    async def compress(self, tell: Tell) -> Compressed:
        """Summarise the conversation because the person wants it. Raises nothing but the cancellation of its task."""
        outcomes: list[Compressed] = []

        def heard(event: AgentEvent) -> None:
            if isinstance(event, Compressed):
                outcomes.append(event)
            else:
                tell(event)

        async with self._one_at_a_time:
            self._tell = heard
            try:
                await self.conversation.compress(heard, by_person=True)
            finally:
                self._tell = _nobody
                self._add_notes()
        return outcomes[-1]

    async def ask(self, request: ModelRequest) -> Answer:
        """A question on the side, from a tool that is running. Raises ModelFailure, also when the budget is spent."""
        spent = self.conversation.budget.problem()
        if spent:
            raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return await self.conversation.ask(request, self._tell)

    def notice(self, noticed: Noticed) -> None:
        """Tell whoever watches the run that is going on, if there is one."""
        self._tell(noticed)

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

    def _add_notes(self) -> None:
        """What came to be known while nothing could be added."""
        notes, self._notes = self._notes, []
        for message, shown in notes:
            self.conversation.note(message, shown)

    def _introduce(self) -> None:
        identity, self.identity = self.identity, replace(self.identity, is_resumed=True, repairs=(), notes=())
        self._tell(SessionStarted(identity.session_id, self.conversation.model.name, identity.is_resumed))
        for note in identity.notes:
            self._tell(Noticed(note, Severity.NOTE))
        if identity.repairs:
            self._tell(HistoryRepaired(identity.repairs))

    async def _concluded(self, answer: Coroutine[None, None, Ending]) -> Ending:
        try:
            return await answer
        finally:
            if self._conclude is not None:
                await self._conclude()

    async def _answer(self, prompt: str | Sequence[Part]) -> Ending:
        """Raises BadPrompt, NotTrusted and StoppedByHook."""
        shown = prompt if isinstance(prompt, str) else ""
        budget = self.conversation.budget
        try:
            async with asyncio.timeout(budget.remaining_seconds):
                message = await self._message(prompt)
        except TimeoutError:
            return Ending(*budget.out_of_time())
        self.conversation.begin(message, shown)
        self._tell(Prompted(message, shown))
        return await self._go_on(await run_turns(self.conversation, self._tell), shown or message.text)

    async def _message(self, prompt: str | Sequence[Part]) -> Message:
        """What the model gets: the prompt, and what hooks say to it. Raises BadPrompt, NotTrusted and StoppedByHook."""
        parts: Sequence[Part] = ()
        if self._prepare is not None:
            await self._prepare(self._tell)
        if isinstance(prompt, str):
            expanded = await self._expand(prompt, self._tell)
            parts = expanded.parts
            for note in expanded.notes:
                self._tell(Noticed(note, Severity.NOTE))
        else:
            parts = prompt
        message = user_message(*parts)
        if message.is_empty:
            raise BadPrompt(say("The prompt is empty."))
        if self._hooks is None:
            return message
        context = await self._hooks.before_prompt(message.text, source=self.identity.source)
        return user_message(*parts, context) if context else message

    async def _go_on(self, ending: Ending, prompt: str) -> Ending:
        """Ask hooks whether the model may end, and send it on where they object."""
        if self._hooks is None:
            return ending
        rounds, budget = 0, self.conversation.budget
        while ending.reason is EndReason.FINISHED:
            answer = _joined(self.conversation.said)
            try:
                async with asyncio.timeout(budget.remaining_seconds):
                    words = await self._hooks.after_prompt(prompt, answer, is_repeated=rounds > 0)
            except TimeoutError:
                return Ending(*budget.out_of_time())
            if not words:
                break
            if rounds == _MOST_ROUNDS:
                self._tell(
                    Noticed(
                        say("Hooks have sent the model on {rounds} times. The run ends nevertheless.", rounds=rounds)
                    )
                )
                break
            rounds += 1
            self.conversation.go_on(words)
            ending = await run_turns(self.conversation, self._tell)
        return ending

    def _ended(self, ending: Ending) -> RunEnded:
        if self._journal is not None:
            self._journal.ended(ending.reason)
        for problem in self._problems():
            if problem not in self._told:
                self._told.add(problem)
                self._tell(Noticed(problem))
        budget, steering = self.conversation.budget, self.conversation.steering
        return RunEnded(
            ending.reason,
            text=_joined(self.conversation.said),
            message=ending.message,
            usage=budget.usage,
            cost=budget.cost,
            turns=budget.turns,
            seconds=budget.seconds,
            failure=ending.failure,
            undelivered=tuple(steering),
        )


def _joined(said: Sequence[str]) -> str:
    """What the model said in one run, answer after answer, each on a line of its own."""
    return "\n".join(text.strip("\n") for text in said if text.strip())


def _nobody(_: object) -> None:
    """Nobody watches between two runs."""
