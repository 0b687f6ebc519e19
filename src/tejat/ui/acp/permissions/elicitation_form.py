"""Forms of MCP servers as forms of the client, and the words that ask for credentials."""

import re
from collections.abc import Iterable, Sequence

from tejat.core.approval.elicitation import FieldKind, FormField
from tejat.core.approval.user_question import UserQuestion
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line

_TYPES = {FieldKind.TEXT: "string", FieldKind.INTEGER: "integer", FieldKind.NUMBER: "number"}
_BOUNDS = {
    FieldKind.TEXT: ("minLength", "maxLength"),
    FieldKind.INTEGER: ("minimum", "maximum"),
    FieldKind.NUMBER: ("minimum", "maximum"),
    FieldKind.CHOICES: ("minItems", "maxItems"),
}
_CREDENTIAL = (
    r"pass ?(?:word|phrase|code)|api ?key|private ?key|secret ?key|access ?key|(?:client|shared) ?secret"
    r"|(?:access|refresh|bearer|auth\w*|api|personal|security) ?token|recovery ?codes?|one time (?:code|pass\w*)"
    r"|credit ?card|card ?number|\bcvv\b|\bcvc\b|\botp\b|credentials?"
)
_CREDENTIAL_NAME = rf"{_CREDENTIAL}|\btoken\b|\bsecret\b|\bpin\b|\bpasswd\b|\bkey\b"


def form_schema(fields: Sequence[FormField]) -> JsonObject:
    """The JSON Schema of a form with these fields and nothing else that a server may have sent."""
    properties: dict[str, JsonValue] = {field.name: _property(field) for field in fields}
    required: list[JsonValue] = [field.name for field in fields if field.is_required]
    return {"type": "object", "properties": properties, "required": required}


def credential_field(fields: Iterable[FormField]) -> FormField | None:
    """The first field that asks for a credential, which must not go through a form."""
    typed = (field for field in fields if field.kind in _TYPES)
    return next((field for field in typed if _asks_in_form(field)), None)


def is_about_credential(question: UserQuestion) -> bool:
    """Whether the model asks the user to type a credential."""
    return not question.labels and _matches(_CREDENTIAL, question.question, question.header, question.placeholder)


def _asks_in_form(field: FormField) -> bool:
    return _matches(_CREDENTIAL_NAME, field.name, field.label) or _matches(_CREDENTIAL, field.description)


def _matches(pattern: str, *texts: str) -> bool:
    # `apiKey`, `api-key` and `API_KEY` are all read as `api key`.
    words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " . ".join(texts)))
    return re.search(pattern, words, re.IGNORECASE) is not None


def _property(field: FormField) -> JsonObject:
    shown: dict[str, JsonValue] = {"title": sanitize_line(field.label)}
    if field.description:
        shown["description"] = sanitize_line(field.description)
    match field.kind:
        case FieldKind.BOOLEAN:
            shown["type"] = "boolean"
        case FieldKind.CHOICE:
            shown |= {"type": "string", "oneOf": _options(field)}
        case FieldKind.CHOICES:
            shown |= {"type": "array", "items": {"anyOf": _options(field)}}
        case FieldKind.TEXT | FieldKind.INTEGER | FieldKind.NUMBER:
            shown["type"] = _TYPES[field.kind]
    for name, bound in zip(_BOUNDS.get(field.kind, ()), (field.minimum, field.maximum), strict=False):
        if bound is not None and (field.kind is FieldKind.NUMBER or float(bound).is_integer()):
            shown[name] = bound if field.kind is FieldKind.NUMBER else int(bound)
    return {**shown, **_default(field)}


def _options(field: FormField) -> list[JsonValue]:
    return [{"const": value, "title": sanitize_line(label)} for value, label in field.choices]


def _default(field: FormField) -> JsonObject:
    """The default, unless it is not an answer to the field."""
    try:
        return {} if field.default is None else {"default": field.check(field.default)}
    except ValueError:
        return {}
