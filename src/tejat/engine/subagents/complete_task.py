"""`complete_task`: the tool with which a sub-agent hands in its result."""

from collections.abc import Mapping
from typing import cast

from tejat.core.agent.subagents import SubagentOutput
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import JsonObject, JsonValue, Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult

COMPLETE_TASK = "complete_task"

_DESCRIPTION = (
    "Hands in the result of your task and ends your work. Call it exactly once, alone, when you are done or cannot get "
    "any further. This is the only way to return anything: what you say elsewhere is not passed on."
)


class CompleteTaskTool(BaseTool):
    """Keeps the `result` as text. Only sub-agents have it, and no rule is needed to call it."""

    limits_own_output = True
    may_change_files = False

    def __init__(self, output: SubagentOutput) -> None:
        super().__init__(
            name=COMPLETE_TASK,
            display_name="Complete Task",
            description=_DESCRIPTION,
            parameter_schema=_parameters(output),
            kind=Kind.OTHER,
        )
        self._output = output
        self.result: str | None = None

    def rejection(self, params: object) -> ToolFailure | None:
        """A result that is missing, empty or of the wrong shape can be handed in again."""
        name = self._output.name
        given = cast("Params", params if isinstance(params, Mapping) else {})
        if _is_blank(given.get(name)):
            return ToolFailure(f'Missing required "{name}" argument.', ErrorType.INVALID_TOOL_PARAMS)
        if self._output.schema.get("type") == "string":
            return None
        return super().rejection(given)

    def get_description(self, params: Params) -> str:
        return ""

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        if self.result is not None:
            raise ToolFailure("The result was handed in already.", ErrorType.EXECUTION_FAILED)
        self.result = _to_text(params[self._output.name])
        return ToolResult("Result submitted and task completed.", "Task completed.")


def _parameters(output: SubagentOutput) -> JsonObject:
    return {"type": "object", "properties": {output.name: dict(output.schema)}, "required": [output.name]}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _to_text(value: object) -> str:
    """Return a text as it is and anything else as JSON."""
    return value if isinstance(value, str) else dump_json(cast("JsonValue", value), indent=2)
