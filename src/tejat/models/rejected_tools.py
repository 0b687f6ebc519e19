"""Tools that a service rejects: one bad declaration must not disable all others."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.model import FailureKind, ModelFailure, ModelRequest
from tejat.models.wire.common import wire_name

_REJECTED_STATUSES = frozenset({400, 422})


class RejectedTools:
    """Tools that one service rejects. A tool whose declaration changes is tried again."""

    def __init__(self) -> None:
        self._rejected: dict[str, FunctionDeclaration] = {}

    def remove_from(self, request: ModelRequest) -> ModelRequest:
        """Return the request without the rejected tools."""
        if not self._rejected:
            return request
        return replace(request, tools=tuple(tool for tool in request.tools if self._rejected.get(tool.name) != tool))

    def learn_from(self, request: ModelRequest, failure: ModelFailure, *, limit: int) -> Sequence[str]:
        """Reject up to `limit` tools that the failure of this request is about, and return their names."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status not in _REJECTED_STATUSES:
            return ()
        # These requests have other tools, or none.
        if request.capabilities or request.response_schema is not None:
            return ()
        named = list(_tools_in_message(failure.message, request.tools))[:limit]
        self._rejected |= {tool.name: tool for tool in named}
        return [tool.name for tool in named]


# Not compiled: errors are rare, and compiling would slow down every start.
_INDEX_PATTERN = (
    r"\bfunction_?declarations\[(\d{1,4})\]"
    r"|\btools\.(\d{1,4})\."
    r"|\btools\[(\d{1,4})\]\.function\b"
    r"|['\"]tools['\"], (\d{1,4})\b"
)
_NAME_PATTERN = (
    r"\b(?:schema|parameters|name|description) (?:for|of) (?:function|tool) ['\"`]([^'\"`]{1,128})['\"`]"
    r"|`([^`]{1,128})` function_?declaration\b"
    r"|\bduplicate function declaration found: ([\w.:-]{1,128})"
)


def _tools_in_message(message: str, tools: Sequence[FunctionDeclaration]) -> Iterator[FunctionDeclaration]:
    """Return the tools that an error is about, in the order of the request.

    A name that merely occurs in the message does not count: it may be about an earlier call.
    """
    places = {int(_first_group(found)) for found in re.finditer(_INDEX_PATTERN, message, re.IGNORECASE)}
    names = {_first_group(found) for found in re.finditer(_NAME_PATTERN, message, re.IGNORECASE)}
    for place, tool in enumerate(tools):
        if place in places or names & {tool.name, wire_name(tool.name)}:
            yield tool


def _first_group(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)
