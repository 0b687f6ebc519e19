"""What JSON a parameter takes: the schema that is declared of it, and how it becomes the Python value that is meant.

`take` takes exactly what the schema accepts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Protocol, cast

from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonValue


class TypeMismatch(Exception):
    """A value that is not taken. `is_other_kind`: something else altogether was expected where it stands."""

    def __init__(self, where: str, problem: str, *, is_other_kind: bool = False) -> None:
        super().__init__(f"{where} {problem}")
        self.path = where
        self.is_wrong_type = is_other_kind


class JsonType(Protocol):
    """`wanted` says in a few words what is taken; `is_hashable` whether what becomes of it can stand in a set."""

    @property
    def expected(self) -> str: ...

    @property
    def is_hashable(self) -> bool: ...

    def schema(self) -> dict[str, JsonValue]: ...

    def parse(self, given: object, where: str) -> object:
        """The Python value. Raises Unfit."""
        ...


@frozen
class AnyType:
    @property
    def expected(self) -> str:
        return "anything"

    @property
    def is_hashable(self) -> bool:
        return False

    def schema(self) -> dict[str, JsonValue]:
        return {}

    def parse(self, given: object, where: str) -> object:
        return given


@frozen
class ScalarType:
    """A text, a truth value or null, by the name of its JSON type. Only texts have a least length."""

    expected: str
    minimum_length: int | None = None

    @property
    def is_hashable(self) -> bool:
        return True

    def schema(self) -> dict[str, JsonValue]:
        return {"type": self.expected} | _limit("minLength", self.minimum_length)

    def parse(self, given: object, where: str) -> object:
        if not isinstance(given, _SCALAR_TYPES[self.expected]):
            raise _wrong_type(where, self.expected)
        if isinstance(given, str) and len(given) < (self.minimum_length or 0):
            raise TypeMismatch(where, f"must NOT have fewer than {self.minimum_length} characters")
        return given


_SCALAR_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "null": type(None)}


@frozen
class NumberType:
    """`wanted` is `integer` or `number`. JSON knows one kind of number, so 3.0 is the integer 3."""

    expected: str
    minimum: int | None = None

    @property
    def is_hashable(self) -> bool:
        return True

    def schema(self) -> dict[str, JsonValue]:
        return {"type": self.expected} | _limit("minimum", self.minimum)

    def parse(self, given: object, where: str) -> object:
        number = self._convert(given)
        if number is None:
            raise _wrong_type(where, self.expected)
        if self.minimum is not None and number < self.minimum:
            raise TypeMismatch(where, f"must be >= {self.minimum}")
        return number

    def _convert(self, given: object) -> int | float | None:
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        if isinstance(given, float) and not isfinite(given):
            return None
        if self.expected == "integer":
            return int(given) if given == int(given) else None
        try:
            return float(given)
        except OverflowError:  # no float is as large, and an int will do wherever a float is hinted
            return given


@frozen
class LiteralType:
    """One of some values. `choices` are pairs: as JSON, and what it stands for."""

    choices: tuple[tuple[JsonValue, object], ...]

    @property
    def expected(self) -> str:
        shown = [json.dumps(written, ensure_ascii=False) for written, _ in self.choices]
        return shown[0] if len(shown) == 1 else f"one of {', '.join(shown)}"

    @property
    def is_hashable(self) -> bool:
        return True

    def schema(self) -> dict[str, JsonValue]:
        written = [written for written, _ in self.choices]
        kinds = {_json_type(each) for each in written}
        if kinds == {"integer", "number"}:
            kinds = {"number"}
        told: dict[str, JsonValue] = {"type": kinds.pop()} if len(kinds) == 1 else {}
        return {**told, "enum": written}

    def parse(self, given: object, where: str) -> object:
        for written, meant in self.choices:
            if json_equal(written, given):
                return meant
        raise _wrong_type(where, self.expected)


def json_equal(one: object, other: object) -> bool:
    """Whether two plain values are the same in JSON, where 1 is 1.0 and true is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _json_type(given: object) -> str:
    match given:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case _:
            return "number"


@frozen
class ArrayType:
    """Any number of the same. `build` makes of their list what was hinted."""

    item: JsonType
    build: Callable[[list[object]], object]
    minimum: int | None = None

    @property
    def expected(self) -> str:
        return "array"

    @property
    def is_hashable(self) -> bool:
        return self.build in (tuple, frozenset) and self.item.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "array", "items": self.item.schema()} | _limit("minItems", self.minimum)

    def parse(self, given: object, where: str) -> object:
        items = _require_list(given, where)
        if len(items) < (self.minimum or 0):
            raise TypeMismatch(where, f"must NOT have fewer than {self.minimum} items")
        return self.build([self.item.parse(item, f"{where}/{index}") for index, item in enumerate(items)])


