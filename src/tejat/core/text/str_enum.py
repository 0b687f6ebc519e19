"""`StrEnum` of the standard library, cheaper to define.

`EnumType` asks some twenty questions about each name in the body of an enumeration. The answers are known in advance
where the body has only strings and methods, as nearly all of ours do. `_StrEnumType` fills in the same tables for
those, and leaves every other body to `EnumType`, from the first unusual name on.
"""

import enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

_HAS_KNOWN_TABLES = not hasattr(type, "__annotate__")
"""Whether this is Python 3.13 or older, whose tables were compared. A newer one makes its enumerations itself."""


class _StrEnumType(enum.EnumType):
    """The type of enumerations with plain strings, which are made of the tables that their base has."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], **options: Any) -> Any:
        is_plain = len(bases) == 1 and bases[0].__base__ is enum.StrEnum and not options
        return _Body(name, bases) if is_plain else super().__prepare__(name, bases, **options)

    def __new__(metacls, name: str, bases: tuple[type, ...], body: Any, **options: Any) -> Any:
        if not isinstance(body, _Body):
            return super().__new__(metacls, name, bases, body, **options)
        if body.full is not None or any(options.values()) or not body.members:
            return super().__new__(metacls, name, bases, cast("Any", body.fill()), **options)
        return _make_enum(metacls, name, bases, body)


class _Body(dict[str, Any]):
    """The names in the body of an enumeration, handed over to those of `EnumType` when one is not plain."""

    __slots__ = ("bases", "full", "members", "name")

    def __init__(self, name: str, bases: tuple[type, ...]) -> None:
        self.name = name
        self.bases = bases
        self.members: dict[str, str] = {}
        self.full: dict[str, object] | None = None

    def __setitem__(self, name: str, value: object) -> None:
        if self.full is None and name not in self:
            kind = type(value)
            if kind is str and name[0] != "_" and name not in _TAKEN_NAMES:
                self.members[name] = cast("str", value)
                return super().__setitem__(name, value)
            if name in _PLAIN_NAMES or (kind in _METHOD_TYPES and name[0] != "_"):
                return super().__setitem__(name, value)
        full = self.fill()
        full[name] = value
        return self.update(full)

    def __delitem__(self, name: str) -> None:
        del self.fill()[name]
        super().__delitem__(name)

    def fill(self) -> dict[str, object]:
        """The body as `EnumType` would have it."""
        if self.full is None:
            self.full = cast("dict[str, object]", enum.EnumType.__prepare__(self.name, self.bases))
            for name, value in self.items():
                self.full[name] = value
        return self.full


_NAMES_OF_CLASS = frozenset({"__module__", "__qualname__", "__doc__", "__firstlineno__", "__static_attributes__"})
_PLAIN_NAMES = _NAMES_OF_CLASS | {"__str__", "_missing_"}
_METHOD_TYPES = frozenset({FunctionType, property, classmethod, staticmethod})
_TAKEN_NAMES = frozenset({"mro"}.union(*[base.__dict__ for base in enum.StrEnum.__mro__]))
"""Members with the name of an attribute of their base need more than an entry in the tables."""


def _make_enum(metacls: type[_StrEnumType], name: str, bases: tuple[type, ...], body: _Body) -> Any:
    members = body.members
    namespace = _SHARED_TABLES.copy()
    for key, value in body.items():
        if key not in members:
            namespace[key] = value
    for table, empty in _OWN_TABLES.items():
        namespace[table] = empty()
    names, by_name, by_value = (namespace[table] for table in ("_member_names_", "_member_map_", "_value2member_map_"))
    cls: Any = type.__new__(metacls, name, bases, namespace)
    for key, value in members.items():
        member: Any = by_value.get(value)
        if member is None:
            member = by_value[value] = str.__new__(cls, value)
            member._value_ = value
            member._name_ = key
            member.__objclass__ = cls
            member._sort_order_ = len(names)
            names.append(key)
        by_name[key] = member
        type.__setattr__(cls, key, member)
    return cls


if TYPE_CHECKING:
    from enum import StrEnum as StrEnum  # noqa: PLC0414 -- exported from here
else:

    class StrEnum(enum.StrEnum, metaclass=_StrEnumType if _HAS_KNOWN_TABLES else enum.EnumType):
        """An enumeration of strings."""


_SHARED_TABLES: dict[str, Any] = {
    name: value
    for name, value in StrEnum.__dict__.items()
    if not isinstance(value, list | dict) and name not in _NAMES_OF_CLASS
}
"""What `EnumType` puts into every enumeration, as it is in the base of all."""
_OWN_TABLES: dict[str, type] = {
    name: type(value) for name, value in vars(StrEnum).items() if type(cast("object", value)) in (list, dict)
}
"""The tables that every enumeration has of its own."""
