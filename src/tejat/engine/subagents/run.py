"""One run of a sub-agent: a conversation of its own, with the rights and the budget of its session."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentDefinition, SubagentEnd, agent_lane, enter_agent
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.errors import CallbackFailure
from tejat.core.frozen import Frozen, replace
from tejat.core.log import agent_logger, report_unexpected
from tejat.core.messages.history import History
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.model import FailureKind, ModelFailure, ModelRequest, ModelResponse
from tejat.core.tools.call_events import CallFinished
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.loop.conversation import Conversation, Safeguards
from tejat.engine.loop.request_builder import RequestTemplate
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.subagents.agent_loop import AgentLoop
from tejat.engine.subagents.budget import AgentBudget
from tejat.engine.subagents.clock import RunClock
from tejat.engine.subagents.complete_task import CompleteTaskTool
from tejat.engine.subagents.copies import AgentCopy, CopyPermission, CopyUnavailable
from tejat.engine.subagents.host import AgentModels, SubagentHost
from tejat.engine.subagents.outcome import SubagentOutcome
from tejat.engine.subagents.rights import AgentApprover, AgentIdentity, AgentPermission
from tejat.engine.subagents.tool_view import AgentTools

if TYPE_CHECKING:
    from tejat.engine.hooks.session_hooks import SessionHooks

_INTERRUPT_SECONDS = 10.0
_STOPPED = SubagentOutcome(SubagentEnd.ABORTED, "The agent was stopped.")


class AgentTask(Frozen):
    """What an agent is started for, and by which call."""

    agent_id: str
    prompt: str
    call_id: str = ""

    @property
    def first_line(self) -> str:
        return self.prompt.strip().partition("\n")[0].strip()


class SubagentRun:
    """A run of an agent. `execute` runs it once, `stop` ends it early. `outcome` is known at the end."""

    def __init__(self, definition: SubagentDefinition, task: AgentTask, host: SubagentHost) -> None:
        self.definition = definition
        self.task = task
        self.outcome = _STOPPED
        self.files_changed = 0
        self._host = host
        self._identity = AgentIdentity(task.agent_id, task.first_line, definition)
        self._budget = AgentBudget(host.budget, tokens=definition.max_tokens, cost=definition.max_cost)
        self._clock = RunClock(definition.timeout_minutes * 60)
        self._events = EventBus[AgentEvent]()
        self._events.subscribe(self._on_event)
        self._calls = 0
        self._patch = ""
        self._conversation: Conversation | None = None
        self._loop: AgentLoop | None = None
        self._work: asyncio.Task[SubagentOutcome] | None = None
        self._is_turn_stopped = False
        """Whether the user stopped the turn of the session in a question of this agent."""

    def stop(self) -> None:
        """End the run with ABORTED. Its calls get their responses first."""
        if self._work is not None:
            self._work.cancel()

    async def query(self, request: ModelRequest) -> ModelResponse:
        """Send a request of a tool to the model of the run. Raises ModelFailure, also when the budget is spent."""
        if self._conversation is None:
            raise ModelFailure("The agent has not started yet.", FailureKind.UNAVAILABLE)
        if spent := self._budget.exceeded_limit(request_tokens=estimate_request_tokens(request)):
            raise ModelFailure(spent[1], FailureKind.OVER_BUDGET)
        return await self._conversation.query(request)

    async def execute(self) -> SubagentOutcome:
        """Run the agent. Raises CancelledError and CallbackFailure, when everything has ended and is reported."""
        approver = self._host.approver
        if approver is not None:
            approver = AgentApprover(approver, self._identity, self._clock.pause, self._on_reply)
        models = self._host.open_models(self.definition, approver)
        task, outcome = self.task, _STOPPED
        self._report(AgentStarted(task.agent_id, self.definition.name, task.call_id, task.prompt, models.model.name))
        try:
            outcome = await self._work_apart(models, approver)
        except asyncio.CancelledError:
            if self._budget.is_time_over:
                outcome = SubagentOutcome(SubagentEnd.BUDGET, self._budget.time_limit_reached()[1])
            raise
        except CallbackFailure as failure:
            outcome = SubagentOutcome(SubagentEnd.ERROR, str(failure))
            raise
        except CopyUnavailable as error:
            outcome = SubagentOutcome(SubagentEnd.ERROR, str(error))
        except Exception as error:  # noqa: BLE001 -- an agent must not end the turn of its parent
            outcome = SubagentOutcome(SubagentEnd.ERROR, report_unexpected(error, "a sub-agent", log=agent_logger))
        finally:
            self._finish(outcome)
        return self.outcome

    async def _work_apart(self, models: AgentModels, approver: AgentApprover | None) -> SubagentOutcome:
        """Work in a task of its own, so that it can be stopped alone."""
        self._work = work = asyncio.create_task(self._run(models, approver))
        cancellation: asyncio.CancelledError | None = None
        while not work.done():
            try:
                await asyncio.wait((work,))
            except asyncio.CancelledError as error:
                cancellation = error
                work.cancel()
        if cancellation is not None:
            if not work.cancelled():
                work.exception()
            raise cancellation
        outcome = _STOPPED if work.cancelled() else work.result()
        if self._is_turn_stopped and self._host.interrupt():
            await asyncio.sleep(_INTERRUPT_SECONDS)  # until the session cancels this
        return outcome

    async def _run(self, models: AgentModels, approver: AgentApprover | None) -> SubagentOutcome:
        enter_agent(self.task.agent_id, self.task.call_id)
        host, identity, definition = self._host, self._identity, self.definition
        async with AsyncExitStack() as stack:
            stack.push_async_callback(models.others.close)
            stack.push_async_callback(self._close_model, models)
            hooks = host.hooks
            if hooks is not None:
                hooks = hooks.for_agent(identity.agent_id, definition.name, approver, self._events.emit)
                stack.push_async_callback(hooks.tool_hooks.close)
            copy = await stack.enter_async_context(host.open_copy(definition, identity, approver))
            make_permission = AgentPermission if copy is None else CopyPermission
            permission = make_permission(host.scheduler.permission, identity, approver)
            completion = CompleteTaskTool(definition.output)
            wrap = None if copy is None else copy.copied
            tools = AgentTools(host.scheduler.registry, definition, completion, wrap=wrap)
            await stack.enter_async_context(host.open_servers(definition, tools))
            parent = host.scheduler
            scheduler = Scheduler(
                tools,
                permission,
                truncator=parent.truncator,
                mask=parent.mask,
                open_undo=parent.open_undo,
                hooks=None if hooks is None else hooks.tool_hooks,
            )
            self._conversation = conversation = self._open_conversation(models, scheduler, permission, hooks)
            self._loop = AgentLoop(definition, conversation, tools, completion, self._clock, hooks)
            outcome = await self._loop.run(self.task.prompt)
            return outcome if copy is None else await self._review_copy(copy, self._loop, outcome)

    async def _review_copy(self, copy: AgentCopy, loop: AgentLoop, outcome: SubagentOutcome) -> SubagentOutcome:
        """Let the user decide about the changes in a copy, who may send the agent back to work."""
        while True:
            review = await copy.review(outcome.result)
            if not review.feedback:
                self._patch = review.patch
                return replace(outcome, result="\n\n".join(filter(None, (outcome.result.strip(), review.text))))
            outcome = await loop.resume(review.feedback)

    def _open_conversation(
        self, models: AgentModels, scheduler: Scheduler, permission: AgentPermission, hooks: "SessionHooks | None"
    ) -> Conversation:
        host, definition, agent_id = self._host, self.definition, self.task.agent_id
        conversation: Conversation | None = None

        def window() -> int:
            return models.model.context_window if conversation is None else conversation.context_window

        declarations = host.declare(scheduler.registry, permission.hides, window)
        system = host.system_prompt(
            definition,
            self.task.prompt,
            model=models.model.name,
            tools=[declaration.name for declaration in declarations()],
            mode=permission.policy.mode,
        )
        loop_detector, compressor = host.safeguards()
        conversation = Conversation(
            models.model,
            lambda: scheduler,
            History(),
            RequestTemplate(system, declarations, lane=agent_lane(agent_id), temperature=definition.temperature),
            Safeguards(self._budget, loop_detector, compressor),
            self._events,
            models=models.others,
            hooks=hooks,
        )
        conversation.history_events.subscribe(lambda event: host.record(agent_id, event))
        host.carry_state(agent_id, conversation)
        return conversation

    async def _close_model(self, models: AgentModels) -> None:
        """Close the model that the run asked last: another one may have taken over."""
        model = models.model if self._conversation is None else self._conversation.model
        await model.close()

    def _on_reply(self, reply: ApprovalReply) -> None:
        self._is_turn_stopped |= reply.outcome is Outcome.STOP

    def _on_event(self, event: AgentEvent) -> None:
        self._calls += isinstance(event, CallFinished)
        self._host.events.emit(AgentActivity(self.task.agent_id, self.definition.name, event))

    def _finish(self, outcome: SubagentOutcome) -> None:
        """Report the end, with the figures of this run."""
        if not outcome.result and self._loop is not None:
            outcome = replace(outcome, result=self._loop.last_text)
        self.outcome = outcome
        self.files_changed = self._host.count_changed_files(self.task.agent_id) if self._calls else 0
        self._report(
            AgentEnded(
                self.task.agent_id,
                self.definition.name,
                outcome.reason,
                turns=self._budget.turns,
                calls=self._calls,
                usage=self._budget.usage,
                cost=self._budget.cost,
                seconds=self._clock.seconds,
                files_changed=self.files_changed,
                error=outcome.error,
                patch=self._patch,
            )
        )

    def _report(self, event: AgentStarted | AgentEnded) -> None:
        self._host.record(self.task.agent_id, event)
        self._host.events.emit(event)
