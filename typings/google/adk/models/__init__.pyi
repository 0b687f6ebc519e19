from collections.abc import AsyncGenerator
from typing import Any

from google.genai import types
from pydantic import BaseModel

class LlmRequest(BaseModel):
    contents: list[types.Content]
    config: types.GenerateContentConfig

class LlmResponse(BaseModel):
    content: types.Content | None = None

class BaseLlm(BaseModel):
    model: str
    def __init__(self, *, model: str, **fields: Any) -> None: ...
    def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]: ...
