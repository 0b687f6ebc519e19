"""JSON types of parameters: their schema, and the parsing of values.

`parse` accepts exactly what the schema accepts.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Protocol, cast

from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonValue
from tejat.core.tools.hints.limits import Bounds, Lengths


class TypeMismatch(Exception):
    """A value that does not match. `is_wrong_type`: the value itself has the wrong type, not a part of it."""

    def __init__(self, where: str, problem: str, *, is_other_kind: bool = False) -> None:
        super().__init__(f"{where} {problem}")
        self.path = where
        self.is_wrong_type = is_other_kind


class JsonType(Protocol):
    """A type. `expected` names it in messages; `is_hashable` says whether parsed values are hashable."""

    @property
    def expected(self) -> str: ...

    @property
    def is_hashable(self) -> bool: ...

    def schema(self) -> dict[str, JsonValue]: ...

    def parse(self, value: object, where: str) -> object:
        """Parse a value. Raises TypeMismatch."""
        ...


class AnyType(Frozen):
    expected: str = field(default="anything", init=False)
    is_hashable: bool = field(default=False, init=False)

    def schema(self) -> dict[str, JsonValue]:
        return {}

    def parse(self, value: object, where: str) -> object:
        return value


class ScalarType(Frozen):
    """A string, a boolean or null, by the name of its JSON type. Only strings have lengths and a pattern."""

    expected: str
    lengths: Lengths = Lengths()
    pattern: str | None = None
    is_hashable: bool = field(default=True, init=False)

    def schema(self) -> dict[str, JsonValue]:
        declared: dict[str, JsonValue] = {"type": self.expected, **self.lengths.schema("Length")}
        return declared if self.pattern is None else {**declared, "pattern": self.pattern}

    def parse(self, value: object, where: str) -> object:
        if not isinstance(value, _SCALAR_TYPES[self.expected]):
            raise wrong_type(where, self.expected)
        if isinstance(value, str):
            check_limit(where, self.lengths.problem(len(value), "characters"))
            if self.pattern is not None and re.search(self.pattern, value) is None:
                raise TypeMismatch(where, f"must match pattern {json.dumps(self.pattern, ensure_ascii=False)}")
        return value


_SCALAR_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "null": type(None)}


class NumberType(Frozen):
    """An `integer` or a `number`. JSON has one number type, so 3.0 is a valid integer."""

    expected: str
    bounds: Bounds = Bounds()
    is_hashable: bool = field(default=True, init=False)

    def schema(self) -> dict[str, JsonValue]:
        return {"type": self.expected, **self.bounds.schema()}

    def parse(self, value: object, where: str) -> object:
        number = self._convert(value)
        if number is None:
            raise wrong_type(where, self.expected)
        check_limit(where, self.bounds.problem(number))
        return number

    def _convert(self, value: object) -> int | float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if isinstance(value, float) and not isfinite(value):
            return None
        if self.expected == "integer":
            return int(value) if value == int(value) else None
        try:
            return float(value)
        except OverflowError:  # too large for a float; an int is accepted wherever a float is hinted
            return value


class LiteralType(Frozen):
    """One of several values. `choices` are pairs of JSON value and Python value."""

    choices: tuple[tuple[JsonValue, object], ...]
    is_hashable: bool = field(default=True, init=False)

    @property
    def expected(self) -> str:
        shown = [json.dumps(written, ensure_ascii=False) for written, _ in self.choices]
        return shown[0] if len(shown) == 1 else f"one of {', '.join(shown)}"

    def schema(self) -> dict[str, JsonValue]:
        written = [written for written, _ in self.choices]
        kinds = {_json_type(each) for each in written}
        if kinds == {"integer", "number"}:
            kinds = {"number"}
        declared: dict[str, JsonValue] = {"type": kinds.pop()} if len(kinds) == 1 else {}
        return {**declared, "enum": written}

    def parse(self, value: object, where: str) -> object:
        for written, meant in self.choices:
            if json_equal(written, value):
                return meant
        raise wrong_type(where, self.expected)


def json_equal(one: object, other: object) -> bool:
    """Whether two scalars are equal in JSON, where 1 is 1.0 and true is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _json_type(value: object) -> str:
    match value:
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


class ArrayType(Frozen):
    """Items of one type. `build` makes the Python collection of their list."""

    item: JsonType
    build: Callable[[list[object]], object]
    lengths: Lengths = Lengths()
    expected: str = field(default="array", init=False)

    @property
    def is_hashable(self) -> bool:
        return self.build in (tuple, frozenset) and self.item.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "array", "items": self.item.schema(), **self.lengths.schema("Items")}

    def parse(self, value: object, where: str) -> object:
        items = _require_list(value, where)
        check_limit(where, self.lengths.problem(len(items), "items"))
        built = self.build([self.item.parse(item, f"{where}/{index}") for index, item in enumerate(items)])
        if self.build in (set, frozenset):
            check_limit(where, self.lengths.problem(len(cast("set[object]", built)), "different items"))
        return built


