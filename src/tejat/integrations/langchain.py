"""The tools for LangChain: `create_agent(model, langchain_tools(tools))`.

Written for langchain-core 1.
"""

from base64 import b64encode
from typing import TypeAlias

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import InlineData, Text
from tejat.integrations import framework_calls as calls

try:
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
except ImportError as error:
    raise calls.missing_package("langchain-core", "langchain") from error

_Blocks: TypeAlias = str | list[dict[str, str]]


def langchain_tools(tools: calls.FrameworkTools) -> list[BaseTool]:
    """All tools of a `Toolset`, for `ainvoke`, or of `SyncTools`, for `invoke` from any thread too.

    A failed call is a message with the status `error`.
    """
    return [_tool(tools, declaration) for declaration in calls.declare_tools(tools)]


def _tool(tools: calls.FrameworkTools, declaration: FunctionDeclaration) -> BaseTool:
    # LangChain takes no partial functions here.
    def invoke(**arguments: object) -> _Blocks:
        return _content(calls.run_call_sync(tools, declaration.name, arguments))

    async def ainvoke(**arguments: object) -> _Blocks:
        return _content(await calls.run_call(tools, declaration.name, arguments))

    return StructuredTool(
        name=declaration.name,
        description=declaration.description,
        args_schema=dict(declaration.parameters_json_schema),
        func=invoke,
        coroutine=ainvoke,
        handle_tool_error=True,
    )


def _content(output: calls.CallOutput) -> _Blocks:
    if output.error is not None:
        raise ToolException(output.error)
    return [_block(part) for part in output.content] if output.media else output.text


def _block(part: Text | InlineData) -> dict[str, str]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    kind = "image" if part.mime_type.startswith("image/") else "file"
    return {"type": kind, "base64": b64encode(part.data).decode("ascii"), "mime_type": part.mime_type}
