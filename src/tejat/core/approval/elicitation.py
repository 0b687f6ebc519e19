"""Forms that MCP servers ask users to fill in."""

from collections.abc import Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.str_enum import StrEnum

MAX_FIELDS = 50


class FieldKind(StrEnum):
    TEXT = "text"
    INTEGER = "a whole number"
    NUMBER = "a number"
    BOOLEAN = "yes or no"
    CHOICE = "one of these"
    CHOICES = "some of these"


class FormField(Frozen):
    """One field. `choices` are pairs of value and label; a default of None means no default."""

    name: str
    label: str
    kind: FieldKind
    is_required: bool = False
    description: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    default: JsonValue = None
    minimum: float | None = None
    maximum: float | None = None

    def parse(self, text: str) -> JsonValue:
        """Parse what the user typed. Raises ValueError with the expected form."""
        match self.kind:
            case FieldKind.TEXT:
                self._check_size(len(text))
                return text
            case FieldKind.INTEGER | FieldKind.NUMBER:
                return self._parse_number(text)
            case FieldKind.BOOLEAN:
                if text.lower() in _YES or text.lower() in _NO:
                    return text.lower() in _YES
                raise ValueError(_("Answer yes or no."))
            case FieldKind.CHOICE:
                return self._parse_choice(text)
            case FieldKind.CHOICES:
                words = filter(None, map(str.strip, text.split(",")))
                chosen = list(dict.fromkeys(map(self._parse_choice, words)))
                self._check_size(len(chosen))
                return chosen

    def check(self, value: JsonValue) -> JsonValue:
        """Check an answer that a client sends for the user. Raises ValueError with the expected form."""
        match self.kind:
            case FieldKind.TEXT:
                return self.parse(value if isinstance(value, str) else "")
            case FieldKind.INTEGER | FieldKind.NUMBER:
                return self._parse_number(_number_text(value, self.kind))
            case FieldKind.BOOLEAN:
                return value if isinstance(value, bool) else self.parse("")
            case FieldKind.CHOICE:
                return self._check_choice(value)
            case FieldKind.CHOICES:
                chosen = list(dict.fromkeys(map(self._check_choice, value))) if isinstance(value, list) else []
                self._check_size(len(chosen))
                return chosen

    def _check_choice(self, value: JsonValue) -> str:
        for chosen, _label in self.choices:
            if value == chosen:
                return chosen
        return self._parse_choice("")

    def _parse_number(self, text: str) -> float:
        wanted = int if self.kind is FieldKind.INTEGER else float
        try:
            number = wanted(text)
        except ValueError:
            number = None
        if number is None or number != number or abs(number) == float("inf"):
            if self.kind is FieldKind.INTEGER:
                raise ValueError(_("Enter an integer."))
            raise ValueError(_("Enter a number."))
        self._check_size(number)
        return number

    def _parse_choice(self, text: str) -> str:
        """Accept a value, a label or a number in the list."""
        for place, (chosen, label) in enumerate(self.choices, 1):
            if text.lower() in (chosen.lower(), label.lower(), str(place)):
                return chosen
        raise ValueError(_("Choose a number from 1 to {most}.", most=len(self.choices)))

    def _check_size(self, size: float) -> None:
        """Raises ValueError for a number, a length or a count out of range."""
        if self.minimum is not None and size < self.minimum:
            raise ValueError(self._range_error("least", self.minimum))
        if self.maximum is not None and size > self.maximum:
            raise ValueError(self._range_error("most", self.maximum))

    def _range_error(self, end: str, bound: float) -> str:
        size = f"{bound:g}"
        match self.kind, end:
            case FieldKind.TEXT, "least":
                return _("Enter at least {size} characters.", size=size)
            case FieldKind.TEXT, _:
                return _("Enter at most {size} characters.", size=size)
            case FieldKind.CHOICES, "least":
                return _("Choose at least {size} options.", size=size)
            case FieldKind.CHOICES, _:
                return _("Choose at most {size} options.", size=size)
            case _, "least":
                return _("Enter a value of at least {size}.", size=size)
            case _:
                return _("Enter a value of at most {size}.", size=size)


