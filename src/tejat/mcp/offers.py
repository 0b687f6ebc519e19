"""What a server lists, item by item, as values.

Texts are as the server wrote them, only not longer than anybody would read; whoever shows them cleans them.
"""

from collections.abc import Mapping

from tejat.core.types import JsonObject, JsonValue
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.values import Annotations, PromptArgument, ServerPrompt, ServerResource, ServerTool

_LONGEST_NAME = 1_024
_LONGEST_URI = 8_192
_LONGEST_TITLE = 1_024
_LONGEST_DESCRIPTION = 20_000
_MOST_ARGUMENTS = 100
_LONGEST_MENTION = 80


class Unfit(ValueError):
    """An item cannot be taken. The message says which and why, and is fit to be shown."""


def read_tool(given: JsonValue) -> ServerTool:
    """Raises Unfit."""
    item = _item(given, phrase("A tool"))
    name = _identity(item.get("name"), phrase("A tool"), phrase("name"), _LONGEST_NAME)
    marks = _object(item.get("annotations")) or {}
    return ServerTool(
        name=name,
        description=_text(item.get("description")),
        title=_title(item.get("title")),
        input_schema=_object(item.get("inputSchema")),
        output_schema=_object(item.get("outputSchema")),
        annotations=Annotations(
            title=_title(marks.get("title")),
            read_only=_switch(marks.get("readOnlyHint")),
            destructive=_switch(marks.get("destructiveHint")),
            idempotent=_switch(marks.get("idempotentHint")),
            open_world=_switch(marks.get("openWorldHint")),
        ),
    )


def read_prompt(given: JsonValue) -> ServerPrompt:
    """Raises Unfit: also for an argument that is none, as nobody could fill the prompt in then."""
    item = _item(given, phrase("A prompt"))
    name = _identity(item.get("name"), phrase("A prompt"), phrase("name"), _LONGEST_NAME)
    arguments = item.get("arguments")
    if arguments is None:
        arguments = []
    if not isinstance(arguments, list | tuple) or len(arguments) > _MOST_ARGUMENTS:
        raise Unfit(
            phrase("The prompt {name} was left out: its arguments are no list, or too many.", name=mention(name))
        )
    return ServerPrompt(
        name=name,
        description=_text(item.get("description")),
        title=_title(item.get("title")),
        arguments=tuple(_argument(each, name) for each in arguments),
    )


def read_resource(given: JsonValue) -> ServerResource:
    """Raises Unfit."""
    item = _item(given, phrase("A resource"))
    uri = _identity(item.get("uri"), phrase("A resource"), phrase("address"), _LONGEST_URI)
    kind = item.get("mimeType")
    return ServerResource(
        uri=uri,
        name=_title(item.get("name")) or "",
        description=_text(item.get("description")),
        title=_title(item.get("title")),
        mime_type=kind[:_LONGEST_TITLE] if isinstance(kind, str) else None,
    )


def mention(text: str) -> str:
    """A name in a sentence about it."""
    shown = visible(text)
    return f"'{shown}'" if len(shown) <= _LONGEST_MENTION else f"'{shown[: _LONGEST_MENTION - 1]}…'"


def _argument(given: JsonValue, prompt: str) -> PromptArgument:
    what = phrase("The prompt {prompt} was left out: an argument of it", prompt=mention(prompt))
    if not isinstance(given, Mapping):
        raise Unfit(phrase("{what} is no object.", what=what))
    name = given.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise Unfit(phrase("{what} has no name that can be used.", what=what))
    return PromptArgument(name, _text(given.get("description")), is_required=given.get("required") is True)


def _item(given: JsonValue, what: str) -> JsonObject:
    if not isinstance(given, Mapping):
        raise Unfit(phrase("{what} was left out: it is no object.", what=what))
    return given


def _identity(given: JsonValue, what: str, called: str, longest: int) -> str:
    # What something is called is never cut: it would be the name of something else.
    if not isinstance(given, str) or not given.strip():
        raise Unfit(phrase("{what} was left out: it has no {called}.", what=what, called=called))
    if len(given) > longest:
        raise Unfit(
            phrase(
                "{what} was left out: its {called} is longer than {longest:,} characters ({given}).",
                what=what,
                called=called,
                longest=longest,
                given=mention(given),
            )
        )
    return given


def _text(given: JsonValue) -> str:
    if not isinstance(given, str):
        return ""
    return given if len(given) <= _LONGEST_DESCRIPTION else f"{given[:_LONGEST_DESCRIPTION]}…"


def _title(given: JsonValue) -> str | None:
    return given[:_LONGEST_TITLE] if isinstance(given, str) and given else None


def _object(given: JsonValue) -> JsonObject | None:
    return given if isinstance(given, Mapping) else None


def _switch(given: JsonValue) -> bool | None:
    return given if isinstance(given, bool) else None
