"""The two formats of `openai`: Chat Completions, which many servers have, and Responses."""

from collections.abc import Sequence
from typing import Any

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionResponse, Part
from tejat.models.openai import request, responses_request
from tejat.models.sdk.base import RawCall, SdkFormat, field_of, has_field, items_of, text_of

_DIALECT = request.OpenAIDialect()


class ChatFormat(SdkFormat):
    """Messages of the Chat Completions API. Media follow the results in a message of the user."""

    response_name = "a ChatCompletion of openai or its message"
    call_field = "function"

    def declare(self, tool: FunctionDeclaration) -> Any:
        return request.encode_tool(tool, _DIALECT)

    def encode_response(self, response: FunctionResponse) -> Any:
        return self.encode_results([[response]])[0]

    def encode_results(self, results: Sequence[Sequence[Part]], *, model: str = "") -> list[Any]:
        parts = [part for result in results for part in result]
        return list(request.user_messages(user_message(*parts), _DIALECT, results_only=True)) if parts else []

    def is_response(self, response: object) -> bool:
        if has_field(response, "choices") or has_field(response, "tool_calls"):
            return True
        # A message without calls as a dict. A list of blocks is a message of another API.
        return has_field(response, "content") and not isinstance(field_of(response, "content"), list | tuple)

    def find_calls(self, response: object) -> list[object]:
        """Return the function calls in a `ChatCompletion` or in a message of one."""
        choices = items_of(response, "choices")
        message = field_of(choices[0], "message") if choices else response
        return [call for call in items_of(message, "tool_calls") if field_of(call, "function") is not None]

    def read_fields(self, call: object) -> RawCall:
        function = field_of(call, "function")
        return RawCall(text_of(function, "name"), text_of(function, "arguments"), text_of(call, "id"))


class ResponsesFormat(SdkFormat):
    """Input items of the Responses API. Results hold their media."""

    response_name = "a Response of openai"
    call_field = "name"

    def declare(self, tool: FunctionDeclaration) -> Any:
        return responses_request.encode_tool(tool)

    def encode_response(self, response: FunctionResponse) -> Any:
        return self.encode_results([[response]])[0]

    def encode_results(self, results: Sequence[Sequence[Part]], *, model: str = "") -> list[Any]:
        parts = [part for result in results for part in result]
        return list(responses_request.user_items(user_message(*parts), media=True, results_only=True)) if parts else []

    def is_response(self, response: object) -> bool:
        return isinstance(field_of(response, "output"), list | tuple)

    def find_calls(self, response: object) -> list[object]:
        """Return the function calls in a `Response`."""
        return [item for item in items_of(response, "output") if text_of(item, "type") == "function_call"]

    def read_fields(self, call: object) -> RawCall:
        return RawCall(text_of(call, "name"), text_of(call, "arguments"), text_of(call, "call_id"))
