"""The declaration of a tool for a model."""

from tejat.core.frozen import Value
from tejat.core.messages.sdk import SdkDeclaration
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum


class Kind(StrEnum):
    """What a tool does. It decides whether calls run in parallel, in plan mode and without undo data."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    AGENT = "agent"
    FETCH = "fetch"
    COMMUNICATE = "communicate"
    PLAN = "plan"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


READ_ONLY_KINDS = frozenset({Kind.READ, Kind.SEARCH, Kind.FETCH})


class FunctionDeclaration(SdkDeclaration, Value):
    """The declaration of a tool for a model."""

    name: str
    description: str
    parameters_json_schema: JsonObject

    def to_json(self) -> JsonObject:
        return {"name": self.name, "description": self.description, "parametersJsonSchema": self.parameters_json_schema}
