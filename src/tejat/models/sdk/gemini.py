"""The format of `google-genai`."""

from collections.abc import Sequence
from typing import Any

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionResponse, Part
from tejat.models.gemini.request import NAME_PATTERN, GeminiEncoder, encode_declaration
from tejat.models.sdk.base import RawCall, SdkFormat, field_of, has_field, items_of, text_of


class GeminiFormat(SdkFormat):
    """Function declarations, and contents with function responses."""

    name_pattern = NAME_PATTERN
    response_name = "a GenerateContentResponse of google-genai"
    call_field = "name"

    def declare(self, tool: FunctionDeclaration) -> Any:
        return encode_declaration(tool)

    def declare_all(self, tools: Sequence[FunctionDeclaration]) -> list[Any]:
        return [{"functionDeclarations": list(map(self.declare, tools))}] if tools else []

    def encode_response(self, response: FunctionResponse) -> Any:
        return self.encode_results([[response]])[0]["parts"][0]

    def encode_results(self, results: Sequence[Sequence[Part]], *, model: str = "") -> list[Any]:
        # Since version 3 a model takes media inside of a response; for others they follow it.
        parts = GeminiEncoder(model).encode_parts(part for result in results for part in result)
        return [{"role": "user", "parts": parts}] if parts else []

    def is_response(self, response: object) -> bool:
        # A response to a blocked prompt has no candidates, and as a dict no field for them.
        return any(has_field(response, name) for name in ("candidates", "parts", "promptFeedback", "prompt_feedback"))

    def find_calls(self, response: object) -> list[object]:
        """Return the calls in a `GenerateContentResponse` or a `Content`."""
        candidates = items_of(response, "candidates")
        content = field_of(candidates[0], "content") if candidates else response
        parts = items_of(content, "parts")
        found = (field_of(part, "function_call") or field_of(part, "functionCall") for part in parts)
        return [call for call in found if call is not None]

    def read_fields(self, call: object) -> RawCall:
        arguments = field_of(call, "args")
        return RawCall(text_of(call, "name"), {} if arguments is None else arguments, text_of(call, "id"))
