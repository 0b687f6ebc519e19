from collections.abc import AsyncGenerator
from typing import Self

from google.adk.agents import LlmAgent
from google.genai import types

class Event:
    content: types.Content | None

class Session:
    id: str

class InMemorySessionService:
    async def create_session(self, *, app_name: str, user_id: str) -> Session: ...

class InMemoryRunner:
    session_service: InMemorySessionService
    def __init__(self, *, agent: LlmAgent, app_name: str) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    def run_async(self, *, user_id: str, session_id: str, new_message: types.Content) -> AsyncGenerator[Event]: ...
