"""The calls in one response of an SDK, and their answers."""

from collections.abc import Awaitable, Sequence
from typing import Any

from tejat.core.errors import ToolFailure
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult, invalid_params_result
from tejat.core.tools.function_response import build_response
from tejat.models.sdk.base import SdkFormat, describe, text_of


class SdkTurn:
    """The calls of one turn: run `calls` in this order, then `encode` their results.

    A call that cannot be read is not among them; its answer says why.
    """

    def __init__(self, sdk: SdkFormat, response: object, tools: Sequence[FunctionDeclaration]) -> None:
        """Raises TypeError for anything else than a response: its calls would never be found."""
        if not sdk.is_response(response):
            wrong = f"The response must be {sdk.response_name}, not {describe(response)}."
            raise TypeError(f"{wrong} Await it first." if isinstance(response, Awaitable) else wrong)
        self._sdk = sdk
        self._model = text_of(response, "model_version")
        self._read = [_read_call(sdk, call, tools) for call in sdk.find_calls(response)]

    @property
    def calls(self) -> list[FunctionCall]:
        return [call for call, failed in self._read if failed is None]

    def encode(self, results: Sequence[ToolResult]) -> list[Any]:
        """Return what continues the conversation, empty if there are no calls."""
        left = iter(results)
        pairs = ((call, next(left) if failed is None else failed) for call, failed in self._read)
        return self._sdk.encode_results([build_response(*pair) for pair in pairs], model=self._model)


def _read_call(
    sdk: SdkFormat, call: object, tools: Sequence[FunctionDeclaration]
) -> tuple[FunctionCall, ToolResult | None]:
    try:
        return sdk.read_call(call, tools), None
    except ToolFailure as failure:
        return sdk.identify_call(call, tools), invalid_params_result(failure)
