from abc import ABC
from typing import Any

from google.adk.tools.tool_context import ToolContext
from google.genai import types

class BaseTool(ABC):
    name: str
    description: str
    def __init__(self, *, name: str, description: str) -> None: ...
    def _get_declaration(self) -> types.FunctionDeclaration | None: ...
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any: ...
