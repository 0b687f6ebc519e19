from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, ParamSpec, Protocol, TypeAlias

from inspect_ai.model import ChatMessage, GenerateFilter, Model
from inspect_ai.scorer import Score
from inspect_ai.tool import MCPServerConfig

_Parameters = ParamSpec("_Parameters")

class AgentState:
    messages: list[ChatMessage]

class Agent(Protocol):
    async def __call__(self, state: AgentState) -> AgentState: ...

_NextMessage: TypeAlias = Callable[[AgentState, list[Score]], Awaitable[str]]

class AgentAttempts(NamedTuple):
    attempts: int = 1
    incorrect_message: str | _NextMessage = ...
    score_value: Callable[[object], float] = ...

class BridgedToolsSpec: ...

class SandboxAgentBridge:
    state: AgentState
    port: int
    mcp_server_configs: list[MCPServerConfig]

def agent(func: Callable[_Parameters, Agent]) -> Callable[_Parameters, Agent]: ...
def agent_with(agent: Agent, *, name: str | None = None, description: str | None = None) -> Agent: ...
def sandbox_agent_bridge(
    state: AgentState | None = None,
    *,
    model: str | None = None,
    model_aliases: dict[str, str | Model] | None = None,
    filter: GenerateFilter | None = None,  # noqa: A002 -- its name there
    retry_refusals: int | None = None,
    sandbox: str | None = None,
    port: int = 13131,
    web_search: bool | None = None,
    bridged_tools: Sequence[BridgedToolsSpec] | None = None,
) -> AbstractAsyncContextManager[SandboxAgentBridge]: ...
