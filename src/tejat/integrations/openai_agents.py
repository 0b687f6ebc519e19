"""The tools for the OpenAI Agents SDK: `Agent(name="...", tools=openai_agents_tools(tools))`.

Written for openai-agents 0.24.
"""

from base64 import b64encode
from functools import partial
from typing import Any

from tejat.core.errors import ToolFailure
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, InlineData, Text
from tejat.integrations.framework_calls import FrameworkTools, declare_tools, missing_package, run_call

try:
    from agents import FunctionTool, Tool, ToolOutputFileContent, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing_package("openai-agents", "openai-agents") from error


def openai_agents_tools(tools: FrameworkTools) -> list[Tool]:
    """All tools of a `Toolset`. A failed call returns the text of its error, as the function tools of the SDK do."""
    return [_tool(tools, declaration) for declaration in declare_tools(tools)]


def _tool(tools: FrameworkTools, declaration: FunctionDeclaration) -> Tool:
    return FunctionTool(
        name=declaration.name,
        description=declaration.description,
        params_json_schema=dict(declaration.parameters_json_schema),
        on_invoke_tool=partial(_invoke, tools, declaration.name),
        strict_json_schema=False,
    )


async def _invoke(tools: FrameworkTools, name: str, context: ToolContext[Any], arguments: str) -> Any:
    try:
        call = FunctionCall.from_openai_responses({"name": name, "arguments": arguments})
    except ToolFailure as failure:
        return f"Error: {failure.message}"
    output = await run_call(tools, name, call.args, context.tool_call_id)
    if output.error is not None:
        return f"Error: {output.error}"
    return [_part(part) for part in output.content] if output.media else output.text


def _part(part: Text | InlineData) -> ToolOutputText | ToolOutputImage | ToolOutputFileContent:
    if isinstance(part, Text):
        return ToolOutputText(text=part.text)
    address = f"data:{part.mime_type};base64,{b64encode(part.data).decode('ascii')}"
    if part.mime_type.startswith("image/"):
        return ToolOutputImage(image_url=address)
    return ToolOutputFileContent(file_data=address, filename=f"file.{part.mime_type.rpartition('/')[2]}")
