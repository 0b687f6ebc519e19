"""The format of `anthropic`."""

from collections.abc import Sequence
from typing import Any

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionResponse, Params, Part
from tejat.models.anthropic.request import encode_tool, user_content
from tejat.models.sdk.base import RawCall, SdkFormat, field_of, has_field, items_of, text_of
from tejat.models.wire.common import restore_arguments


class AnthropicFormat(SdkFormat):
    """Messages with `tool_result` blocks, which hold their media."""

    response_name = "a Message of anthropic"
    call_field = "input"

    def declare(self, tool: FunctionDeclaration) -> Any:
        return encode_tool(tool)

    def encode_response(self, response: FunctionResponse) -> Any:
        return self.encode_results([[response]])[0]["content"][0]

    def encode_results(self, results: Sequence[Sequence[Part]], *, model: str = "") -> list[Any]:
        parts = [part for result in results for part in result]
        content = user_content(user_message(*parts), media=True, results_only=True)
        return [{"role": "user", "content": content}] if parts else []

    def is_response(self, response: object) -> bool:
        content = field_of(response, "content")
        return isinstance(content, list | tuple | str) and not has_field(response, "tool_calls")

    def find_calls(self, response: object) -> list[object]:
        """Return the `tool_use` blocks of a `Message`."""
        return [block for block in items_of(response, "content") if text_of(block, "type") == "tool_use"]

    def read_fields(self, call: object) -> RawCall:
        return RawCall(text_of(call, "name"), field_of(call, "input"), text_of(call, "id"))

    def restore_arguments(self, arguments: Params, tool: FunctionDeclaration | None) -> Params:
        return restore_arguments(arguments, tool)
