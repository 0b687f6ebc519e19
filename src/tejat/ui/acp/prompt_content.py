"""Content blocks of a prompt, as the session takes them."""

import os
import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from tejat.core.frozen import Frozen
from tejat.core.i18n import translate
from tejat.core.messages.prompt import Attachment
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.text.mentions import format_mention
from tejat.engine.prompt.attachments import (
    MAX_ATTACHED_BYTES,
    InvalidAttachment,
    attach_audio,
    attach_file,
    attach_image,
)
from tejat.ui.acp.params import invalid_params
from tejat.ui.jsonrpc.peer import RequestError

MAX_BLOCKS = 10_000

_PUNCTUATION = ",.;:!?)"
_LINES = r"L(\d{1,9})(?:[-:]L?(\d{1,9}))?"


def parse_prompt(blocks: JsonValue, *, folder: str = "") -> str | tuple[str | Attachment, ...]:
    """Read the blocks of a prompt in their order. Raises RequestError.

    Text alone is what the user typed. A link to a file is a mention of it, so its content is read as for any other
    mention. Paths below `folder` are relative to it.
    """
    if not isinstance(blocks, list) or not blocks:
        raise invalid_params("prompt must be a list of content blocks.")
    if len(blocks) > MAX_BLOCKS:
        raise invalid_params(f"prompt has more than {MAX_BLOCKS} blocks.")
    builder = _PromptBuilder(folder)
    for number, block in enumerate(blocks):
        try:
            builder.add_block(block)
        except (_WrongBlock, InvalidAttachment) as error:
            raise _refusal(number, error) from None
    return builder.build()


class _WrongBlock(ValueError):
    """A block that the protocol does not have. The message says why, in a sentence."""


def _refusal(number: int, error: ValueError) -> RequestError:
    return invalid_params(f"prompt[{number}]: {translate(error)}")


class _PromptBuilder:
    """The pieces of a prompt: texts of the user, and attachments between them."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pieces: list[str | Attachment] = []
        self._media_bytes = 0
        self._ends_with_mention = False

    def build(self) -> str | tuple[str | Attachment, ...]:
        """All pieces; a text if there is nothing else."""
        match self._pieces:
            case [str(text)]:
                return text
            case pieces:
                return tuple(pieces)

    def add_block(self, block: JsonValue) -> None:
        """Raises _WrongBlock and InvalidAttachment."""
        match block:
            case {"type": "text", "text": str(text)}:
                self._add_text(text)
            case {"type": "image", "data": str(data), "mimeType": str()}:
                self._add_media(attach_image(data))
            case {"type": "audio", "data": str(data), "mimeType": str(declared)}:
                self._add_media(attach_audio(data, declared))
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
                self._attach_text(_parse_uri(uri), text)
            case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob)}}:
                self._add_blob(_parse_uri(uri), blob)
            case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
                self._add_link(_parse_uri(uri), name, cast("JsonObject", block))
            case {"type": str(kind)} if kind in _MEMBERS:
                raise _WrongBlock(f"A block of the type {kind} needs {_MEMBERS[kind]}.")
            case Mapping():
                kinds = ", ".join(_MEMBERS)
                raise _WrongBlock(f"Unknown type of content: {block.get('type')!r}. Known types: {kinds}.")
            case _:
                raise _WrongBlock("A content block must be an object.")

    def _add_text(self, text: str) -> None:
        """Add to the text before it; neighbouring blocks without a blank between them are different lines."""
        last = self._pieces[-1] if self._pieces else None
        if not isinstance(last, str):
            self._pieces.append(text)
            self._ends_with_mention = False
            return
        is_glued = last and text and not last[-1].isspace() and not text[0].isspace()
        separator = "\n" if is_glued else ""
        if is_glued and self._ends_with_mention:
            separator = "" if text[0] in _PUNCTUATION else " "
        self._pieces[-1] = f"{last}{separator}{text}"
        self._ends_with_mention = False

    def _add_mention(self, mention: str) -> None:
        """Add a mention to the text before it, apart from other words."""
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, str):
            self._pieces[-1] = f"{last}{mention}" if not last or last[-1].isspace() else f"{last} {mention}"
        else:
            self._pieces.append(mention)
        self._ends_with_mention = True

    def _attach(self, label: str, *parts: Part) -> None:
        self._pieces.append(Attachment(label, parts))

    def _add_media(self, media: InlineData) -> None:
        self._count(media)
        self._attach(media.label, media)

    def _attach_text(self, uri: "_Uri", text: str) -> None:
        label = uri.label(self._folder)
        self._attach(label, Text(f"\n--- Content of {label} ---\n{text}\n--- End of {label} ---\n"))

    def _add_blob(self, uri: "_Uri", blob: str) -> None:
        found = attach_file(uri.path or uri.text, blob)
        if isinstance(found, str):
            self._attach_text(uri, found)
            return
        self._count(found)
        label = uri.label(self._folder)
        self._attach(label, Text(f"\n--- Content of {label} ---\n"), found)

    def _add_link(self, uri: "_Uri", name: str, block: JsonObject) -> None:
        if uri.is_mentionable:
            self._add_mention(uri.mention(self._folder))
            return
        title, description = (_text(block, member) for member in ("title", "description"))
        words = ", ".join(filter(None, (title or name, description)))
        text = f"[Link: {words} ({uri.text})]"
        self._attach(text, Text(text))

    def _count(self, media: InlineData) -> None:
        self._media_bytes += len(media.data)
        if self._media_bytes > MAX_ATTACHED_BYTES:
            raise _WrongBlock(f"The media of the prompt have more than {MAX_ATTACHED_BYTES // 2**20} MB together.")


_MEMBERS = {
    "text": "text",
    "image": "data and mimeType",
    "audio": "data and mimeType",
    "resource": "a resource with uri, and text or blob",
    "resource_link": "uri and name",
}
"""The types of blocks and the members that they need."""


class _Uri(Frozen):
    """The URI of a resource. `path` is that of a file, empty for others; `lines` are the lines of it that are meant."""

    text: str
    path: str = ""
    lines: str = ""

    @property
    def is_mentionable(self) -> bool:
        """Whether the file can be written as a mention: names with control characters cannot."""
        return bool(self.path) and not re.search(r"[\x00-\x1f\x7f]", self.path)

    def label(self, folder: str) -> str:
        """The mention of a file, or the URI, in one line."""
        return self.mention(folder) if self.is_mentionable else " ".join(self.text.split())

    def mention(self, folder: str) -> str:
        prefix = f"{folder.rstrip('/')}/"
        path = self.path.removeprefix(prefix) if folder else self.path
        return f"{format_mention(path or self.path)}{self.lines}"


def _parse_uri(uri: str) -> _Uri:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return _Uri(uri)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        return _Uri(uri)
    path = os.fsdecode(unquote_to_bytes(parts.path))
    if not os.path.isabs(path) or "\0" in path:
        return _Uri(uri)
    return _Uri(uri, os.path.normpath(path), _line_range(parts))


def _line_range(parts: SplitResult) -> str:
    found = re.fullmatch(_LINES, parts.fragment)
    if found is None:
        return ""
    return f" (line {found[1]})" if found[2] in (None, found[1]) else f" (lines {found[1]}-{found[2]})"


def _text(block: JsonObject, member: str) -> str:
    value = block.get(member)
    return " ".join(value.split()) if isinstance(value, str) else ""
