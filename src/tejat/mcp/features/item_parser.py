"""Parsing of listed tools, prompts and resources.

Texts are truncated and unsanitized: whoever shows them sanitizes them.
"""

from collections.abc import Mapping

from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.mcp.types import PromptArgument, ServerPrompt, ServerResource, ServerTool, ToolAnnotations

_MAX_NAME_LENGTH = 1_024
_MAX_URI_LENGTH = 8_192
_MAX_TITLE_LENGTH = 1_024
_MAX_DESCRIPTION_LENGTH = 20_000
_MAX_ARGUMENTS = 100
_MAX_MENTION_LENGTH = 80


class InvalidItem(ValueError):
    """An item cannot be used. The message says which and why, and is sanitized."""


def parse_tool(given: JsonValue) -> ServerTool:
    """Raises InvalidItem."""
    item, name = _require_item(given, "name", lazy("A tool"), lazy("name"), _MAX_NAME_LENGTH)
    marks = _object(item.get("annotations")) or {}
    return ServerTool(
        name=name,
        description=_description(item.get("description")),
        title=_title(item.get("title")),
        input_schema=_object(item.get("inputSchema")),
        output_schema=_object(item.get("outputSchema")),
        annotations=ToolAnnotations(
            title=_title(marks.get("title")),
            read_only=_boolean(marks.get("readOnlyHint")),
            destructive=_boolean(marks.get("destructiveHint")),
            idempotent=_boolean(marks.get("idempotentHint")),
            open_world=_boolean(marks.get("openWorldHint")),
        ),
    )


def parse_prompt(given: JsonValue) -> ServerPrompt:
    """Raises InvalidItem, also for an invalid argument, without which the prompt could not be used."""
    item, name = _require_item(given, "name", lazy("A prompt"), lazy("name"), _MAX_NAME_LENGTH)
    arguments = item.get("arguments")
    if arguments is None:
        arguments = []
    if not isinstance(arguments, list | tuple) or len(arguments) > _MAX_ARGUMENTS:
        message = lazy(
            "Skipped prompt {name}: its arguments are not a list, or there are too many.", name=quote_name(name)
        )
        raise InvalidItem(message)
    return ServerPrompt(
        name=name,
        description=_description(item.get("description")),
        title=_title(item.get("title")),
        arguments=tuple(_parse_argument(each, name) for each in arguments),
    )


def parse_resource(given: JsonValue) -> ServerResource:
    """Raises InvalidItem."""
    item, uri = _require_item(given, "uri", lazy("A resource"), lazy("URI"), _MAX_URI_LENGTH)
    kind = item.get("mimeType")
    return ServerResource(
        uri=uri,
        name=_title(item.get("name")) or "",
        description=_description(item.get("description")),
        title=_title(item.get("title")),
        mime_type=kind[:_MAX_TITLE_LENGTH] if isinstance(kind, str) else None,
    )


def quote_name(text: str) -> str:
    """Quote a name for a message."""
    shown = sanitize_text(text)
    return f"'{shown}'" if len(shown) <= _MAX_MENTION_LENGTH else f"'{shown[: _MAX_MENTION_LENGTH - 1]}…'"


def _parse_argument(given: JsonValue, prompt: str) -> PromptArgument:
    what = lazy("Skipped prompt {prompt}: an argument", prompt=quote_name(prompt))
    if not isinstance(given, Mapping):
        raise InvalidItem(lazy("{what} is not an object.", what=what))
    name = given.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _MAX_NAME_LENGTH:
        raise InvalidItem(lazy("{what} has no valid name.", what=what))
    return PromptArgument(name, _description(given.get("description")), is_required=given.get("required") is True)


def _require_item(given: JsonValue, key: str, what: str, called: str, longest: int) -> tuple[JsonObject, str]:
    """Return the item and its name in the field `key`."""
    if not isinstance(given, Mapping):
        raise InvalidItem(lazy("{what} was skipped: not an object.", what=what))
    name = given.get(key)
    # Names are never truncated: the result would be another name.
    if not isinstance(name, str) or not name.strip():
        raise InvalidItem(lazy("{what} was skipped: no {called}.", what=what, called=called))
    if len(name) > longest:
        message = lazy(
            "{what} was skipped: its {called} is longer than {longest:,} characters ({given}).",
            what=what,
            called=called,
            longest=longest,
            given=quote_name(name),
        )
        raise InvalidItem(message)
    return given, name


def _description(given: JsonValue) -> str:
    if not isinstance(given, str):
        return ""
    return given if len(given) <= _MAX_DESCRIPTION_LENGTH else f"{given[:_MAX_DESCRIPTION_LENGTH]}…"


def _title(given: JsonValue) -> str | None:
    return given[:_MAX_TITLE_LENGTH] if isinstance(given, str) and given else None


def _object(given: JsonValue) -> JsonObject | None:
    return given if isinstance(given, Mapping) else None


def _boolean(given: JsonValue) -> bool | None:
    return given if isinstance(given, bool) else None
