"""Text form of a command's output: decoded, as a terminal would show it, shortened in the middle."""

import codecs
import re

from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.truncation_notice import format_truncated
from tejat.workspace.text.encoding import detect_encoding
from tejat.workspace.text.terminal_text import render_terminal_text

HEAD_BYTES = 8_000
TAIL_BYTES = 32_000
"""A stream that is longer than both together is shortened to these."""

_LINE_END_FRACTION = 8  # a line end within the last eighth of a part is near
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTINUATION = bytes(range(0x80, 0xC0))


def format_output(output: BoundedBuffer, path: str | None) -> str:
    """Return the text of one stream. `path` is the file with the complete output, None if there is none."""
    if output.total == 0:
        return ""
    if output.is_complete:
        text = _decode(output.head_bytes + output.tail_bytes, is_binary=output.is_binary)
        return f"[Binary output: {format_size(output.total)}]" if text is None else render_terminal_text(text)
    kept_at = path if output.spool_error is None else None
    if output.is_binary:
        where = "" if kept_at is None else f", kept in {kept_at}"
        return f"[Binary output: {format_size(output.total)}{where}]"
    is_short = kept_at is not None and not output.is_spool_complete
    head, tail = _trim_head(output.head_bytes), _trim_tail(output.tail_bytes)
    codec = _detect_codec(head)
    return format_truncated(
        render_terminal_text(head.decode(codec, "replace")),
        render_terminal_text(tail.decode(codec, "replace")),
        head_size=len(head),
        tail_size=len(tail),
        total=output.total,
        unit="bytes",
        path=kept_at,
        note=f"The file holds only the first {format_size(output.spooled)}." if is_short else "",
    )


def format_size(size: int) -> str:
    """Format a number of bytes for display."""
    if size < 1 << 10:
        return f"{size} B"
    if size < 1 << 20:
        return f"{size / (1 << 10):.1f} KB"
    if size < 1 << 30:
        return f"{size / (1 << 20):.1f} MB"
    return f"{size / (1 << 30):.2f} GB"


def _decode(raw: bytes, *, is_binary: bool) -> str | None:
    """Decode the bytes, None if they are not text. An incomplete last character does not change the encoding."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    if not is_binary:
        try:
            text = decoder.decode(raw)
        except UnicodeDecodeError:
            pass
        else:
            return f"{text}\ufffd" if decoder.getstate()[0] else text
    encoding = detect_encoding(raw, whole=True)
    return None if encoding is None else _SURROGATE.sub("\ufffd", encoding.decode(raw))


def _trim_head(raw: bytes) -> bytes:
    """Cut at the end of a line if one is near, else of a character."""
    end = raw.rfind(b"\n", len(raw) - len(raw) // _LINE_END_FRACTION) + 1
    if end:
        return raw[:end]
    for size in range(1, min(4, len(raw) + 1)):
        first = raw[-size]
        if not 0x80 <= first < 0xC0:
            return raw[:-size] if first >= (0xC0, 0xE0, 0xF0)[size - 1] else raw
    return raw


def _trim_tail(raw: bytes) -> bytes:
    start = raw.find(b"\n", 0, len(raw) // _LINE_END_FRACTION) + 1
    return raw[start:] if start else raw[:3].lstrip(_CONTINUATION) + raw[3:]


def _detect_codec(head: bytes) -> str:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError:
        encoding = detect_encoding(head, whole=False)
        return "utf-8" if encoding is None else encoding.codec
    return "utf-8"
