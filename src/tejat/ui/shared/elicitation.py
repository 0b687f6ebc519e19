"""Texts for elicitation requests of MCP servers: who asks, and each field with its possible values."""

from collections.abc import Sequence

from tejat.core.approval.confirmation import ElicitationConfirmation
from tejat.core.approval.elicitation import FieldKind, FormField, parse_form_fields
from tejat.core.i18n import _, lazy, translate
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.ui.shared.approval.display_lines import escape_line


def elicitation_heading(elicitation: ElicitationConfirmation) -> str:
    return _("Question from the MCP server {server}:", server=escape_line(elicitation.server_name))


def find_problem(elicitation: ElicitationConfirmation) -> str | None:
    """Return why the request cannot be answered, None if it can be."""
    if elicitation.url is not None:
        if elicitation.url.lower().startswith(("http://", "https://")):
            return None
        return _("Not answered: the URL is not a web page.")
    try:
        parse_form_fields(elicitation.fields or {})
    except ValueError as error:
        return _("Not answered: {reason}.", reason=escape_line(translate(error)))
    return None


def requested_fields_label(fields: Sequence[FormField]) -> str:
    names = ", ".join(escape_line(field.label) for field in fields)
    return _("Requested: {names}", names=names or _("only your consent"))


def field_heading(field: FormField) -> str:
    """Return the label of a field, its type, and what an empty answer means."""
    label, kind = escape_line(field.label), translate(_KIND_LABELS[field.kind])
    if field.default is not None:
        default = escape_line(dump_json(field.default))
        return _("{label} ({kind}, default {default})", label=label, kind=kind, default=default)
    if field.is_required:
        return _("{label} ({kind})", label=label, kind=kind)
    return _("{label} ({kind}, optional)", label=label, kind=kind)


def field_choices(field: FormField) -> list[str]:
    return [escape_line(label) for _, label in field.choices]


def accepts_empty(field: FormField) -> bool:
    return field.default is not None or not field.is_required


def answers_preview(answers: JsonObject) -> str:
    return _("Answers: {answers}", answers=escape_line(dump_json(answers)))


_KIND_LABELS = {
    FieldKind.TEXT: lazy("text"),
    FieldKind.INTEGER: lazy("a whole number"),
    FieldKind.NUMBER: lazy("a number"),
    FieldKind.BOOLEAN: lazy("yes or no"),
    FieldKind.CHOICE: lazy("one of these"),
    FieldKind.CHOICES: lazy("several, separated by commas"),
}
