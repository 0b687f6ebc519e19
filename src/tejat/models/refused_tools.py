"""Tools that a service does not take, read from its refusals: one of them must not keep the others from being used."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.model import FailureKind, ModelFailure, ModelRequest
from tejat.core.tool import FunctionDeclaration
from tejat.core.value import replace
from tejat.models.portable import wire_name

_REFUSED = frozenset({400, 422})


class RefusedTools:
    """What one service does not take. A tool that is declared in another way than it was is tried again."""

    def __init__(self) -> None:
        self._left_out: dict[str, FunctionDeclaration] = {}

    def without(self, request: ModelRequest) -> ModelRequest:
        """The request without the tools that are known to be refused."""
        if not self._left_out:
            return request
        return replace(request, tools=tuple(tool for tool in request.tools if self._left_out.get(tool.name) != tool))

    def learn(self, request: ModelRequest, failure: ModelFailure, *, most: int) -> Sequence[str]:
        """Leave out what the refusal of this request is about, `most` tools at once. Returns their names."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status not in _REFUSED:
            return ()
        # These go out with other tools, or with none.
        if request.abilities or request.answer_schema is not None:
            return ()
        named = list(_named(failure.message, request.tools))[:most]
        self._left_out |= {tool.name: tool for tool in named}
        return [tool.name for tool in named]


# Plain texts, as a server refuses seldom: to compile them would cost every start.
_BY_PLACE = (
    r"\bfunction_?declarations\[(\d{1,4})\]"
    r"|\btools\.(\d{1,4})\."
    r"|\btools\[(\d{1,4})\]\.function\b"
    r"|['\"]tools['\"], (\d{1,4})\b"
)
_BY_NAME = (
    r"\b(?:schema|parameters|name|description) (?:for|of) (?:function|tool) ['\"`]([^'\"`]{1,128})['\"`]"
    r"|`([^`]{1,128})` function_?declaration\b"
    r"|\bduplicate function declaration found: ([\w.:-]{1,128})"
)


def _named(message: str, tools: Sequence[FunctionDeclaration]) -> Iterator[FunctionDeclaration]:
    """The tools that a refusal is about, in the order of the request.

    A name that merely occurs in it says nothing: the refusal may be about an earlier call.
    """
    places = {int(_group(found)) for found in re.finditer(_BY_PLACE, message, re.IGNORECASE)}
    names = {_group(found) for found in re.finditer(_BY_NAME, message, re.IGNORECASE)}
    for place, tool in enumerate(tools):
        if place in places or names & {tool.name, wire_name(tool.name)}:
            yield tool


def _group(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)
