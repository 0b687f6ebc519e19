"""Opening the page in the user's browser."""

import asyncio
import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress

from tejat.workspace.threads.daemon import run_in_daemon

_SECONDS = 30.0
"""How long the browser may take to start."""


def can_open_browser(environment: Mapping[str, str]) -> bool:
    """Whether a browser would open where the user is: not over SSH, and not without a screen."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return False
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


async def open_browser(link: str, folder: str, *, drop: Callable[[], None]) -> None:
    """Open a link that works once. Raises nothing.

    Everybody can read the arguments of processes, so the browser gets a file that leads to the link. Only the user can
    read it, and the sandbox of commands hides its folder. `drop` is called when the link must not work any more.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix="open-", suffix=".html", dir=folder)
    except OSError:
        drop()
        return
    try:
        os.write(
            descriptor, f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(link)}">'.encode()
        )
        os.close(descriptor)
        await run_in_daemon(lambda: _open(f"file://{path}"))
        await asyncio.sleep(_SECONDS)
    finally:
        drop()
        with suppress(OSError):
            os.unlink(path)


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