_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})


def _number_text(value: JsonValue, kind: FieldKind) -> str:
    """A number as the user would type it, empty for other values. A client may send 3 as 3.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    is_whole = kind is FieldKind.INTEGER and isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def parse_form_fields(schema: JsonObject) -> tuple[FormField, ...]:
    """The fields of a requested schema.

    Raises ValueError, with a message for the server, for a schema that asks for more than plain values.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        raise ValueError("it does not say what it wants to know")
    if len(properties) > MAX_FIELDS:
        raise ValueError(f"it wants to know more than {MAX_FIELDS} things")
    required = schema.get("required")
    names = set(_texts(required)) if isinstance(required, list) else set[str]()
    return tuple(_parse_field(name, asked, is_required=name in names) for name, asked in properties.items())


def check_answers(fields: Sequence[FormField], answers: JsonObject) -> JsonObject:
    """The answers of a client to these fields, without others. Raises ValueError, with a message for the user."""
    checked: dict[str, JsonValue] = {}
    for field in fields:
        value = answers.get(field.name)
        if value is None and field.is_required and field.default is None:
            raise ValueError(_("{label}: an answer is required.", label=field.label))
        if value is not None:
            try:
                checked[field.name] = field.check(value)
            except ValueError as error:
                raise ValueError(_("{label}: {problem}", label=field.label, problem=error)) from None
    return checked


def apply_defaults(fields: Sequence[FormField], answers: JsonObject) -> JsonObject:
    """The answers, with defaults for those left out."""
    defaults = {field.name: field.default for field in fields if field.default is not None}
    return {**defaults, **answers}


def _parse_field(name: str, definition: JsonValue, *, is_required: bool) -> FormField:
    if not isinstance(definition, Mapping):
        raise ValueError(f"it does not say what kind of value {name!r} is")
    title, description = definition.get("title"), definition.get("description")
    kind, choices = _field_kind(name, definition)
    least, most = ("minimum", "maximum")
    if kind is FieldKind.TEXT:
        least, most = ("minLength", "maxLength")
    elif kind is FieldKind.CHOICES:
        least, most = ("minItems", "maxItems")
    return FormField(
        name,
        title if isinstance(title, str) and title else name,
        kind,
        is_required=is_required,
        description=description if isinstance(description, str) else "",
        choices=choices,
        default=definition.get("default"),
        minimum=_number_or_none(definition.get(least)),
        maximum=_number_or_none(definition.get(most)),
    )


def _field_kind(name: str, definition: JsonObject) -> tuple[FieldKind, tuple[tuple[str, str], ...]]:
    choices = _choices(definition)
    if choices:
        return FieldKind.CHOICE, choices
    items = definition.get("items")
    if definition.get("type") == "array" and isinstance(items, Mapping) and (several := _choices(items)):
        return FieldKind.CHOICES, several
    given = definition.get("type")
    kind = _KINDS.get(given) if isinstance(given, str) else None
    if kind is None:
        raise ValueError(f"it wants a kind of value for {name!r} that nobody could type in")
    return kind, ()


_KINDS: Mapping[str, FieldKind] = {
    "string": FieldKind.TEXT,
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.BOOLEAN,
}


def _choices(definition: JsonObject) -> tuple[tuple[str, str], ...]:
    """The members of an enumeration with their labels, in any of the spellings of the protocol."""
    titled = definition.get("oneOf") or definition.get("anyOf")
    if isinstance(titled, list):
        known = [entry for entry in titled if isinstance(entry, Mapping)]
        pairs = [(entry.get("const"), entry.get("title")) for entry in known]
        return tuple(
            (constant, title if isinstance(title, str) else constant)
            for constant, title in pairs
            if isinstance(constant, str)
        )
    values = _texts(definition.get("enum"))
    labels = _texts(definition.get("enumNames"))
    return tuple(zip(values, labels if len(labels) == len(values) else values, strict=True))


def _texts(given: JsonValue) -> list[str]:
    return [entry for entry in given if isinstance(entry, str)] if isinstance(given, list) else []


def _number_or_none(given: JsonValue) -> float | None:
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None
