"""Types of pydantic, which declares and validates them itself. It is loaded only for them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from tejat.core.frozen import Frozen
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue
from tejat.core.tools.hints.json_types import TypeMismatch

_MARKS = ("__get_pydantic_core_schema__", "__pydantic_core_schema__")


def is_pydantic_type(hint: object) -> bool:
    """Whether pydantic knows how to validate it: a model, a pydantic dataclass, a type such as `EmailStr`."""
    return any(hasattr(hint, mark) for mark in _MARKS)


class PydanticType(Frozen):
    """A type that pydantic validates, in its JSON mode. `adapter` is a `TypeAdapter`."""

    adapter: Any
    declared: Mapping[str, JsonValue]
    is_hashable: bool = False

    @property
    def expected(self) -> str:
        json_type = self.declared.get("type")
        return json_type if isinstance(json_type, str) else "value"

    def schema(self) -> dict[str, JsonValue]:
        return dict(self.declared)

    def parse(self, value: object, where: str) -> object:
        try:
            return self.adapter.validate_json(dump_json(cast("JsonValue", value)))
        except ValueError as error:  # ValidationError is one
            raise _mismatch(error, where) from None


def pydantic_type(hint: object) -> PydanticType:
    """The JSON type of a hint that pydantic knows. Raises TypeError if it cannot be declared."""
    try:
        pydantic: Any = import_module("pydantic")
    except ImportError as error:
        raise TypeError(f"pydantic is needed for this type: {error}") from None
    try:
        adapter = pydantic.TypeAdapter(hint)
        schema = adapter.json_schema(schema_generator=_schema_generator())
    except (pydantic.PydanticUserError, NameError) as error:
        raise TypeError(f"pydantic cannot declare it: {str(error).splitlines()[0]}") from None
    return PydanticType(adapter, _inline(schema, schema.get("$defs", {}), ()))


def _schema_generator() -> type:
    """A generator without titles that only repeat the names of fields."""
    base = cast("Any", import_module("pydantic.json_schema")).GenerateJsonSchema
    return type("PlainJsonSchema", (base,), {"field_title_should_be_set": _needs_no_title})


def _needs_no_title(*_: object) -> bool:
    return False


def _inline(node: Any, definitions: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    """The schema without references, which not every model service follows. Raises TypeError if it contains itself."""
    if isinstance(node, list):
        return [_inline(each, definitions, within) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    items = cast("dict[str, Any]", node).items()
    fields = {name: _inline(each, definitions, within) for name, each in items if name != "$defs"}
    reference = fields.pop("$ref", None)
    if reference is None:
        return fields
    name = reference.removeprefix("#/$defs/")
    if name in within:
        raise TypeError(f"{name} contains itself, which cannot be declared to every model")
    return {**_inline(definitions[name], definitions, (*within, name)), **fields}


def _mismatch(error: Any, where: str) -> TypeMismatch:
    problems = getattr(error, "errors", None)
    if problems is None:
        return TypeMismatch(where, f"is refused: {error}")
    first, *others = [(_path(where, each["loc"]), _to_our_words(each["msg"])) for each in problems(include_url=False)]
    rest = "".join(f", {path} {text}" for path, text in others)
    return TypeMismatch(first[0], first[1] + rest, is_other_kind=first[0] == where and not rest)


def _path(where: str, location: tuple[object, ...]) -> str:
    return "/".join([where, *map(str, location)])


def _to_our_words(message: str) -> str:
    """The message as ours begin: `params/age must be ...`."""
    if message.startswith("Input should "):
        return f"must {message.removeprefix('Input should ')}"
    return "is required" if message == "Field required" else f"is refused: {message.removeprefix('Value error, ')}"
