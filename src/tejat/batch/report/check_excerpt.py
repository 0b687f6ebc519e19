"""The end of what a check printed."""

import os
from contextlib import suppress

from tejat.core.text.secret_mask import mask_tokens

MAX_LINES = 40
_MAX_BYTES = 64 * 1024
_MAX_CHARS = 4_000
_MAX_LINE_CHARS = 300


def read_excerpt(path: str) -> str:
    """The last lines of the output of a check, without tokens of well-known shapes; empty if there is none."""
    content = b""
    with suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - _MAX_BYTES, 0))
                content = file.read(_MAX_BYTES)
    lines = mask_tokens(content.decode("utf-8", "replace")).rstrip().splitlines()[-MAX_LINES:]
    kept = [line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…" for line in lines]
    while len(kept) > 1 and sum(map(len, kept)) > _MAX_CHARS:
        kept.pop(0)
    return "\n".join(kept)
