"""Conversion of values from and to the objects of SDKs, without an import of the SDKs.

This is the one place where `core` reaches up, into the code that encodes requests to the services: users convert the
values themselves, `result.to_openai(call)`. What an SDK takes is typed as `Any`, because its own types are not here.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tejat.core.messages.declaration import FunctionDeclaration
    from tejat.core.messages.types import FunctionCall, FunctionResponse
    from tejat.core.tools.base import ToolResult
    from tejat.models.sdk.base import SdkFormat

SdkName: TypeAlias = Literal["gemini", "openai", "openai_responses", "anthropic"]


def sdk_format(name: SdkName) -> "SdkFormat":
    """Load the format of an SDK."""
    match name:
        case "gemini":
            from tejat.models.sdk.gemini import GeminiFormat

            return GeminiFormat()
        case "openai":
            from tejat.models.sdk.openai import ChatFormat

            return ChatFormat()
        case "openai_responses":
            from tejat.models.sdk.openai import ResponsesFormat

            return ResponsesFormat()
        case "anthropic":
            from tejat.models.sdk.anthropic import AnthropicFormat

            return AnthropicFormat()


class SdkDeclaration:
    """The conversions of a declaration."""

    __slots__ = ()

    def to_gemini(self) -> Any:
        """An element of `function_declarations` for `google-genai`."""
        return self._declare("gemini")

    def to_openai(self) -> Any:
        """An element of `tools` of the Chat Completions API, for `openai`."""
        return self._declare("openai")

    def to_openai_responses(self) -> Any:
        """An element of `tools` of the Responses API, for `openai`."""
        return self._declare("openai_responses")

    def to_anthropic(self) -> Any:
        """An element of `tools` for `anthropic`."""
        return self._declare("anthropic")

    def _declare(self, sdk: SdkName) -> Any:
        return sdk_format(sdk).declare(cast("FunctionDeclaration", self))


class SdkDeclarations(ABC):
    """The conversions of many declarations to what a request has as `tools`."""

    @abstractmethod
    def declarations(self) -> "Sequence[FunctionDeclaration]":
        """The declarations of the tools that a model may call."""

    def to_gemini(self) -> list[Any]:
        """The `tools` of a request of `google-genai`."""
        return sdk_format("gemini").declare_all(self.declarations())

    def to_openai(self) -> list[Any]:
        """The `tools` of a request to the Chat Completions API with `openai`."""
        return sdk_format("openai").declare_all(self.declarations())

    def to_openai_responses(self) -> list[Any]:
        """The `tools` of a request to the Responses API with `openai`."""
        return sdk_format("openai_responses").declare_all(self.declarations())

    def to_anthropic(self) -> list[Any]:
        """The `tools` of a request of `anthropic`."""
        return sdk_format("anthropic").declare_all(self.declarations())


class SdkCall:
    """The ways to read a call from an object or a dict of an SDK.

    With the declared `tools`, names that the service does not take are restored. All raise TypeError for anything else
    than a call.
    """

    __slots__ = ()

    @staticmethod
    def from_gemini(call: object, tools: "Sequence[FunctionDeclaration]" = ()) -> "FunctionCall":
        """Read a `FunctionCall` of `google-genai`."""
        return sdk_format("gemini").read_given_call(call, tools)

    @staticmethod
    def from_openai(call: object, tools: "Sequence[FunctionDeclaration]" = ()) -> "FunctionCall":
        """Read a tool call of a `ChatCompletion`. Raises ToolFailure if its arguments are not a JSON object."""
        return sdk_format("openai").read_given_call(call, tools)

    @staticmethod
    def from_openai_responses(call: object, tools: "Sequence[FunctionDeclaration]" = ()) -> "FunctionCall":
        """Read a function call of a `Response`. Raises ToolFailure if its arguments are not a JSON object."""
        return sdk_format("openai_responses").read_given_call(call, tools)

    @staticmethod
    def from_anthropic(call: object, tools: "Sequence[FunctionDeclaration]" = ()) -> "FunctionCall":
        """Read a `tool_use` block of `anthropic`."""
        return sdk_format("anthropic").read_given_call(call, tools)


class SdkResponse:
    """The conversions of a response, to be put among others of the same turn."""

    __slots__ = ()

    def to_gemini(self) -> Any:
        """A part of a `Content` for `google-genai`."""
        return self._encode("gemini")

    def to_openai(self) -> Any:
        """A message of the Chat Completions API, for `openai`."""
        return self._encode("openai")

    def to_openai_responses(self) -> Any:
        """An input item of the Responses API, for `openai`."""
        return self._encode("openai_responses")

    def to_anthropic(self) -> Any:
        """A `tool_result` block of a message for `anthropic`."""
        return self._encode("anthropic")

    def _encode(self, sdk: SdkName) -> Any:
        return sdk_format(sdk).encode_response(cast("FunctionResponse", self))


class SdkResult:
    """The conversions of a result to what continues the conversation after a single call.

    The calls of one turn are answered together: see `Toolset.answer_openai`. `call` is the call that was run; all raise
    TypeError for a call of the SDK.
    """

    __slots__ = ()

    def to_gemini(self, call: "FunctionCall", *, model: str = "") -> list[Any]:
        """The contents for `google-genai`. A `model` since Gemini 3 gets media inside of the response."""
        return self._encode("gemini", call, model)

    def to_openai(self, call: "FunctionCall") -> list[Any]:
        """The messages of the Chat Completions API, for `openai`."""
        return self._encode("openai", call)

    def to_openai_responses(self, call: "FunctionCall") -> list[Any]:
        """The input items of the Responses API, for `openai`."""
        return self._encode("openai_responses", call)

    def to_anthropic(self, call: "FunctionCall") -> list[Any]:
        """The messages for `anthropic`."""
        return self._encode("anthropic", call)

    def _encode(self, sdk: SdkName, call: "FunctionCall", model: str = "") -> list[Any]:
        from tejat.core.messages.types import FunctionCall
        from tejat.core.tools.function_response import build_response

        if not isinstance(cast("object", call), FunctionCall):
            raise TypeError(
                f"The call must be a FunctionCall of tejat, not an object of the type {type(call).__name__}. "
                f"`FunctionCall.from_{sdk}` reads a call of the SDK."
            )
        return sdk_format(sdk).encode_results([build_response(call, cast("ToolResult", self))], model=model)
