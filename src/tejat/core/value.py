"""Frozen values with slots, made without the cost of a dataclass.

`@value` stands for `@dataclass(frozen=True, slots=True)`: the same fields, defaults, comparison, printing and pattern
matching. A dataclass writes and compiles six methods when its class is made, a millisecond each; here nothing is
compiled but the constructor, and that only of values that a run makes many of.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

_Value = TypeVar("_Value")
MISSING: Any = object()
_WORTH_COMPILING = 8
"""After so many instances a constructor of its own pays."""


class Field:
    """How one field differs from the usual."""

    __slots__ = ("compare", "default", "factory", "init", "name", "repr")

    def __init__(self, *, default: Any, factory: Any, init: bool, repr: bool, compare: bool) -> None:  # noqa: A002 -- as in dataclasses
        self.name = ""
        self.default = default
        self.factory = factory
        self.init = init
        self.repr = repr
        self.compare = compare


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] = MISSING,
    init: bool = True,
    repr: bool = True,  # noqa: A002 -- as in dataclasses
    compare: bool = True,
) -> Any:
    """A field with a factory for its default, or one that is left out of the constructor, printing or comparison."""
    return Field(default=default, factory=default_factory, init=init, repr=repr, compare=compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[_Value]) -> type[_Value]:
    """Make a class of annotated fields a frozen value with slots. Values compare and hash by their fields."""
    return _made(cls, {"__eq__": _equal, "__hash__": _hash})


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def identity(cls: type[_Value]) -> type[_Value]:
    """The same, compared by identity; it can be referred to weakly."""
    return _made(cls, {}, "__weakref__")


def replace(given: _Value, **changes: object) -> _Value:
    """The same value with some fields changed."""
    fields = fields_of(type(given))
    kept = {each.name: getattr(given, each.name) for each in fields if each.init and each.name not in changes}
    return type(given)(**kept, **changes)


def is_value(cls: type) -> bool:
    return "__value_fields__" in cls.__dict__


def fields_of(cls: type) -> "tuple[Field, ...]":
    """Also of a class that inherits them and is no value of its own."""
    return cast("Any", cls).__value_fields__


def _made(cls: type[_Value], methods: Mapping[str, object], *more_slots: str) -> type[_Value]:
    inherited: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= {each.name: each for each in base.__dict__.get("__value_fields__", ())}
    own = {each.name: each for each in _own_fields(cls)}
    fields = tuple((inherited | own).values())
    namespace = {name: thing for name, thing in cls.__dict__.items() if name not in own and name not in _PER_CLASS}
    # A class that says what is equal to it has a hash of None, unless it says that too.
    namespace |= {name: method for name, method in methods.items() if namespace.get(name) is None}
    namespace |= {
        "__qualname__": cls.__qualname__,
        "__slots__": (*(name for name in own if name not in inherited), *more_slots),
        "__match_args__": tuple(each.name for each in fields if each.init),
        "__value_fields__": fields,
        "__value_made__": list[None](),
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    namespace.setdefault("__repr__", _represent)
    namespace["__init__"] = _fill_in
    return cast("type[_Value]", type(cls)(cls.__name__, cls.__bases__, namespace))


_PER_CLASS = frozenset({"__dict__", "__weakref__"})


def _own_fields(cls: type) -> Iterator[Field]:
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063 -- inspect is slow to load
        if _is_of_class(annotation):
            continue
        given = cls.__dict__.get(name, MISSING)
        told = (
            given
            if isinstance(given, Field)
            else Field(default=given, factory=MISSING, init=True, repr=True, compare=True)
        )
        told.name = name
        yield told


def _is_of_class(annotation: object) -> bool:
    # Most annotations are no texts, and it takes long to make them one.
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar"))
    return annotation is ClassVar or getattr(annotation, "__origin__", None) is ClassVar


def _fill_in(self: object, *positional: object, **named: object) -> None:
    """The constructor of a class that few instances were made of so far. It raises TypeError like any other."""
    cls = type(self)
    while "__value_fields__" not in cls.__dict__:
        cls = cls.__mro__[1]
    made: list[None] = cls.__dict__["__value_made__"]
    made.append(None)
    filled = None if len(made) > _WORTH_COMPILING else _filled(fields_of(cls), positional, named)
    if filled is None:
        constructor = _constructor(cls)
        type.__setattr__(cls, "__init__", constructor)
        return constructor(self, *positional, **named)
    for name, content in filled.items():
        object.__setattr__(self, name, content)
    if "__post_init__" in dir(cls):
        getattr(self, "__post_init__")()  # noqa: B009 -- no type has it
    return None


def _filled(
    fields: tuple[Field, ...], positional: tuple[object, ...], named: dict[str, object]
) -> dict[str, object] | None:
    """What each field is given; None if something is missing or too much."""
    names = [each.name for each in fields if each.init]
    given = dict(zip(names, positional, strict=False)) | named
    if len(given) < len(positional) + len(named) or not named.keys() <= set(names):
        return None
    filled: dict[str, object] = {}
    for each in fields:
        if each.name in given:
            filled[each.name] = given[each.name]
        elif each.factory is not MISSING:
            filled[each.name] = each.factory()
        elif each.default is not MISSING:
            filled[each.name] = each.default
        else:
            return None
    return filled


def _constructor(cls: type) -> Callable[..., None]:
    fields = fields_of(cls)
    known: dict[str, object] = {"_set": object.__setattr__}
    parameters, lines = ["self"], list[str]()
    for each in fields:
        known[f"_default_{each.name}"] = each.default
        known[f"_factory_{each.name}"] = each.factory
        known["_missing"] = MISSING
        source = each.name
        if not each.init:
            source = f"_default_{each.name}" if each.factory is MISSING else f"_factory_{each.name}()"
        elif each.factory is not MISSING:
            parameters.append(f"{each.name}=_missing")
            source = f"_factory_{each.name}() if {each.name} is _missing else {each.name}"
        else:
            parameters.append(each.name if each.default is MISSING else f"{each.name}=_default_{each.name}")
        lines.append(f"    _set(self, {each.name!r}, {source})")
    if "__post_init__" in dir(cls):
        lines.append("    self.__post_init__()")
    body = "\n".join(lines) or "    pass"
    exec(f"def __init__({', '.join(parameters)}):\n{body}", known)  # noqa: S102 -- names of fields, nothing else
    constructor = cast("Callable[..., None]", known["__init__"])
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _compared(given: object) -> tuple[object, ...]:
    return tuple([getattr(given, each.name) for each in fields_of(type(given)) if each.compare])


def _equal(self: object, other: object) -> bool:
    if type(other) is not type(self):
        return NotImplemented
    return self is other or _compared(self) == _compared(other)


def _hash(self: object) -> int:
    return hash(_compared(self))


def _represent(self: object) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields_of(type(self)) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__qualname__} is frozen: {name} cannot be changed")


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in fields_of(type(self))]


def _restore(self: object, state: list[object]) -> None:
    for each, kept in zip(fields_of(type(self)), state, strict=True):
        object.__setattr__(self, each.name, kept)
