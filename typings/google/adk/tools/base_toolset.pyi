from abc import ABC, abstractmethod

from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.tools.base_tool import BaseTool

class BaseToolset(ABC):
    def __init__(self) -> None: ...
    @abstractmethod
    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]: ...
    async def close(self) -> None: ...
