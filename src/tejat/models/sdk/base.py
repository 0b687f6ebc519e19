"""The contract of a format, and access to the fields of what an SDK returned."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, FunctionResponse, Params, Part
from tejat.models.wire.common import NAME_PATTERN, UNNAMED_CALL, wire_name
from tejat.models.wire.json_repair import parse_arguments


class RawCall(NamedTuple):
    """A call as the service sent it. The arguments are an object, or JSON text."""

    name: str
    arguments: object
    id: str


class SdkFormat(ABC):
    """Declarations, calls and results in the form of one SDK.

    What the SDK takes is typed as `Any`, because its own types are not imported here. `tools` are the declared ones:
    a service may not take the name of a tool as it is, and their own names are restored.
    """

    name_pattern: ClassVar[str] = NAME_PATTERN
    response_name: ClassVar[str]
    """What a response is called in messages."""
    call_field: ClassVar[str]
    """A field that every call has."""

    @abstractmethod
    def declare(self, tool: FunctionDeclaration) -> Any:
        """Return the declaration of one tool."""

    def declare_all(self, tools: Sequence[FunctionDeclaration]) -> list[Any]:
        """Return `tools` of a request."""
        return list(map(self.declare, tools))

    @abstractmethod
    def encode_response(self, response: FunctionResponse) -> Any:
        """Return one response, to be put among others of the same turn."""

    @abstractmethod
    def encode_results(self, results: Sequence[Sequence[Part]], *, model: str = "") -> list[Any]:
        """Return what continues the conversation after the calls of one turn, empty if there were none.

        Each result is a FunctionResponse followed by its other parts. `model` is the one that gets them.
        """

    @abstractmethod
    def is_response(self, response: object) -> bool:
        """Return whether it is a response of the SDK, which may have no calls."""

    @abstractmethod
    def find_calls(self, response: object) -> list[object]:
        """Return the calls in a response of the SDK."""

    @abstractmethod
    def read_fields(self, call: object) -> RawCall:
        """Return the fields of a call of the SDK."""

    def identify_call(self, call: object, tools: Sequence[FunctionDeclaration] = ()) -> FunctionCall:
        """Read a call of the SDK without its arguments."""
        name, _, call_id = self.read_fields(call)
        tool = self._find_tool(name, tools)
        return FunctionCall(name or UNNAMED_CALL if tool is None else tool.name, {}, call_id or None)

    def read_given_call(self, call: object, tools: Sequence[FunctionDeclaration] = ()) -> FunctionCall:
        """Read what a program says is a call of the SDK. Raises TypeError if it is none, and ToolFailure."""
        if not has_field(call, self.call_field):
            raise TypeError(
                f"This is no call of the SDK, because it has no field {self.call_field!r}: {describe(call)}."
            )
        return self.read_call(call, tools)

    def read_call(self, call: object, tools: Sequence[FunctionDeclaration] = ()) -> FunctionCall:
        """Read a call of the SDK. Raises ToolFailure if its arguments are not an object."""
        known = self.identify_call(call, tools)
        name, arguments, _ = self.read_fields(call)
        parsed = parse_arguments(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(parsed, Mapping):
            raise ToolFailure(f"The arguments of {known.name} are not a JSON object.", ErrorType.INVALID_TOOL_PARAMS)
        given = self.restore_arguments(dict(cast("Params", parsed)), self._find_tool(name, tools))
        return FunctionCall(known.name, given, known.id)

    def restore_arguments(self, arguments: Params, tool: FunctionDeclaration | None) -> Params:
        """Undo what `declare` did to the names of parameters."""
        return arguments

    def _find_tool(self, name: str, tools: Sequence[FunctionDeclaration]) -> FunctionDeclaration | None:
        return next((tool for tool in tools if wire_name(tool.name, self.name_pattern) == name), None)


def field_of(value: object, name: str) -> object:
    """Return a field of an object or a dict, None if it is missing."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).get(name)
    return getattr(value, name, None)


def has_field(value: object, name: str) -> bool:
    """Return whether an object or a dict has a field, which may be None."""
    return name in cast("Mapping[str, object]", value) if isinstance(value, Mapping) else hasattr(value, name)


def describe(value: object) -> str:
    """Describe a wrong value in an error by its type, because it may hold secrets."""
    return "None" if value is None else f"an object of the type {type(value).__name__}"


def text_of(value: object, name: str) -> str:
    """Return a field that is text, empty if it is something else."""
    found = field_of(value, name)
    return found if isinstance(found, str) else ""


def items_of(value: object, name: str) -> Sequence[object]:
    """Return a field that is a list, empty if it is something else."""
    found = field_of(value, name)
    return cast("Sequence[object]", found) if isinstance(found, list | tuple) else ()
