"""The tools as a toolset of Google's Agent Development Kit: `LlmAgent(tools=[AdkToolset(tools)])`.

Written for google-adk 2.
"""

# The package is not installed with the others that are tested; `typings/` declares the part in use.
# pyright: reportMissingModuleSource=false

from typing import Any

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.integrations.framework_calls import FrameworkTools, check_tools, declare_tools, missing_package, run_call

try:
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as error:
    raise missing_package("google-adk", "adk") from error


class AdkToolset(BaseToolset):
    """All tools of a `Toolset`. A failed call returns `{"error": ...}`, any other `{"output": ...}` with its media."""

    def __init__(self, tools: FrameworkTools) -> None:
        super().__init__()
        self._tools = check_tools(tools)

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        return [_Tool(self._tools, declaration) for declaration in declare_tools(self._tools)]

    async def close(self) -> None:
        """Close nothing: whoever opened the tools closes them."""


class _Tool(BaseTool):
    def __init__(self, tools: FrameworkTools, declaration: FunctionDeclaration) -> None:
        super().__init__(name=declaration.name, description=declaration.description)
        self._tools = tools
        self._declaration = declaration

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration.model_validate(self._declaration.to_gemini())

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        output = await run_call(self._tools, self.name, args, tool_context.function_call_id)
        if output.error is not None:
            return {"error": output.error}
        media = [types.Part.from_bytes(data=part.data, mime_type=part.mime_type) for part in output.media]
        return {"output": output.text, "media": media} if media else {"output": output.text}
