"""The notes of `Annotated` hints: descriptions, constraints and defaults of several libraries.

Libraries are recognized by the attributes of their notes and never imported:

- a `str`, `Param`, and `Doc` (PEP 727) are ours and the standard's,
- `Ge`, `Gt`, `Le`, `Lt`, `Interval`, `MinLen`, `MaxLen`, `Len`, `MultipleOf` and `Predicate` of annotated_types,
- `Field(...)` of pydantic; any other note of pydantic is left to pydantic,
- `Meta(...)` of msgspec and whatever else has the same attributes (`ge`, `min_length`, `pattern`, ...), a compiled
  regular expression too.

A note that looks like a constraint but is not one of these is an error, because a limit must not be dropped silently.
Other notes are ignored, as PEP 593 says.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, cast, get_args, get_origin

from tejat.core.frozen import Frozen, field, replace
from tejat.core.messages.types import JsonValue
from tejat.core.tools.hints.limits import Bounds, Lengths, TimeBounds
from tejat.core.tools.hints.pydantic_types import is_pydantic_type
from tejat.core.tools.schema import Param

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusive_minimum",
    "le": "maximum",
    "lt": "exclusive_maximum",
    "multiple_of": "multiple_of",
}
_LENGTHS = {"min_length": "minimum", "max_length": "maximum"}
_OTHER_CONSTRAINTS = frozenset(
    {
        *("choices", "decimal_places", "max_digits", "regex", "tz", "validator", "validators"),
        *("max", "max_items", "max_size", "max_value", "maximum"),
        *("min", "min_items", "min_size", "min_value", "minimum"),
    }
)
"""Attributes of notes that limit values in ways that are not known here."""
_DESCRIPTIONS = ("description", "documentation", "examples", "title", "extra_json_schema")
_CONSTRAINT_LIBRARIES = frozenset({"annotated_types", "msgspec"})
_HARMLESS = frozenset({"annotated_types.Unit"})
_UNUSED_OPTIONS = frozenset({"strict", "allow_inf_nan"})
"""Options of pydantic that JSON values satisfy as they are parsed here."""


NO_DEFAULT: Any = object()


class Annotation(Frozen):
    """A hint, and what its notes say. `default` and `default_factory` are those of a `Field`.

    With `needs_pydantic`, pydantic declares and validates the whole hint; only the description counts here.
    """

    hint: object
    param: Param = Param()
    bounds: Bounds = Bounds()
    times: TimeBounds = TimeBounds()
    lengths: Lengths = Lengths()
    pattern: str | None = None
    tests: tuple[Callable[[object], object], ...] = ()
    keywords: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    default: object = NO_DEFAULT
    default_factory: Callable[[], object] | None = None
    needs_pydantic: bool = False

    @property
    def has_limits(self) -> bool:
        return (self.bounds, self.times, self.lengths, self.pattern) != (Bounds(), TimeBounds(), Lengths(), None)


def read_annotation(hint: object) -> Annotation:
    """Read the notes of a hint. Raises TypeError for a constraint that is not understood."""
    if get_origin(hint) is not Annotated:
        return Annotation(hint)
    inner, *notes = cast("tuple[object, ...]", get_args(hint))
    found = Annotation(inner)
    for note in notes:
        if isinstance(note, Param):
            from tejat.core.messages.value_check import check_value

            check_value(note)
        for each in _expand(note):
            found = _add_note(found, each)
    if not found.needs_pydantic:
        return found
    if any(isinstance(note, Param) and _add_param(Annotation(None), note).has_limits for note in notes):
        raise TypeError("pydantic validates this hint, and does not know the limits of Param(...): use Field(...)")
    return replace(found, hint=hint)


def is_field(value: object) -> bool:
    """Whether a value is the `Field(...)` of pydantic."""
    return any(_qualified_name(base) == "pydantic.FieldInfo" for base in type(value).__mro__)


def _expand(note: object) -> Iterator[object]:
    """The notes of a group, such as `Interval`, and the constraints of a `Field` after itself."""
    if hasattr(note, "__is_annotated_types_grouped_metadata__") and not isinstance(note, type):
        for each in cast("Iterable[object]", note):
            yield from _expand(each)
        return
    yield note
    if is_field(note):
        for each in cast("Any", note).metadata:
            yield from _expand(each)


def _add_note(found: Annotation, note: object) -> Annotation:
    match note:
        case None:
            return found
        case str():
            return _describe(found, note)
        case Param():
            return _add_param(found, note)
        case type():
            if _is_from_library(note):
                raise _not_understood(note, "it is a class, and should be an instance")
            return found
        case _ if is_field(note):
            return _add_field(found, cast("Any", note))
        case _ if _is_pydantic_option(note):
            return _add_options(found, vars(note))
        case _ if is_pydantic_type(note):
            return replace(found, needs_pydantic=True)
        case _:
            return _add_attributes(found, note)


def _describe(found: Annotation, text: object) -> Annotation:
    """Add a description. The last one counts: those of an alias come first."""
    if not isinstance(text, str) or not text:
        return found
    return replace(found, param=replace(found.param, description=text))


def _add_param(found: Annotation, param: Param) -> Annotation:
    if param.json_type is not None:
        raise TypeError("Param(json_type=...) has no meaning here: the type hint says what is taken")
    description = param.description or found.param.description
    bounds = Bounds(param.minimum, param.exclusive_minimum, param.maximum, param.exclusive_maximum, param.multiple_of)
    return replace(
        _add_pattern(found, param.pattern),
        param=replace(param, description=description),
        bounds=found.bounds.merge(bounds),
        lengths=found.lengths.merge(Lengths(param.min_length, param.max_length)),
        keywords={**found.keywords, **_examples(param.examples)},
    )


def _add_field(found: Annotation, given: Any) -> Annotation:
    """Add what a `Field` says itself; its constraints are separate notes."""
    for name in ("alias", "validation_alias"):
        if getattr(given, name, None) is not None:
            raise TypeError(f"Field({name}=...) is not supported: use Param(aliases=(...))")
    extra: object = given.json_schema_extra
    keywords: dict[str, JsonValue] = {} if given.title is None else {"title": given.title}
    keywords |= cast("dict[str, JsonValue]", extra) if isinstance(extra, dict) else {}
    keywords |= _examples(given.examples) | ({"deprecated": True} if given.deprecated else {})
    has_default = type(given.default).__name__ != "PydanticUndefinedType" and given.default is not Ellipsis
    return replace(
        _describe(found, given.description),
        keywords={**found.keywords, **keywords},
        default=given.default if has_default else found.default,
        default_factory=given.default_factory or found.default_factory,
        needs_pydantic=found.needs_pydantic or given.discriminator is not None or callable(given.json_schema_extra),
    )


def _is_pydantic_option(note: object) -> bool:
    """Whether it is the note in which pydantic keeps options without a class of their own, or `Strict`."""
    is_pydantic = type(note).__module__.partition(".")[0] == "pydantic"
    return is_pydantic and hasattr(note, "__dict__") and not is_pydantic_type(note) and not callable(note)


def _add_options(found: Annotation, options: Mapping[str, object]) -> Annotation:
    used = {name for name, value in options.items() if value is not None and value is not False}
    unknown = used - _UNUSED_OPTIONS - {"pattern"}
    return replace(_add_pattern(found, options.get("pattern")), needs_pydantic=found.needs_pydantic or bool(unknown))


def _add_attributes(found: Annotation, note: object) -> Annotation:
    """Add the constraints that a note has as attributes, of whichever library."""
    is_from_library = _is_from_library(type(note))
    limits = {ours: name for name, ours in _BOUNDS.items() if _has(note, name)}
    times = {ours: getattr(note, name) for ours, name in limits.items() if _is_time(note, name)}
    bounds = {ours: _number(note, name) for ours, name in limits.items() if ours not in times}
    lengths = {ours: _length(note, name) for name, ours in _LENGTHS.items() if _has(note, name)}
    unsupported = next((name for name in sorted(_OTHER_CONSTRAINTS) if _has(note, name)), None)
    if unsupported is not None:
        raise _not_understood(note, f"its {unsupported!r} is not supported")
    if _is_predicate(note):
        return replace(found, tests=(*found.tests, cast("Any", note).func))
    is_known = limits or lengths or _has(note, "pattern")
    if not is_known and is_from_library and not any(_has(note, name) for name in _DESCRIPTIONS):
        raise _not_understood(note, "it is not supported")
    if is_known or is_from_library or _has(note, "documentation"):
        found = _add_words(found, note)
    return replace(
        _add_pattern(found, cast("object", note) if isinstance(note, re.Pattern) else getattr(note, "pattern", None)),
        bounds=found.bounds.merge(Bounds(**bounds)),
        times=found.times.merge(TimeBounds(**times)),
        lengths=found.lengths.merge(Lengths(**lengths)),
    )


def _add_words(found: Annotation, note: object) -> Annotation:
    """Add what a note says without limiting anything."""
    for name in ("documentation", "description"):
        found = _describe(found, getattr(note, name, None))
    title, extra = getattr(note, "title", None), getattr(note, "extra_json_schema", None)
    keywords: dict[str, JsonValue] = {"title": title} if isinstance(title, str) else {}
    keywords |= _examples(getattr(note, "examples", None))
    keywords |= cast("dict[str, JsonValue]", extra) if isinstance(extra, dict) else {}
    return replace(found, keywords={**found.keywords, **keywords})


def _is_predicate(note: object) -> bool:
    return any(_qualified_name(base) == "annotated_types.Predicate" for base in type(note).__mro__)


def _has(note: object, name: str) -> bool:
    """Whether a note has a value of this name. Methods do not count: `min` of a column is none."""
    value = getattr(note, name, None)
    return value is not None and not callable(value)


def _is_time(note: object, name: str) -> bool:
    """Whether a bound is a date or a time. A step cannot be one."""
    return name != "multiple_of" and hasattr(getattr(note, name), "isoformat")


def _number(note: object, name: str) -> int | float | Decimal:
    value: object = getattr(note, name)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _not_understood(note, f"its {name!r} is neither a number nor a date")
    return value


def _length(note: object, name: str) -> int:
    value: object = getattr(note, name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _not_understood(note, f"its {name!r} is not an int")
    return value


def _add_pattern(found: Annotation, pattern: object) -> Annotation:
    """Add a regular expression, as a text or compiled. Raises TypeError for one that Python does not know."""
    if pattern is None or callable(pattern):
        return found
    if isinstance(pattern, re.Pattern) and pattern.flags & ~re.UNICODE:
        raise TypeError(f"the flags of {pattern!r} cannot be declared: write them into the pattern, such as (?i)")
    text = cast("object", pattern.pattern) if isinstance(pattern, re.Pattern) else pattern
    if not isinstance(text, str):
        raise TypeError(f"the pattern {text!r} is not a str")
    try:
        re.compile(text)
    except re.error as error:
        raise TypeError(f"the pattern {text!r} is not a regular expression: {error}") from None
    if found.pattern not in (None, text):
        raise TypeError(f"a text can have one pattern only, not {found.pattern!r} and {text!r}")
    return replace(found, pattern=text)


def _examples(given: object) -> dict[str, JsonValue]:
    return {"examples": list(cast("Iterable[JsonValue]", given))} if given else {}


def _is_from_library(cls: type) -> bool:
    """Whether the class, or one of its bases, is a constraint of a library."""
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] in _CONSTRAINT_LIBRARIES]
    return bool(bases) and _qualified_name(bases[0]) not in _HARMLESS


def _qualified_name(cls: type) -> str:
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


def _not_understood(note: object, reason: str) -> TypeError:
    return TypeError(f"{note!r} looks like a constraint, but cannot be declared: {reason}. Use Param(...)")
