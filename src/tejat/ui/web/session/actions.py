"""Requests of the page about one live session."""

from collections.abc import Awaitable, Callable, Mapping

from tejat.core.i18n import _, translate
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.core.ui.commands import CompletionItem
from tejat.engine.prompt.attachments import InvalidAttachment
from tejat.ui.terminal.editor.completer import Completer
from tejat.ui.web.http.access import parse_query
from tejat.ui.web.http.body import read_file, read_json
from tejat.ui.web.session.feed import SessionFeed
from tejat.ui.web.session.questions import InvalidReply
from tejat.workspace.http.server import HttpError, ServerRequest

PAGE_BLOCKS = 150
"""Blocks that a page shows first, and loads at a time."""

_MAX_SUGGESTIONS = 50
_MAX_CLIENT_CHARS = 64

ActionHandler = Callable[[SessionFeed, ServerRequest], Awaitable[JsonValue]]


async def get_snapshot(feed: SessionFeed, _request: ServerRequest) -> JsonValue:
    """The latest blocks and the state."""
    return feed.snapshot(PAGE_BLOCKS)


async def get_blocks(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Blocks before those that the page has."""
    before = parse_query(request.target).get("before", "")
    if not before.isdecimal() or len(before) > len("1" * 12):
        raise HttpError(400, "The number of a block is missing.")
    blocks, earlier = feed.state.latest_blocks(PAGE_BLOCKS, before=int(before))
    return {"blocks": [block.to_json() for block in blocks], "earlier": earlier}


async def get_completions(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Completions of the text before the caret."""
    typed = parse_query(request.target).get("text", "")
    session = feed.session
    complete = Completer(session.commands, session.files, lambda: session.agents)
    found: list[CompletionItem] = []
    async for items in complete(typed, len(typed)):
        found = list(items)
        if found:
            break  # the index of files may still grow, which the next key shows
    return [_completion_to_json(item) for item in found[:_MAX_SUGGESTIONS]]


async def post_prompt(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Run a line: a prompt, a command or a shell line."""
    fields = await read_json(request)
    text, client = fields.string("text"), _client(fields)
    if not text.strip():
        raise HttpError(400, _("The prompt is empty."))
    if fields.value("steer") is True:
        feed.steer(text, client)
    else:
        feed.submit(text, client)
    return {"accepted": True}


async def post_interrupt(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Stop what runs."""
    await read_json(request)
    return {"stopped": feed.interrupt()}


async def post_take_back(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Take the newest line out of the queue."""
    await read_json(request)
    return {"text": feed.take_back()}


async def post_answer(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Answer a question of the session."""
    fields = await read_json(request)
    try:
        return {"accepted": feed.answer_question(fields.string("question"), fields, _client(fields))}
    except InvalidReply as error:
        raise HttpError(422, str(error)) from None


async def post_dialog(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Answer a dialog of a command."""
    fields = await read_json(request)
    return {"accepted": feed.answer_dialog(fields.string("dialog"), fields.value("value"))}


async def post_mode(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Switch the approval mode."""
    fields = await read_json(request)
    feed.switch_mode(_client(fields), yolo=fields.value("yolo") is True)
    return {"accepted": True}


async def post_attachment(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Add a file for the next prompt."""
    name = parse_query(request.target).get("name", "")
    data = await read_file(request)
    try:
        label = feed.files.add(name, data)
    except InvalidAttachment as error:
        raise HttpError(422, f"{sanitize_summary(name)}: {translate(error)}") from None
    return {"label": label, "size": len(data)}


async def post_detachment(feed: SessionFeed, request: ServerRequest) -> JsonValue:
    """Remove a file again."""
    fields = await read_json(request)
    feed.files.remove(fields.string("label"))
    return {"accepted": True}


ACTIONS: Mapping[tuple[str, str], ActionHandler] = {
    ("GET", ""): get_snapshot,
    ("GET", "blocks"): get_blocks,
    ("GET", "completions"): get_completions,
    ("POST", "prompt"): post_prompt,
    ("POST", "interrupt"): post_interrupt,
    ("POST", "take-back"): post_take_back,
    ("POST", "answer"): post_answer,
    ("POST", "dialog"): post_dialog,
    ("POST", "mode"): post_mode,
    ("POST", "attachments"): post_attachment,
    ("POST", "detachments"): post_detachment,
}
"""What can be done with a session, by method and the end of the address."""


def _client(fields: JsonFields) -> str:
    return (fields.string_or_none("client") or "")[:_MAX_CLIENT_CHARS]


def _completion_to_json(item: CompletionItem) -> JsonObject:
    return {
        "text": item.text,
        "replace": item.replace_length,
        "label": sanitize_summary(item.label or item.text),
        "detail": sanitize_summary(item.detail),
    }
