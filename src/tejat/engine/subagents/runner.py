"""The sub-agents of a session: numbers their runs, bounds how many there are, and stops them."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from tejat.core.agent.subagents import CopyMode, SubagentDefinition, current_agent
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.engine.subagents.host import SubagentHost
from tejat.engine.subagents.outcome import tool_result
from tejat.engine.subagents.run import AgentTask, SubagentRun
from tejat.engine.subagents.tool_view import only_reads

STATE_KEY = "agents"
"""The key of the numbers of runs in the state of the session."""


class SubagentFinder(Protocol):
    """The definitions of agents."""

    def find(self, name: str) -> SubagentDefinition | None:
        """The agent that a bare or qualified name means."""
        ...


class SubagentRunner:
    """Runs agents, at most `max_parallel` at once and `max_runs` in a session. Agents start no agents."""

    def __init__(self, host: SubagentHost, agents: SubagentFinder, *, max_parallel: int, max_runs: int) -> None:
        self._host = host
        self._agents = agents
        self._slots = asyncio.Semaphore(max_parallel)
        self._max_runs = max_runs
        self._running: dict[str, SubagentRun] = {}
        self._numbered: tuple[FunctionCall, ...] = ()
        self._ids: dict[int, str] = {}

    @property
    def running(self) -> Mapping[str, SubagentRun]:
        """The runs in progress by their ids, those that wait for a slot too."""
        return self._running

    def only_reads(self, definition: SubagentDefinition) -> bool:
        """Whether runs of this agent can run side by side."""
        is_in_copy = definition.copy_mode is CopyMode.ALWAYS
        return is_in_copy or only_reads(self._host.scheduler, definition)

    async def run(self, definition: SubagentDefinition, prompt: str, context: ToolContext) -> ToolResult:
        """Run an agent for a call. Raises ToolFailure if it cannot be started."""
        if current_agent():
            raise ToolFailure(
                f"Unauthorized tool call: '{INVOKE_AGENT}' is not available to this agent.", ErrorType.POLICY_VIOLATION
            )
        agent_id = self._take_id(definition, context.index)
        run: SubagentRun | None = None
        try:
            async with self._slots:
                run = self._running[agent_id] = SubagentRun(
                    definition, AgentTask(agent_id, prompt, context.call_id), self._host
                )
                await run.execute()
            return self._result_of(run)
        except asyncio.CancelledError:
            if run is not None:
                context.keep_partial(self._result_of(run))
            raise
        finally:
            self._running.pop(agent_id, None)

    def stop(self, agent_id: str) -> bool:
        """Stop one run. False if there is none with this id."""
        run = self._running.get(agent_id)
        if run is not None:
            run.stop()
        return run is not None

    def _result_of(self, run: SubagentRun) -> ToolResult:
        undo_id = self._host.undo_id(run.task.agent_id)
        return tool_result(run.definition, run.outcome, undo_id=undo_id, files_changed=run.files_changed)

    def _take_id(self, definition: SubagentDefinition, index: int) -> str:
        """Return the id for a call: the name of the agent, and how often it was called in this session.

        The calls of one answer are numbered in their order, whichever of them begins first. Raises ToolFailure.
        """
        calls = tuple(self._host.open_calls())
        if calls != self._numbered:
            self._numbered = calls
            called = {position: self._called_agent(call) for position, call in enumerate(calls)}
            self._ids = {position: self._next_id(agent.name) for position, agent in called.items() if agent is not None}
        agent_id = self._ids.pop(index, "")
        if agent_id.rpartition("#")[0] != definition.name:  # a hook changed the call, or no model made it
            agent_id = self._next_id(definition.name)
        self._count_run()
        return agent_id

    def _called_agent(self, call: FunctionCall) -> SubagentDefinition | None:
        name = call.args.get("agent_name") if call.name == INVOKE_AGENT else call.name
        return self._agents.find(name) if isinstance(name, str) else None

    def _next_id(self, name: str) -> str:
        number = self._number(name) + 1
        self._save(name, number)
        return f"{name}#{number}"

    def _count_run(self) -> None:
        """Raises ToolFailure if there were too many."""
        started = self._number(_STARTED)
        if started >= self._max_runs:
            message = (
                f"No more agents can be started: this session has started {started}, and agents.maxRuns allows "
                f"{self._max_runs}. Do the work yourself."
            )
            raise ToolFailure(message, ErrorType.EXECUTION_FAILED)
        self._save(_STARTED, started + 1)

    def _number(self, key: str) -> int:
        number = self._saved().get(key)
        return number if isinstance(number, int) else 0

    def _saved(self) -> JsonObject:
        saved = self._host.state.get(STATE_KEY)
        return saved if isinstance(saved, Mapping) else {}

    def _save(self, key: str, number: int) -> None:
        self._host.state.set(STATE_KEY, {**self._saved(), key: number})


_STARTED = "*"
"""The key of the number of all runs; no agent has this name."""
