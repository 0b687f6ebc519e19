"""Frozen classes with slots, cheaper to define than dataclasses.

A subclass of `Frozen` is what `@dataclass(frozen=True, slots=True)` makes: the same fields, defaults, comparison,
printing and pattern matching. A dataclass compiles six methods when its class is defined, a millisecond each, and
defines the class twice; here only the constructor is compiled, and only for classes with many instances.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from types import GenericAlias, MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from inspect import Parameter, Signature

_T = TypeVar("_T")
MISSING: Any = object()
_COMPILE_AFTER = 32
"""The number of instances from which a compiled constructor pays off: compiling takes as long as making 40."""


class FrozenField:
    """One field and its options."""

    __slots__ = ("annotation", "compare", "default", "factory", "init", "is_local", "name", "repr")

    def __init__(
        self,
        *,
        default: Any,
        factory: Any = MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002 -- as in dataclasses
        compare: bool = True,
        is_local: bool = False,
    ) -> None:
        self.name = ""
        self.annotation: object = None
        self.default = default
        self.factory = factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.is_local = is_local


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] = MISSING,
    init: bool = True,
    repr: bool = True,  # noqa: A002 -- as in dataclasses
    compare: bool = True,
    is_local: bool = False,
) -> Any:
    """A field with a default factory, or excluded from the constructor, printing or comparison.

    A local field means something in this process only: it is left out of pickles and JSON, and must have a default.
    """
    return FrozenField(
        default=default, factory=default_factory, init=init, repr=repr, compare=compare, is_local=is_local
    )


def replace(instance: _T, **changes: object) -> _T:
    """A copy with some fields changed."""
    fields = fields_of(type(instance))
    kept = {each.name: getattr(instance, each.name) for each in fields if each.init and each.name not in changes}
    return type(instance)(**kept, **changes)


def is_frozen(cls: type) -> bool:
    return "__frozen_fields__" in cls.__dict__


def fields_of(cls: type) -> "tuple[FrozenField, ...]":
    """The fields of a frozen class or of a subclass of one."""
    known: Any = cast("Any", cls).__frozen_fields__
    return cast("tuple[FrozenField, ...]", known) if type(known) is tuple else _make_fields(_frozen_class(cls))


def _frozen_class(cls: type) -> type:
    """The class itself, or the first one that it inherits its fields from."""
    if "__frozen_fields__" in cls.__dict__:
        return cls
    return next(each for each in cls.__mro__ if "__frozen_fields__" in each.__dict__)


def _make_fields(cls: type) -> tuple[FrozenField, ...]:
    """The fields of a frozen class, which has their defaults in place of them until now."""
    given: Mapping[str, object] = cls.__dict__["__frozen_fields__"]
    annotations = _annotations_in(cls.__dict__)
    made: dict[str, FrozenField] = {}
    for base in reversed(cls.__mro__[1:]):
        if is_frozen(base):
            made.update((each.name, each) for each in fields_of(base))
    for name, default in given.items():
        declared = default if isinstance(default, FrozenField) else FrozenField(default=default)
        declared.name, declared.annotation = name, annotations[name]
        made[name] = declared
    fields = tuple(made.values())
    type.__setattr__(cls, "__frozen_fields__", fields)
    return fields


def _annotations_in(namespace: Mapping[str, Any]) -> Mapping[str, object]:
    """The annotations in the body of a class. From Python 3.14 on, a function makes them on demand."""
    annotate: Callable[[int], Mapping[str, object]] | None = namespace.get("__annotate_func__")
    if annotate is not None:
        return annotate(_VALUE_FORMAT)
    return namespace.get("__annotations__", {})


_VALUE_FORMAT = 1
"""`annotationlib.Format.VALUE`, whose module is slow to load."""


def _is_class_variable(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar"))
    return annotation is ClassVar or getattr(annotation, "__origin__", None) is ClassVar


_NO_CLASS_VARIABLES = frozenset({type, GenericAlias, UnionType})
"""Types of annotations that need no closer look, which is slow."""


class _MatchArgs:
    """The positional names in patterns, made when the first pattern or caller wants them."""

    def __get__(self, instance: object, owner: type) -> tuple[str, ...]:
        if not hasattr(owner, "__frozen_fields__"):
            return ()
        cls = _frozen_class(owner)
        names = tuple([each.name for each in fields_of(cls) if each.init])
        type.__setattr__(cls, "__match_args__", names)
        return names


def _generic_init(self: object, *positional: object, **named: object) -> None:
    """The constructor of a class with few instances so far. Raises TypeError like any other."""
    cls = _frozen_class(type(self))
    made: list[None] = cls.__dict__["__frozen_instances__"]
    made.append(None)
    if len(made) > _COMPILE_AFTER or not _set_fields(self, fields_of(cls), positional, named):
        constructor = _compile_init(cls)
        type.__setattr__(cls, "__init__", constructor)
        return constructor(self, *positional, **named)
    if hasattr(cls, "__post_init__"):
        getattr(self, "__post_init__")()  # noqa: B009 -- no type has it
    return None


def _set_fields(
    self: object, fields: tuple[FrozenField, ...], positional: tuple[object, ...], named: dict[str, object]
) -> bool:
    """Set each field. Returns False if arguments are missing or left over."""
    values = iter(positional)
    count = len(positional) + len(named)
    for each in fields:
        name = each.name
        if each.init and (value := next(values, MISSING)) is not MISSING:
            count -= 1
        elif each.init and name in named:
            value = named[name]
            count -= 1
        elif each.factory is not MISSING:
            value = each.factory()
        elif each.default is not MISSING:
            value = each.default
        else:
            return False
        _set_attribute(self, name, value)
    return not count


_set_attribute = object.__setattr__


def _compile_init(cls: type) -> Callable[..., None]:
    fields = fields_of(cls)
    known: dict[str, object] = {"_missing": MISSING}
    parameters, lines = ["self"], list[str]()
    for each in fields:
        known[f"_default_{each.name}"] = each.default
        known[f"_factory_{each.name}"] = each.factory
        # The slot itself: `object.__setattr__` would look it up by its name each time.
        known[f"_set_{each.name}"] = getattr(cls, each.name).__set__
        source = each.name
        if not each.init:
            source = f"_default_{each.name}" if each.factory is MISSING else f"_factory_{each.name}()"
        elif each.factory is not MISSING:
            parameters.append(f"{each.name}=_missing")
            source = f"_factory_{each.name}() if {each.name} is _missing else {each.name}"
        else:
            parameters.append(each.name if each.default is MISSING else f"{each.name}=_default_{each.name}")
        lines.append(f"    _set_{each.name}(self, {source})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    body = "\n".join(lines) or "    pass"
    exec(f"def __init__({', '.join(parameters)}):\n{body}", known)  # noqa: S102 -- names of fields, nothing else
    constructor = cast("Callable[..., None]", known["__init__"])
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _comparison_key(given: object) -> tuple[object, ...]:
    return tuple([getattr(given, each.name) for each in fields_of(type(given)) if each.compare])


def _equal(self: object, other: object) -> bool:
    if type(other) is not type(self):
        return NotImplemented
    return self is other or _comparison_key(self) == _comparison_key(other)


def _hash(self: object) -> int:
    return hash(_comparison_key(self))


def _repr(self: object) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields_of(type(self)) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _raise_frozen(self: object, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__qualname__} is frozen: {name} cannot be changed")


def _getstate(self: object) -> list[object]:
    return [_kept_content(each, getattr(self, each.name)) for each in fields_of(type(self))]


def _kept_content(field: FrozenField, content: object) -> object:
    """What a pickle keeps: nothing local, and a dict instead of a mapping proxy, which cannot be pickled."""
    if field.is_local:
        return field.default
    return dict(cast("Mapping[object, object]", content)) if isinstance(content, MappingProxyType) else content


def _setstate(self: object, state: list[object]) -> None:
    for each, kept in zip(fields_of(type(self)), state, strict=True):
        object.__setattr__(self, each.name, kept)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class FrozenType(type):
    """The type of frozen classes. It turns annotated fields into slots."""

    def __new__(metacls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, eq: bool = True) -> Any:
        """`eq=False` is for instances that compare by identity. A class with `__slots__` is a base without fields."""
        if "__slots__" in namespace:
            return super().__new__(metacls, name, bases, namespace)
        own: dict[str, object] = {
            name: namespace.pop(name, MISSING)
            for name, annotation in _annotations_in(namespace).items()
            if type(annotation) in _NO_CLASS_VARIABLES or not _is_class_variable(annotation)
        }
        slots: Iterable[str] = own
        if any(hasattr(base, "__frozen_fields__") for base in bases):
            inherited = {slot for base in bases for each in base.__mro__ for slot in each.__dict__.get("__slots__", ())}
            slots = [name for name in own if name not in inherited]
            # What was made of the fields of a base would be inherited.
            namespace |= {"__init__": _generic_init, "__match_args__": Frozen.__dict__["__match_args__"]}
        if not eq:
            slots = (*slots, "__weakref__")
            namespace["__eq__"], namespace["__hash__"] = object.__eq__, object.__hash__
        elif "__eq__" in namespace and namespace.get("__hash__") is None:
            namespace["__hash__"] = _hash  # a class that defines only the first would have none
        namespace["__slots__"] = tuple(slots)
        namespace["__frozen_fields__"] = own
        namespace["__frozen_instances__"] = []
        return super().__new__(metacls, name, bases, namespace)

    @property
    def __signature__(cls) -> "Signature | None":
        """What `help` and `inspect.signature` show, also before the constructor is compiled."""
        import inspect

        if not hasattr(cls, "__frozen_fields__"):
            return None
        return inspect.Signature([_parameter(each) for each in fields_of(cls) if each.init])


def _parameter(field: FrozenField) -> "Parameter":
    """The parameter of the constructor for a field. A default that is made anew each time is shown as `...`."""
    import inspect

    default = field.default if field.factory is MISSING else ...
    return inspect.Parameter(
        field.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=field.annotation,
    )


class Frozen(metaclass=FrozenType):
    """The base of immutable values. Instances compare and hash by their fields, those of `eq=False` by identity."""

    __slots__ = ()
    __init__ = _generic_init
    __match_args__ = _MatchArgs()
    __setattr__ = _raise_frozen
    __delattr__ = _raise_frozen
    __eq__ = _equal
    __hash__ = _hash
    __repr__ = _repr
    __getstate__ = _getstate
    __setstate__ = _setstate


class Value(Frozen):
    """The base of immutable values with a JSON form.

    `repr` is made for people: it leaves out fields that have their default, and cuts long contents.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the value as a dict for `json.dumps`, with the name of its class under `$`.

        Texts for the user are translated. Raises TypeError for contents that are not JSON.
        """
        from tejat.core.value_json import value_to_json

        return cast("dict[str, Any]", value_to_json(self))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned. `Value.from_dict` reads a value of any class.

        Fields with a default may be missing. Raises InvalidValue with the path to the first mistake.
        """
        from tejat.core.messages.value_reader import value_from_json

        return value_from_json(given, cls)

    def __repr__(self) -> str:
        shown = (
            f"{each.name}={_short_repr(content)}"
            for each in fields_of(type(self))
            if each.repr and not _is_default(each, content := getattr(self, each.name))
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"


_MAX_REPR_CHARS = 160
_MAX_REPR_ITEMS = 8


def _is_default(field: FrozenField, content: object) -> bool:
    if field.factory is not MISSING:
        return content == field.factory()
    return field.default is not MISSING and type(content) is type(field.default) and content == field.default


def _short_repr(content: object) -> str:
    match content:
        case str() | bytes() if len(content) > _MAX_REPR_CHARS:
            unit = "bytes" if isinstance(content, bytes) else "characters"
            return f"{content[:_MAX_REPR_CHARS]!r}... ({len(content)} {unit})"
        case tuple() | list() | set() | frozenset() | Mapping() if len(sized := cast("Any", content)) > 0:
            return _short_items(sized)
        case _:
            return repr(content)


def _short_items(content: Any) -> str:
    """The first items in the brackets of their container, and how many there are."""
    size = len(content)
    if isinstance(content, Mapping):
        pairs = cast("Iterable[tuple[object, object]]", content.items())
        items = [f"{key!r}: {_short_repr(each)}" for key, each in islice(pairs, _MAX_REPR_ITEMS)]
    else:
        items = [_short_repr(each) for each in islice(content, _MAX_REPR_ITEMS)]
    more = size - len(items)
    if more:
        items.append(f"... {more} more")
    first, last = "()" if isinstance(content, tuple) else "[]" if isinstance(content, list) else "{}"
    comma = "," if isinstance(content, tuple) and len(items) == 1 else ""
    return f"{first}{', '.join(items)}{comma}{last}"