class TupleType(Frozen):
    """A tuple of fixed length."""

    members: tuple[JsonType, ...]
    expected: str = field(default="array", init=False)

    @property
    def is_hashable(self) -> bool:
        return all(member.is_hashable for member in self.members)

    def schema(self) -> dict[str, JsonValue]:
        schemas = [member.schema() for member in self.members]
        length = len(schemas)
        different = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
        declared: dict[str, JsonValue] = {"type": "array"}
        if len(different) > 1:
            declared["prefixItems"] = schemas
        # Some services require `items` for every array, even if `prefixItems` says it all.
        declared["items"] = different[0] if len(different) == 1 else {"anyOf": different}
        return declared | {"minItems": length, "maxItems": length}

    def parse(self, value: object, where: str) -> object:
        items = _require_list(value, where)
        if len(items) != len(self.members):
            raise TypeMismatch(where, f"must have exactly {len(self.members)} items")
        pairs = zip(self.members, items, strict=True)
        return tuple([member.parse(item, f"{where}/{index}") for index, (member, item) in enumerate(pairs)])


class MapType(Frozen):
    """An object with arbitrary keys and values of one type."""

    item: JsonType
    lengths: Lengths = Lengths()
    expected: str = field(default="object", init=False)
    is_hashable: bool = field(default=False, init=False)

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "object", "additionalProperties": self.item.schema(), **self.lengths.schema("Properties")}

    def parse(self, value: object, where: str) -> object:
        mapping = _require_mapping(value, where)
        check_limit(where, self.lengths.problem(len(mapping), "properties"))
        return {key: self.item.parse(item, f"{where}/{key}") for key, item in mapping.items()}


def describe_type(json_type: JsonType, description: str) -> dict[str, JsonValue]:
    """The schema of a type with a description, which also tells the limits that have no keyword."""
    declared = json_type.schema()
    if description:
        inner = json_type
        while isinstance(inner, DescribedType | CheckedType):
            inner = inner.inner
        words: str = getattr(inner, "limit_words", "")
        stop = "" if description.rstrip().endswith((".", "!", "?")) else "."
        declared["description"] = f"{description.rstrip()}{stop} {words}" if words else description
    return declared


class Property(Frozen):
    """A property of an object, or a parameter. A `default` of None is not declared to the model."""

    name: str
    json_type: JsonType
    is_required: bool = True
    default: JsonValue = None
    description: str = ""

    def schema(self) -> dict[str, JsonValue]:
        declared = describe_type(self.json_type, self.description)
        return declared if self.default is None else {**declared, "default": self.default}


class ObjectType(Frozen):
    """An object with known properties only, so that the members of a union can be distinguished.

    `build` makes the Python value and may reject it with ValueError or TypeError.
    """

    properties: tuple[Property, ...]
    build: Callable[[dict[str, object]], object]
    is_hashable: bool = False
    expected: str = field(default="object", init=False)

    def schema(self) -> dict[str, JsonValue]:
        return {**object_schema(self.properties), "additionalProperties": False}

    def parse(self, value: object, where: str) -> object:
        mapping = _require_mapping(value, where)
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


class UnionType(Frozen):
    """The first of several types that accepts the value."""

    members: tuple[JsonType, ...]

    @property
    def expected(self) -> str:
        return " or ".join(dict.fromkeys(member.expected for member in self.members))

    @property
    def is_hashable(self) -> bool:
        return all(member.is_hashable for member in self.members)

    def schema(self) -> dict[str, JsonValue]:
        return {"anyOf": [member.schema() for member in self.members]}

    def parse(self, value: object, where: str) -> object:
        nearest: TypeMismatch | None = None
        for member in self.members:
            try:
                return member.parse(value, where)
            except TypeMismatch as unfit:
                is_other = unfit.is_wrong_type and unfit.path == where
                nearest = nearest if is_other else nearest or unfit
        raise nearest or wrong_type(where, self.expected)


class DescribedType(Frozen):
    """A type with a description and other keywords that limit nothing, such as `examples`."""

    inner: JsonType
    description: str = ""
    keywords: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def expected(self) -> str:
        return self.inner.expected

    @property
    def is_hashable(self) -> bool:
        return self.inner.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {**describe_type(self.inner, self.description), **self.keywords}

    def parse(self, value: object, where: str) -> object:
        return self.inner.parse(value, where)


class CheckedType(Frozen):
    """A type whose parsed values must pass a test, which no schema can declare."""

    inner: JsonType
    test: Callable[[object], object]

    @property
    def expected(self) -> str:
        return self.inner.expected

    @property
    def is_hashable(self) -> bool:
        return self.inner.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return self.inner.schema()

    def parse(self, value: object, where: str) -> object:
        parsed = self.inner.parse(value, where)
        try:
            is_accepted = self.test(parsed)
        except (ValueError, TypeError) as error:
            raise TypeMismatch(where, f"is refused: {error}") from None
        if not is_accepted:
            raise TypeMismatch(where, f"must satisfy {getattr(self.test, '__qualname__', repr(self.test))}")
        return parsed


def check_limit(where: str, problem: str | None) -> None:
    """Raise TypeMismatch if there is a problem."""
    if problem is not None:
        raise TypeMismatch(where, problem)


def wrong_type(where: str, wanted: str) -> TypeMismatch:
    """The mismatch of a value that has another type."""
    return TypeMismatch(where, f"must be {wanted}", is_other_kind=True)


def _require_list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise wrong_type(where, "array")
    return cast("list[object]", value)


def _require_mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise wrong_type(where, "object")
    return cast("Mapping[str, object]", value)
