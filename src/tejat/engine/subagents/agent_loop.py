"""The loop of a sub-agent: ask its model, run its calls, until it completes its task or reaches a limit."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tejat.core.agent.subagents import SubagentDefinition, SubagentEnd
from tejat.core.errors import StoppedByHook
from tejat.core.frozen import replace
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import FailureKind, ModelFailure
from tejat.engine.calls.batch import Batch
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.loop_detector import LoopError
from tejat.engine.subagents.clock import RunClock
from tejat.engine.subagents.complete_task import COMPLETE_TASK, CompleteTaskTool
from tejat.engine.subagents.outcome import NO_COMPLETION, SubagentOutcome
from tejat.engine.subagents.prompt import last_request
from tejat.engine.subagents.tool_view import AgentTools

if TYPE_CHECKING:
    from tejat.engine.hooks.session_hooks import SessionHooks

LAST_REQUEST_SECONDS = 60.0
_MAX_HOOK_ROUNDS = 8
_WITH_LAST_REQUEST = frozenset({SubagentEnd.MAX_TURNS, SubagentEnd.TIMEOUT, SubagentEnd.NO_COMPLETE_TASK_CALL})


class AgentLoop:
    """Lets an agent work on one task. `completion` and the other tools of the agent are in `tools`."""

    def __init__(
        self,
        definition: SubagentDefinition,
        conversation: Conversation,
        tools: AgentTools,
        completion: CompleteTaskTool,
        clock: RunClock,
        hooks: "SessionHooks | None" = None,
    ) -> None:
        self._definition = definition
        self._conversation = conversation
        self._tools = tools
        self._completion = completion
        self._clock = clock
        self._hooks = hooks
        self._declarations = conversation.template.declarations

    async def run(self, prompt: str) -> SubagentOutcome:
        """Do the task. Raises only CancelledError and programming errors."""
        try:
            context = "" if self._hooks is None else await self._hooks.before_subagent(prompt)
        except StoppedByHook as stop:
            return SubagentOutcome(SubagentEnd.ERROR, str(stop))
        message = user_message(prompt, context) if context else user_message(prompt)
        self._conversation.start_prompt(message, prompt)
        return await self._finish(await self._work(prompt))

    async def resume(self, message: str) -> SubagentOutcome:
        """Continue after the end, with a message of the user. Raises as `run` does."""
        self._completion.result = None
        self._tools.is_closed = False
        self._conversation.template = replace(self._conversation.template, declarations=self._declarations)
        self._conversation.add_follow_up(message)
        return await self._finish(await self._work(message))

    async def _finish(self, outcome: SubagentOutcome) -> SubagentOutcome:
        if outcome.reason in _WITH_LAST_REQUEST:
            outcome = await self._request_result(outcome)
        return outcome if outcome.result else replace(outcome, result=self.last_text)

    @property
    def last_text(self) -> str:
        """What the agent said last, empty for nothing."""
        return next((text.strip() for text in reversed(self._conversation.answer_texts) if text.strip()), "")

    async def _work(self, prompt: str) -> SubagentOutcome:
        """Work until the end or a limit. The history is legal afterwards, and each call has its response."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._clock.guard(limit)
                return await self._run_rounds(prompt)
        except TimeoutError:
            if not limit.expired():
                raise  # not ours
            minutes = self._definition.timeout_minutes
            return SubagentOutcome(SubagentEnd.TIMEOUT, f"Agent timed out after {minutes:g} minutes.")
        except ModelFailure as failure:
            is_budget = failure.kind is FailureKind.OVER_BUDGET
            return SubagentOutcome(SubagentEnd.BUDGET if is_budget else SubagentEnd.ERROR, failure.message)
        except LoopError as error:
            return SubagentOutcome(SubagentEnd.LOOP, f"The agent was stuck in a loop: {error}")
        except StoppedByHook as stop:
            return SubagentOutcome(SubagentEnd.ERROR, str(stop))
        finally:
            self._clock.release()

    async def _run_rounds(self, prompt: str) -> SubagentOutcome:
        """Let the agent continue as long as hooks object to its end."""
        rounds = 0
        while True:
            outcome = await self._run_turns()
            if outcome.reason is not SubagentEnd.GOAL or self._hooks is None or rounds == _MAX_HOOK_ROUNDS:
                return outcome
            objection = await self._hooks.after_subagent(prompt, outcome.result, is_repeated=rounds > 0)
            if not objection:
                return outcome
            rounds += 1
            self._completion.result = None
            self._tools.is_closed = False
            self._conversation.add_follow_up(objection)

    async def _run_turns(self) -> SubagentOutcome:
        """Raises ModelFailure, LoopError and StoppedByHook."""
        conversation, was_compressed = self._conversation, False
        while True:
            if conversation.budget.turns >= self._definition.max_turns:
                limit = f"Agent reached max turns limit ({self._definition.max_turns})."
                return SubagentOutcome(SubagentEnd.MAX_TURNS, limit)
            if spent := conversation.exceeded_limit():
                return SubagentOutcome(SubagentEnd.BUDGET, spent[1])
            self._tools.follow_parent()
            if not was_compressed and await conversation.compress_if_needed():
                was_compressed = True
                continue
            was_compressed = False
            answer = await conversation.next_response()
            if answer is None:
                continue
            if not answer.calls:
                return SubagentOutcome(SubagentEnd.NO_COMPLETE_TASK_CALL, NO_COMPLETION)
            batch = await self._run_calls(answer.calls)
            if self._completion.result is not None:
                return SubagentOutcome(SubagentEnd.GOAL, result=self._completion.result)
            if batch.stopped_by_user:
                return SubagentOutcome(SubagentEnd.ABORTED, "The user stopped the agent.")
            if error := batch.fatal_error:
                return SubagentOutcome(SubagentEnd.ERROR, error.message, stops_session=True)

    async def _run_calls(self, calls: Sequence[FunctionCall]) -> Batch:
        """Run the calls of an answer. Beside a valid `complete_task` nothing else runs."""
        completes = (call for call in calls if call.name == COMPLETE_TASK)
        self._tools.is_closed = any(self._completion.rejection(call.args) is None for call in completes)
        return await self._conversation.run_calls(calls)

    async def _request_result(self, outcome: SubagentOutcome) -> SubagentOutcome:
        """Ask once more for the result, with only `complete_task` declared."""
        conversation = self._conversation
        if conversation.exceeded_limit():
            return outcome
        only = (self._completion.schema,)
        conversation.template = replace(conversation.template, declarations=lambda: only)
        conversation.add_follow_up(last_request(outcome.reason, outcome.message))
        try:
            async with asyncio.timeout(LAST_REQUEST_SECONDS):
                answer = await conversation.next_response()
                if answer is not None and answer.calls:
                    self._tools.is_closed = True
                    await conversation.run_calls(answer.calls)
        except (TimeoutError, ModelFailure, LoopError, StoppedByHook):
            return outcome  # the first reason counts
        result = self._completion.result
        return outcome if result is None else SubagentOutcome(SubagentEnd.GOAL, result=result)
