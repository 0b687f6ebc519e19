from google.adk.models import BaseLlm
from google.adk.tools.base_toolset import BaseToolset

class LlmAgent:
    def __init__(self, *, name: str, model: BaseLlm | str, tools: list[BaseToolset]) -> None: ...
