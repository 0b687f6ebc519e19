"""A text into the person's clipboard: through the terminal itself, and through a program where there is one."""

import asyncio
import base64
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.core.words import say

LONGEST_FOR_TERMINAL = 74_994
"""Bytes that go into one sequence of 100,000 characters; terminals drop what is longer."""
LONGEST = 8 << 20

_SECONDS = 2.0


async def copy_text(text: str, send: Callable[[str], None], *, environment: Mapping[str, str] = os.environ) -> str:
    """Put the text into the clipboard and tell in a word how. `send` writes a sequence to the terminal as it is.

    A terminal does not say whether it obeys, so a program is taken as well where there is one. Raises UsageError where
    there is no way.
    """
    content = text.encode("utf-8", "replace")
    if len(content) > LONGEST:
        raise UsageError(say("This is too long for a clipboard: {size} bytes.", size=f"{len(content):,}"))
    program = await _copied_by_program(content, environment)
    if len(content) <= LONGEST_FOR_TERMINAL and environment.get("TERM", "dumb") != "dumb":
        send(f"\x1b]52;c;{base64.b64encode(content).decode('ascii')}\x07")
        return say("Copied with {program}.", program=program) if program else say("Handed to the terminal to copy.")
    if program is None:
        raise UsageError(
            say("There is no way to the clipboard for this text. Install wl-copy, xclip or xsel, and try again.")
        )
    return say("Copied with {program}.", program=program)


async def _copied_by_program(content: bytes, environment: Mapping[str, str]) -> str | None:
    """The name of the program that took it, None where there is none that did."""
    for needs, name, *options in _PROGRAMS:
        path = shutil.which(name, path=_absolute(environment.get("PATH", "")))
        if path is None or (needs and not environment.get(needs)):
            continue
        if await _fed([path, *options], content, environment):
            return name
    return None


async def _fed(arguments: list[str], content: bytes, environment: Mapping[str, str]) -> bool:
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=asyncio.subprocess.PIPE, stdout=nowhere, stderr=nowhere, env=dict(environment)
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(content), _SECONDS)
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode == 0


def _absolute(path: str) -> str:
    """PATH without the entries that depend on where the program is."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


# What has to be set for a program to reach a screen, the program, its options.
_PROGRAMS = (
    ("WAYLAND_DISPLAY", "wl-copy"),
    ("DISPLAY", "xclip", "-selection", "clipboard"),
    ("DISPLAY", "xsel", "--clipboard", "--input"),
    ("", "pbcopy"),
)
