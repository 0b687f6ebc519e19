"""The tools as a toolset of Pydantic AI: `Agent(model, toolsets=[TejatToolset(tools)])`.

Written for pydantic-ai 2.
"""

from typing import Any

from tejat.integrations.framework_calls import FrameworkTools, check_tools, declare_tools, missing_package, run_call

try:
    from pydantic_ai import BinaryContent, RunContext, ToolDefinition, ToolFailed
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise missing_package("pydantic-ai", "pydantic-ai") from error

# Arguments are checked against their schema when the call runs.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class TejatToolset(AbstractToolset[AgentDepsT]):
    """All tools of a `Toolset`. A failed call is a `ToolFailed`: the model sees the error, and no retry is counted."""

    def __init__(self, tools: FrameworkTools, *, id: str | None = None) -> None:  # noqa: A002 -- as in other toolsets
        self._tools = check_tools(tools)
        self._id = id

    @property
    def id(self) -> str | None:
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=dict(tool.parameters_json_schema),
                ),
                max_retries=ctx.max_retries,
                args_validator=_ANY_OBJECT,
            )
            for tool in declare_tools(self._tools)
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        output = await run_call(self._tools, name, tool_args, ctx.tool_call_id)
        if output.error is not None:
            raise ToolFailed(output.error)
        media = [BinaryContent(part.data, media_type=part.mime_type) for part in output.media]
        return [output.text, *media] if media else output.text
