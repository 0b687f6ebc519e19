"""Piped standard input, read within limits."""

import os
import select
import stat
import sys

from tejat.core.frozen import Frozen
from tejat.core.i18n import _

MAX_BYTES = 8 * 2**20
FIRST_BYTE_SECONDS = 0.5
_IDLE_SECONDS = 30.0


class PipedInput(Frozen):
    """Text from standard input. `note` says what is missing, if anything is."""

    text: str = ""
    note: str = ""


def read_piped_input(*, wait_for_first_byte: float | None = FIRST_BYTE_SECONDS) -> PipedInput:
    """Read the text on standard input, nothing from a terminal. Raises OSError.

    A pipe may be open without a writer. So only `wait_for_first_byte` seconds are waited for the first byte if there is
    a prompt besides.
    """
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return PipedInput()
    if stat.S_ISCHR(mode) and os.isatty(descriptor):
        return PipedInput()
    content = bytearray()
    deadline = wait_for_first_byte
    while len(content) <= MAX_BYTES:
        if not select.select([descriptor], [], [], deadline)[0]:  # files are always ready
            note = _(
                "No more data on standard input for {seconds:.0f} seconds. Continuing with what was read.",
                seconds=_IDLE_SECONDS,
            )
            return PipedInput(_decode(bytes(content)), note if content else "")
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            return PipedInput(_decode(bytes(content)))
        content += piece
        deadline = _IDLE_SECONDS
    note = _("Standard input is longer than {megabytes} MB. The rest is ignored.", megabytes=MAX_BYTES // 2**20)
    return PipedInput(_decode(bytes(content[:MAX_BYTES])), note)


def _decode(content: bytes) -> str:
    """Decode UTF-8, without a character that was cut off at the end; invalid bytes stay visible."""
    for back in range(min(4, len(content))):
        byte = content[len(content) - 1 - back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if back + 1 < length:
                content = content[: len(content) - 1 - back]
            break
        if byte < 0x80:
            break
    return content.decode("utf-8", errors="replace")
