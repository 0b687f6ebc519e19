"""What JSON a parameter takes: the schema that is declared of it, and how it becomes the Python value that is meant.

`take` takes exactly what the schema accepts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Protocol, cast

from tejat.core.types import JsonValue
from tejat.core.value import value


class Unfit(Exception):
    """A value that is not taken. `is_other_kind`: something else altogether was expected where it stands."""

    def __init__(self, where: str, problem: str, *, is_other_kind: bool = False) -> None:
        super().__init__(f"{where} {problem}")
        self.where = where
        self.is_other_kind = is_other_kind


class Shape(Protocol):
    """`wanted` says in a few words what is taken; `is_hashable` whether what becomes of it can stand in a set."""

    @property
    def wanted(self) -> str: ...

    @property
    def is_hashable(self) -> bool: ...

    def schema(self) -> dict[str, JsonValue]: ...

    def take(self, given: object, where: str) -> object:
        """The Python value. Raises Unfit."""
        ...


@value
class Anything:
    @property
    def wanted(self) -> str:
        return "anything"

    @property
    def is_hashable(self) -> bool:
        return False

    def schema(self) -> dict[str, JsonValue]:
        return {}

    def take(self, given: object, where: str) -> object:
        return given


@value
class Plain:
    """A text, a truth value or null, by the name of its JSON type. Only texts have a least length."""

    wanted: str
    minimum_length: int | None = None

    @property
    def is_hashable(self) -> bool:
        return True

    def schema(self) -> dict[str, JsonValue]:
        return {"type": self.wanted} | _limit("minLength", self.minimum_length)

    def take(self, given: object, where: str) -> object:
        if not isinstance(given, _PLAIN_TYPES[self.wanted]):
            raise _other_kind(where, self.wanted)
        if isinstance(given, str) and len(given) < (self.minimum_length or 0):
            raise Unfit(where, f"must NOT have fewer than {self.minimum_length} characters")
        return given


_PLAIN_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "null": type(None)}


@value
class Number:
    """`wanted` is `integer` or `number`. JSON knows one kind of number, so 3.0 is the integer 3."""

    wanted: str
    minimum: int | None = None

    @property
    def is_hashable(self) -> bool:
        return True

    def schema(self) -> dict[str, JsonValue]:
        return {"type": self.wanted} | _limit("minimum", self.minimum)

    def take(self, given: object, where: str) -> object:
        number = self._converted(given)
        if number is None:
            raise _other_kind(where, self.wanted)
        if self.minimum is not None and number < self.minimum:
            raise Unfit(where, f"must be >= {self.minimum}")
        return number

    def _converted(self, given: object) -> int | float | None:
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        if isinstance(given, float) and not isfinite(given):
            return None
        if self.wanted == "integer":
            return int(given) if given == int(given) else None
        try:
            return float(given)
        except OverflowError:  # no float is as large, and an int will do wherever a float is hinted
            return given


@value
class Choice:
    """One of some values. `choices` are pairs: as JSON, and what it stands for."""

    choices: tuple[tuple[JsonValue, object], ...]

    @property
    def wanted(self) -> str:
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

    def take(self, given: object, where: str) -> object:
        for written, meant in self.choices:
            if same_json(written, given):
                return meant
        raise _other_kind(where, self.wanted)


def same_json(one: object, other: object) -> bool:
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


@value
class Items:
    """Any number of the same. `build` makes of their list what was hinted."""

    item: Shape
    build: Callable[[list[object]], object]
    minimum: int | None = None

    @property
    def wanted(self) -> str:
        return "array"

    @property
    def is_hashable(self) -> bool:
        return self.build in (tuple, frozenset) and self.item.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "array", "items": self.item.schema()} | _limit("minItems", self.minimum)

    def take(self, given: object, where: str) -> object:
        items = _list_of(given, where)
        if len(items) < (self.minimum or 0):
            raise Unfit(where, f"must NOT have fewer than {self.minimum} items")
        return self.build([self.item.take(item, f"{where}/{index}") for index, item in enumerate(items)])


@value
class Row:
    """A tuple of a fixed length."""

    members: tuple[Shape, ...]

    @property
    def wanted(self) -> str:
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

    def take(self, given: object, where: str) -> object:
        items = _list_of(given, where)
        if len(items) != len(self.members):
            raise Unfit(where, f"must have exactly {len(self.members)} items")
        pairs = zip(self.members, items, strict=True)
        return tuple([member.take(item, f"{where}/{index}") for index, (member, item) in enumerate(pairs)])


@value
class Keyed:
    """An object with any keys, and values that are alike."""

    item: Shape

    @property
    def wanted(self) -> str:
        return "object"

    @property
    def is_hashable(self) -> bool:
        return False

    def schema(self) -> dict[str, JsonValue]:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def take(self, given: object, where: str) -> object:
        return {key: self.item.take(item, f"{where}/{key}") for key, item in _mapping_of(given, where).items()}


@value
class Member:
    """A named value of a record, or a parameter. `default` is told to the model; None tells nothing."""

    name: str
    shape: Shape
    is_required: bool = True
    default: JsonValue = None
    description: str = ""

    def schema(self) -> dict[str, JsonValue]:
        told = self.shape.schema()
        if self.description:
            told["description"] = self.description
        return told if self.default is None else {**told, "default": self.default}


@value
class Record:
    """An object with known keys and no others: which of two records is meant must be seen from the keys.

    `build` makes the Python value, and may refuse with ValueError or TypeError.
    """

    members: tuple[Member, ...]
    build: Callable[[dict[str, object]], object]
    is_hashable: bool = False

    @property
    def wanted(self) -> str:
        return "object"

    def schema(self) -> dict[str, JsonValue]:
        return {**object_schema(self.members), "additionalProperties": False}

    def take(self, given: object, where: str) -> object:
        mapping = _mapping_of(given, where)
        known = {member.name for member in self.members}
        for name in mapping:
            if name not in known:
                raise Unfit(where, f"must NOT have the property '{name}'")
        values: dict[str, object] = {}
        for member in self.members:
            if member.name in mapping:
                values[member.name] = member.shape.take(mapping[member.name], f"{where}/{member.name}")
            elif member.is_required:
                raise Unfit(where, f"must have required property '{member.name}'")
        try:
            return self.build(values)
        except (ValueError, TypeError) as error:
            raise Unfit(where, f"is refused: {error}") from None


def object_schema(members: Sequence[Member]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": {member.name: member.schema() for member in members},
        "required": [member.name for member in members if member.is_required],
    }


@value
class Either:
    """The first of several shapes that takes the value."""

    members: tuple[Shape, ...]

    @property
    def wanted(self) -> str:
        return " or ".join(dict.fromkeys(member.wanted for member in self.members))

    @property
    def is_hashable(self) -> bool:
        return all(member.is_hashable for member in self.members)

    def schema(self) -> dict[str, JsonValue]:
        return {"anyOf": [member.schema() for member in self.members]}

    def take(self, given: object, where: str) -> object:
        nearest: Unfit | None = None
        for member in self.members:
            try:
                return member.take(given, where)
            except Unfit as unfit:
                is_other = unfit.is_other_kind and unfit.where == where
                nearest = nearest if is_other else nearest or unfit
        raise nearest or _other_kind(where, self.wanted)


@value
class Noted:
    """A shape with a word about what it means."""

    shape: Shape
    note: str

    @property
    def wanted(self) -> str:
        return self.shape.wanted

    @property
    def is_hashable(self) -> bool:
        return self.shape.is_hashable

    def schema(self) -> dict[str, JsonValue]:
        return {**self.shape.schema(), "description": self.note}

    def take(self, given: object, where: str) -> object:
        return self.shape.take(given, where)


def _limit(key: str, number: int | None) -> dict[str, JsonValue]:
    return {} if number is None else {key: number}


def _other_kind(where: str, wanted: str) -> Unfit:
    return Unfit(where, f"must be {wanted}", is_other_kind=True)


def _list_of(given: object, where: str) -> list[object]:
    if not isinstance(given, list):
        raise _other_kind(where, "array")
    return cast("list[object]", given)


def _mapping_of(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise _other_kind(where, "object")
    return cast("Mapping[str, object]", given)
