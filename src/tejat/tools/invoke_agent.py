"""`invoke_agent`: lets a sub-agent do a part of the task. The name of an agent is another name for it."""

from collections.abc import Callable, Mapping
from typing import Annotated, cast

from tejat.core.agent.subagents import SubagentDefinition, SubagentLauncher
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.core.messages.types import JsonObject, Params
from tejat.core.text.edit_distance import edit_distance
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params

DISPLAY_NAME = "Invoke Subagent"
_MAX_SUGGESTIONS = 3
_MAX_DESCRIPTION_LENGTH = 200


class InvokeAgentParams(Frozen):
    agent_name: Annotated[str, Param("The name of the agent.")]
    prompt: Annotated[str, Param("The whole task: the agent knows nothing but this.")]


class AgentTool(TypedTool[InvokeAgentParams]):
    """`launcher` returns the agents of the session."""

    error_label = "invoke agent"
    may_change_files = False

    def __init__(self, launcher: Callable[[], SubagentLauncher]) -> None:
        super().__init__(**tool_labels(INVOKE_AGENT, DISPLAY_NAME), parameters=InvokeAgentParams, kind=Kind.AGENT)
        self._launcher = launcher

    def check(self, params: InvokeAgentParams) -> None:
        if not params.prompt.strip():
            raise invalid_params('Parameter "prompt" must be a non-empty string.')

    def describe(self, params: InvokeAgentParams) -> str:
        return _describe(params.agent_name, params.prompt)

    def rule_names(self, params: Params) -> tuple[str, ...]:
        name = params.get("agent_name")
        return _rule_names(self._launcher, name) if isinstance(name, str) else ()

    def runs_concurrently(self, params: Params) -> bool:
        launcher = self._launcher()
        return launcher.only_reads(_find(launcher, self.parse(params).agent_name))

    async def run(self, params: InvokeAgentParams, context: ToolContext) -> ToolResult:
        launcher = self._launcher()
        return await launcher.run(_find(launcher, params.agent_name), params.prompt, context)


class NamedAgentTool(BaseTool):
    """Starts one agent, as its name was a tool in older releases of Gemini CLI. It is never declared."""

    may_change_files = False

    def __init__(self, name: str, input_name: str, launcher: Callable[[], SubagentLauncher]) -> None:
        schema: JsonObject = {
            "type": "object",
            "properties": {input_name: {"type": "string"}},
            "required": [input_name],
        }
        super().__init__(name=name, display_name=DISPLAY_NAME, description="", parameter_schema=schema, kind=Kind.AGENT)
        self._input_name = input_name
        self._launcher = launcher

    @property
    def own_name(self) -> str:
        return INVOKE_AGENT

    def rejection(self, params: object) -> ToolFailure | None:
        given = cast("Params", params if isinstance(params, Mapping) else {})
        if not self._prompt(given):
            return invalid_params(f'Parameter "{self._input_name}" must be a non-empty string.')
        return None

    def get_description(self, params: Params) -> str:
        return _describe(self.name, self._prompt(params))

    def rule_names(self, params: Params) -> tuple[str, ...]:
        return _rule_names(self._launcher, self.name)

    def runs_concurrently(self, params: Params) -> bool:
        launcher = self._launcher()
        return launcher.only_reads(_find(launcher, self.name))

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        launcher = self._launcher()
        return await launcher.run(_find(launcher, self.name), self._prompt(params), context)

    def _prompt(self, params: Params) -> str:
        """The task, which models also give under the name that `invoke_agent` has for it."""
        given = (params.get(name) for name in (self._input_name, "prompt"))
        return next((text for text in given if isinstance(text, str) and text.strip()), "")


def _find(launcher: SubagentLauncher, name: str) -> SubagentDefinition:
    """Raises ToolFailure with the most similar names."""
    found = launcher.find(name)
    if found is not None:
        return found
    nearest = sorted(launcher.names(), key=lambda known: edit_distance(name[:64], known))[:_MAX_SUGGESTIONS]
    hint = f" Available agents: {', '.join(nearest)}." if nearest else ""
    raise ToolFailure(f"Subagent '{name}' not found.{hint}", ErrorType.TOOL_NOT_REGISTERED)


def _rule_names(launcher: Callable[[], SubagentLauncher], name: str) -> tuple[str, ...]:
    """The names of an agent in rules. Outside of a session it is only known by the name that was given."""
    try:
        definition = launcher().find(name)
    except ToolFailure:
        definition = None
    return (name,) if definition is None else (definition.name, definition.qualified_name)


def _describe(name: str, prompt: str) -> str:
    first = " ".join(prompt.split())
    return f"{name}: {first if len(first) <= _MAX_DESCRIPTION_LENGTH else first[:_MAX_DESCRIPTION_LENGTH] + '...'}"
