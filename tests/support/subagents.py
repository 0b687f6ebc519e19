"""Sessions with sub-agents: real tools and definitions, and a model with answers for each conversation."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.program import ProgramEnv
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.core.messages.history import history_problem, model_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import Capability, Chunk, ModelFailure, ModelRequest, ModelResponse, TextDelta, Usage
from tejat.core.tools.call_events import CallFinished

USAGE = Usage(prompt=10, output=5)
Answer = (
    str | FunctionCall | Sequence[FunctionCall | str] | ModelFailure | Callable[[ModelRequest], Awaitable["Answer"]]
)
"""A text, a call, several parts, a failure, or a function of the request that returns one of them."""


def call(name: str, /, **args: object) -> FunctionCall:
    return FunctionCall(name, args)


def invoke(agent: str, prompt: str = "Find out.") -> FunctionCall:
    return call("invoke_agent", agent_name=agent, prompt=prompt)


def done(result: object = "All done.") -> FunctionCall:
    return call("complete_task", result=result)


class LaneModel:
    """Answers each lane with its own answers, and requires a legal history in each request."""

    capabilities: frozenset[Capability] = frozenset()
    context_window = 1_000_000
    name = "lanes"

    def __init__(self, lanes: Mapping[str, Sequence[Answer]], *, usage: Usage = USAGE, delay: float = 0.0) -> None:
        self._answers = {lane: list(answers) for lane, answers in lanes.items()}
        self._usage = usage
        self._delay = delay
        self.requests: list[ModelRequest] = []

    def put(self, lane: str, *answers: Answer) -> None:
        """Set the answers of a lane."""
        self._answers[lane] = list(answers)

    def requests_of(self, lane: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.lane == lane]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        assert history_problem(request.messages) is None
        self.requests.append(replace(request, messages=tuple(request.messages)))
        assert self._answers.get(request.lane), f"no more answers for {request.lane}"
        answer = self._answers[request.lane].pop(0)
        while callable(answer):
            answer = await answer(request)
        if isinstance(answer, ModelFailure):
            raise answer
        await asyncio.sleep(self._delay)
        parts = [answer] if isinstance(answer, str | FunctionCall) else answer
        for part in parts:
            if isinstance(part, str):
                yield TextDelta(part)
        yield ModelResponse(model_message(*parts), usage=self._usage, model=self.name)

    async def prepare(self) -> Sequence[str]:
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        return 1

    async def close(self) -> None:
        """Nothing to close."""


@dataclass
class SubagentSession:
    """A session that is open. `events` are all events so far."""

    manager: SessionManager
    model: LaneModel
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    on_event: Callable[[AgentEvent], object] = lambda _: None

    async def prompt(self, text: str = "go") -> RunEnded:
        ended = await self.manager.session.prompt(text, self._record)
        assert history_problem(self.manager.session.conversation.history.messages) is None
        assert not self.manager.subagent_service.running
        return ended

    def _record(self, event: AgentEvent) -> None:
        self.events.append(event)
        self.on_event(event)

    @property
    def started(self) -> list[AgentStarted]:
        return [event for event in self.events if isinstance(event, AgentStarted)]

    @property
    def ended(self) -> list[AgentEnded]:
        return [event for event in self.events if isinstance(event, AgentEnded)]

    @property
    def run_ended(self) -> RunEnded:
        """The end of the last prompt."""
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last

    def inner_calls(self) -> list[tuple[str, CallFinished]]:
        """The finished calls of agents, each with the id of its agent."""
        activities = (event for event in self.events if isinstance(event, AgentActivity))
        return [(each.agent_id, each.event) for each in activities if isinstance(each.event, CallFinished)]

    def results(self) -> list[str]:
        """The results of calls that the session's own model got, in order."""
        messages = self.manager.session.conversation.history.messages
        responses = [part for message in messages for part in message.parts if isinstance(part, FunctionResponse)]
        return [str(response.response.get("output") or response.response["error"]) for response in responses]

    @property
    def journal(self) -> list[Any]:
        lines = Path(self.manager.session.journal_path).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@dataclass
class SubagentEnv:
    """A home and a project with agents."""

    env: ProgramEnv

    @property
    def project(self) -> Path:
        return self.env.project

    def agent(self, name: str, body: str = "You are a test.", **fields: object) -> None:
        """Define an agent of the user."""
        directory = self.env.home / ".gemini" / "agents"
        directory.mkdir(parents=True, exist_ok=True)
        front = {"name": name, "description": f"The agent {name}.", **fields}
        lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())
        (directory / f"{name}.md").write_text(f"---\n{lines}\n---\n{body}\n", encoding="utf-8")

    def run(
        self,
        lanes: Mapping[str, Sequence[Answer]],
        use: Callable[[SubagentSession], Awaitable[object]] | None = None,
        *,
        approver: Approver | None = None,
        usage: Usage = USAGE,
        delay: float = 0.0,
        **options: Any,
    ) -> SubagentSession:
        """Open a session whose model has these answers, and use it, or send it one prompt."""
        wanted = AgentOptions(
            directories=(str(self.project),),
            model=self.env.script('[[answer]]\nsay = "unused"\n'),
            environment=self.env.environment,
            sandbox="off",
        )

        async def main() -> SubagentSession:
            async with open_session_manager(replace(wanted, **options), approver) as manager:
                session = SubagentSession(manager, LaneModel(lanes, usage=usage, delay=delay))
                manager.session.conversation.model = session.model
                await (session.prompt() if use is None else use(session))
                assert not [task for task in asyncio.all_tasks() if "engine/subagents" in str(task)]
                return session

        return asyncio.run(main())
