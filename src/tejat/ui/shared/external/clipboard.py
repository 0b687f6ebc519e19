"""Copying to the clipboard, by a terminal sequence and by a program."""

import asyncio
import base64
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.core.i18n import _

MAX_OSC52_BYTES = 74_994
"""Bytes that fit into a sequence of 100,000 characters; terminals drop longer ones."""
MAX_CLIPBOARD_BYTES = 8 << 20

_SECONDS = 2.0


async def copy_text(text: str, send: Callable[[str], None], *, environment: Mapping[str, str] = os.environ) -> str:
    """Copy a text and return a message that says how. `send` writes a raw terminal sequence.

    A terminal does not acknowledge the sequence, so a clipboard program is used as well if there is one. Raises
    UsageError if the text cannot be copied.
    """
    content = text.encode("utf-8", "replace")
    if len(content) > MAX_CLIPBOARD_BYTES:
        raise UsageError(_("Too long for the clipboard: {size} bytes.", size=f"{len(content):,}"))
    program = await _copy_with_program(content, environment)
    if len(content) <= MAX_OSC52_BYTES and environment.get("TERM", "dumb") != "dumb":
        send(f"\x1b]52;c;{base64.b64encode(content).decode('ascii')}\x07")
        return _("Copied with {program}.", program=program) if program else _("Sent to the terminal to copy.")
    if program is None:
        why = _("No clipboard available for this text. Install wl-copy, xclip or xsel, and try again.")
        raise UsageError(why)
    return _("Copied with {program}.", program=program)


async def _copy_with_program(content: bytes, environment: Mapping[str, str]) -> str | None:
    """Return the name of the program that took the text, None if none did."""
    for needs, name, *options in _PROGRAMS:
        path = shutil.which(name, path=_absolute_entries(environment.get("PATH", "")))
        if path is None or (needs and not environment.get(needs)):
            continue
        if await _pipe_to_program([path, *options], content, environment):
            return name
    return None


async def _pipe_to_program(arguments: list[str], content: bytes, environment: Mapping[str, str]) -> bool:
    devnull = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=asyncio.subprocess.PIPE, stdout=devnull, stderr=devnull, env=dict(environment)
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(_SECONDS):
            await process.communicate(content)
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode == 0


def _absolute_entries(path: str) -> str:
    """Return PATH without relative entries."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


# Required environment variable, program, options.
_PROGRAMS = (
    ("WAYLAND_DISPLAY", "wl-copy"),
    ("DISPLAY", "xclip", "-selection", "clipboard"),
    ("DISPLAY", "xsel", "--clipboard", "--input"),
    ("", "pbcopy"),
)
