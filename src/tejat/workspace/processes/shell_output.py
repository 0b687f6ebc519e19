"""How the output of a command is told: decoded, as a terminal would show it, its two ends where it is long."""

import codecs
import re

from tejat.workspace.encoding import detect
from tejat.workspace.processes.bounded import Bounded
from tejat.workspace.processes.kept_text import shortened_parts
from tejat.workspace.terminal_text import as_shown

HEAD_BYTES = 8_000
TAIL_BYTES = 32_000
"""What is told of one stream that is longer than both together."""

_NEAR = 8  # an end of a line is near when it is within an eighth of the part
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_CONTINUATION = bytes(range(0x80, 0xC0))


def told(output: Bounded, path: str | None) -> str:
    """The text of one stream, "" when it is empty. `path` is where the whole is kept, None where it is not."""
    if output.total == 0:
        return ""
    if output.is_whole:
        text = _decoded(output.head_bytes + output.tail_bytes, is_binary=output.is_binary)
        return f"[Binary output: {in_words(output.total)}]" if text is None else as_shown(text)
    kept_at = path if output.spool_error is None else None
    if output.is_binary:
        where = "" if kept_at is None else f", kept in {kept_at}"
        return f"[Binary output: {in_words(output.total)}{where}]"
    is_short = kept_at is not None and not output.is_spool_whole
    head, tail = _head(output.head_bytes), _tail(output.tail_bytes)
    codec = _codec_of(head)
    return shortened_parts(
        as_shown(head.decode(codec, "replace")),
        as_shown(tail.decode(codec, "replace")),
        head_size=len(head),
        tail_size=len(tail),
        total=output.total,
        unit="bytes",
        path=kept_at,
        note=f"The file holds only the first {in_words(output.spooled)}." if is_short else "",
    )


def in_words(size: int) -> str:
    """A number of bytes as people read it."""
    if size < 1 << 10:
        return f"{size} B"
    if size < 1 << 20:
        return f"{size / (1 << 10):.1f} KB"
    if size < 1 << 30:
        return f"{size / (1 << 20):.1f} MB"
    return f"{size / (1 << 30):.2f} GB"


def _decoded(raw: bytes, *, is_binary: bool) -> str | None:
    """The text; None where the bytes are none. A character that the end cuts off does not make it another encoding."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    if not is_binary:
        try:
            text = decoder.decode(raw)
        except UnicodeDecodeError:
            pass
        else:
            return f"{text}\ufffd" if decoder.getstate()[0] else text
    encoding = detect(raw, whole=True)
    return None if encoding is None else _HALF_CHARACTER.sub("\ufffd", encoding.decode(raw))


def _head(raw: bytes) -> bytes:
    """Up to the end of a line if one is near, else of a character."""
    end = raw.rfind(b"\n", len(raw) - len(raw) // _NEAR) + 1
    if end:
        return raw[:end]
    for size in range(1, min(4, len(raw) + 1)):
        first = raw[-size]
        if not 0x80 <= first < 0xC0:
            return raw[:-size] if first >= (0xC0, 0xE0, 0xF0)[size - 1] else raw
    return raw


def _tail(raw: bytes) -> bytes:
    start = raw.find(b"\n", 0, len(raw) // _NEAR) + 1
    return raw[start:] if start else raw[:3].lstrip(_CONTINUATION) + raw[3:]


def _codec_of(head: bytes) -> str:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError:
        encoding = detect(head, whole=False)
        return "utf-8" if encoding is None else encoding.codec
    return "utf-8"