@frozen
class TupleType:
    """A tuple of a fixed length."""

    members: tuple[JsonType, ...]

    @property
    def expected(self) -> str:
        return "array"

    @property
    def is_hashable(self) -> bool:
        return all(member.is_hashable for member in self.members)

    def schema(self) -> dict[str, JsonValue]:
        schemas = [member.schema() for member in self.members]
        length = len(schemas)
        different = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
        told: dict[str, JsonValue] = {"type": "array"}
        if len(different) > 1:
            told["prefixItems"] = schemas
        # Some services want `items` for every array, though after the members there is nothing left for it.
        told["items"] = different[0] if len(different) == 1 else {"anyOf": different}
        return told | {"minItems": length, "maxItems": length}

    def parse(self, given: object, where: str) -> object:
        items = _require_list(given, where)
        if len(items) != len(self.members):
            raise TypeMismatch(where, f"must have exactly {len(self.members)} items")
        pairs = zip(self.members, items, strict=True)
        return tuple([member.parse(item, f"{where}/{index}") for index, (member, item) in enumerate(pairs)])


@frozen
class MapType:
    """An object with any keys, and values that are alike."""

    item: JsonType

    @property
    def expected(self) -> str:
        return "object"

    @property
    def is_hashable(self) -> bool:
        return False

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def parse(self, given: object, where: str) -> object:
        return {key: self.item.parse(item, f"{where}/{key}") for key, item in _require_mapping(given, where).items()}


@frozen
class Property:
    """A named value of a record, or a parameter. `default` is told to the model; None tells nothing."""

    name: str
    json_type: JsonType
    is_required: bool = True
    default: JsonValue = None
    description: str = ""

    def schema(self) -> dict[str, JsonValue]:
        told = self.json_type.schema()
        if self.description:
            told["description"] = self.description
        return told if self.default is None else {**told, "default": self.default}


@frozen
class ObjectType:
    """An object with known keys and no others: which of two records is meant must be seen from the keys.

    `build` makes the Python value, and may refuse with ValueError or TypeError.
    """

    properties: tuple[Property, ...]
    build: Callable[[dict[str, object]], object]
    is_hashable: bool = False

    @property
    def expected(self) -> str:
        return "object"

    def schema(self) -> dict[str, JsonValue]:
        return {**object_schema(self.properties), "additionalProperties": False}

    def parse(self, given: object, where: str) -> object:
        mapping = _require_mapping(given, where)
        known = {member.name for member in self.properties}
        for name in mapping:
            if name not in known:
                raise TypeMismatch(where, f"must NOT have the property '{name}'")
        values: dict[str, object] = {}
        for member in self.properties:
            if member.name in mapping:
                values[member.name] = member.json_type.parse(mapping[member.name], f"{where}/{member.name}")
            elif member.is_required:
                raise TypeMismatch(where, f"must have required property '{member.name}'")
        try:
            return self.build(values)
        except (ValueError, TypeError) as error:
            raise TypeMismatch(where, f"is refused: {error}") from None


def object_schema(members: Sequence[Property]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": {member.name: member.schema() for member in members},
        "required": [member.name for member in members if member.is_required],
    }


@frozen
class UnionType:
    """The first of several shapes that takes the value."""

    members: tuple[JsonType, ...]

    @property
    def expected(self) -> str:
        return " or ".join(dict.fromkeys(member.expected for member in self.members))

    @property
    def is_hashable(self) -> bool:
        return all(member.is_hashable for member in self.members)

    def schema(self) -> dict[str, JsonValue]:
        return {"anyOf": [member.schema() for member in self.members]}

    def parse(self, given: object, where: str) -> object:
        nearest: TypeMismatch | None = None
        for member in self.members:
            try:
                return member.parse(given, where)
            except TypeMismatch as unfit:
                is_other = unfit.is_wrong_type and unfit.path == where
                nearest = nearest if is_other else nearest or unfit
        raise nearest or _wrong_type(where, self.expected)


@frozen
class DescribedType:
    """A shape with a word about what it means."""

    inner: JsonType
    description: str

    @property
    def expected(self) -> str:
        return self.inner.expected

    @property
    def is_hashable(self) -> bool:
        return self.inner.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {**self.inner.schema(), "description": self.description}

    def parse(self, given: object, where: str) -> object:
        return self.inner.parse(given, where)


def _limit(key: str, number: int | None) -> dict[str, JsonValue]:
    return {} if number is None else {key: number}


def _wrong_type(where: str, wanted: str) -> TypeMismatch:
    return TypeMismatch(where, f"must be {wanted}", is_other_kind=True)


def _require_list(given: object, where: str) -> list[object]:
    if not isinstance(given, list):
        raise _wrong_type(where, "array")
    return cast("list[object]", given)


def _require_mapping(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise _wrong_type(where, "object")
    return cast("Mapping[str, object]", given)
