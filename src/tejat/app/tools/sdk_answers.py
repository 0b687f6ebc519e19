"""Answers to the calls in a response of an SDK, for programs with a loop of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tejat.core.messages.sdk import SdkDeclarations, SdkName, sdk_format
from tejat.core.messages.types import FunctionCall

if TYPE_CHECKING:
    from tejat.core.tools.call_events import CallEventSink, CallFinished
    from tejat.models.sdk.turn import SdkTurn


class SdkAnswers(SdkDeclarations):
    """Runs the calls in a response and returns what continues the conversation, an empty list if there are no calls.

    The response is an object or a dict of the SDK. All calls go through the rules, approval and undo, as `call_many`
    runs them, and each of them gets an answer. The methods raise TypeError for anything else than a response of the
    SDK, and what `call_many` raises.
    """

    @abstractmethod
    async def call_many(
        self, calls: FunctionCall | Iterable[FunctionCall], *, on_event: CallEventSink | None = None
    ) -> list[CallFinished]:
        """Run the calls of a model and return the last event of each, in order."""

    async def answer_gemini(self, response: object) -> list[Any]:
        """Answer the calls in a `GenerateContentResponse` of `google-genai`: contents for the next request."""
        return await self._answer("gemini", response)

    async def answer_openai(self, response: object) -> list[Any]:
        """Answer the calls in a `ChatCompletion` of `openai`, or in its message: messages for the next request."""
        return await self._answer("openai", response)

    async def answer_openai_responses(self, response: object) -> list[Any]:
        """Answer the calls in a `Response` of `openai`: input items for the next request."""
        return await self._answer("openai_responses", response)

    async def answer_anthropic(self, response: object) -> list[Any]:
        """Answer the calls in a `Message` of `anthropic`: messages for the next request."""
        return await self._answer("anthropic", response)

    async def _answer(self, sdk: SdkName, response: object) -> list[Any]:
        turn = read_turn(sdk, response, self)
        return encode_turn(turn, await self.call_many(turn.calls))


class SyncSdkAnswers(SdkDeclarations):
    """The same for code that is not asynchronous."""

    @abstractmethod
    def call_many(
        self, calls: FunctionCall | Iterable[FunctionCall], *, on_event: CallEventSink | None = None
    ) -> list[CallFinished]:
        """Run the calls of a model and return the last event of each, in order."""

    def answer_gemini(self, response: object) -> list[Any]:
        """Answer the calls in a `GenerateContentResponse` of `google-genai`: contents for the next request."""
        return self._answer("gemini", response)

    def answer_openai(self, response: object) -> list[Any]:
        """Answer the calls in a `ChatCompletion` of `openai`, or in its message: messages for the next request."""
        return self._answer("openai", response)

    def answer_openai_responses(self, response: object) -> list[Any]:
        """Answer the calls in a `Response` of `openai`: input items for the next request."""
        return self._answer("openai_responses", response)

    def answer_anthropic(self, response: object) -> list[Any]:
        """Answer the calls in a `Message` of `anthropic`: messages for the next request."""
        return self._answer("anthropic", response)

    def _answer(self, sdk: SdkName, response: object) -> list[Any]:
        turn = read_turn(sdk, response, self)
        return encode_turn(turn, self.call_many(turn.calls))


def read_turn(sdk: SdkName, response: object, tools: SdkDeclarations) -> SdkTurn:
    from tejat.models.sdk.turn import SdkTurn

    return SdkTurn(sdk_format(sdk), response, tools.declarations())


def encode_turn(turn: SdkTurn, finished: Sequence[CallFinished]) -> list[Any]:
    return turn.encode([event.result for event in finished])
