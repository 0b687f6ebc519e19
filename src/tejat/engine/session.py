"""A session: one conversation that can be asked again and again, and found again later."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from tejat.core.agent_events import (
    EndReason,
    HistoryRepaired,
    Noticed,
    Prompted,
    RunEnded,
    SessionStarted,
    Severity,
    Tell,
)
from tejat.core.errors import BadPrompt, NotTrusted
from tejat.core.history import user_message
from tejat.core.model import Answer, FailureKind, ModelFailure, ModelRequest
from tejat.core.types import Part
from tejat.core.value import replace, value
from tejat.engine.at_paths import Expanded
from tejat.engine.conversation import Conversation
from tejat.engine.journal import Journal
from tejat.engine.turn import Ending, run_turns


@value
class Identity:
    """Which session it is. `repairs` is what had to be put right when it was taken up again."""

    session_id: str
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
    reason to end it.
    """

    def __init__(
        self,
        conversation: Conversation,
        identity: Identity,
        *,
        expand: Callable[[str, Tell], Awaitable[Expanded]],
        journal: Journal | None = None,
        problems: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.conversation = conversation
        self.identity = identity
        self._expand = expand
        self._journal = journal
        self._problems = problems
        self._one_at_a_time = asyncio.Lock()
        self._tell: Tell = _nobody
        self._told: set[str] = set()

    @property
    def session_id(self) -> str:
        return self.identity.session_id

    async def run(self, prompt: str | Sequence[Part], tell: Tell) -> RunEnded:
        """Answer one prompt. Every event goes to `tell`, `RunEnded` last, whatever happens.

        Raises nothing but the cancellation of its task and what is a defect of the program.
        """
        async with self._one_at_a_time:
            self._tell = tell
            self.conversation.said.clear()
            ending = Ending(EndReason.INTERRUPTED, "Operation cancelled.")
            try:
                self._introduce()
                ending = await self._answer(prompt)
            except BadPrompt as error:
                ending = Ending(EndReason.BAD_PROMPT, str(error))
            except NotTrusted as error:
                ending = Ending(EndReason.NOT_TRUSTED, str(error))
            except Exception as error:
                # What the error of a defect says may be anything, also a key.
                ending = Ending(EndReason.FAILED, f"Internal error: {type(error).__name__}.")
                raise
            finally:
                ended = self._ended(ending)
                self._tell = _nobody
                tell(ended)
            return ended

    async def ask(self, request: ModelRequest) -> Answer:
        """A question on the side, from a tool that is running. Raises ModelFailure, also when the budget is spent."""
        spent = self.conversation.budget.problem()
        if spent:
            raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return await self.conversation.ask(request, self._tell)

    async def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
        await self.conversation.model.close()

    def _introduce(self) -> None:
        identity, self.identity = self.identity, replace(self.identity, is_resumed=True, repairs=(), notes=())
        self._tell(SessionStarted(identity.session_id, self.conversation.model.name, identity.is_resumed))
        for note in identity.notes:
            self._tell(Noticed(note, Severity.NOTE))
        if identity.repairs:
            self._tell(HistoryRepaired(identity.repairs))

    async def _answer(self, prompt: str | Sequence[Part]) -> Ending:
        """Raises BadPrompt and NotTrusted."""
        shown = prompt if isinstance(prompt, str) else ""
        parts: Sequence[Part] = ()
        if isinstance(prompt, str):
            budget = self.conversation.budget
            try:
                async with asyncio.timeout(budget.remaining_seconds):
                    expanded = await self._expand(prompt, self._tell)
            except TimeoutError:
                return Ending(*budget.out_of_time())
            parts = expanded.parts
            for note in expanded.notes:
                self._tell(Noticed(note, Severity.NOTE))
        else:
            parts = prompt
        message = user_message(*parts)
        if message.is_empty:
            raise BadPrompt("The prompt is empty.")
        self.conversation.begin(message, shown)
        self._tell(Prompted(message, shown))
        return await run_turns(self.conversation, self._tell)

    def _ended(self, ending: Ending) -> RunEnded:
        if self._journal is not None:
            self._journal.ended(ending.reason)
        for problem in self._problems():
            if problem not in self._told:
                self._told.add(problem)
                self._tell(Noticed(problem))
        budget = self.conversation.budget
        return RunEnded(
            ending.reason,
            text=_joined(self.conversation.said),
            message=ending.message,
            usage=budget.usage,
            cost=budget.cost,
            turns=budget.turns,
            seconds=budget.seconds,
            failure=ending.failure,
        )


def _joined(said: Sequence[str]) -> str:
    """What the model said in one run, answer after answer, each on a line of its own."""
    return "\n".join(text.strip("\n") for text in said if text.strip())


def _nobody(_: object) -> None:
    """Nobody watches between two runs."""
