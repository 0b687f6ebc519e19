"""The terminal that tmux runs in, as tmux reports it."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.workspace.files.regular_file import find_user_program

_SECONDS = 2.0
_FIELDS = (
    *("allow-passthrough", "session_attached", "window_active", "window_zoomed_flag", "pane_active"),
    *("client_termtype", "client_termname"),
)


class TmuxClient(Frozen):
    """The terminal that tmux is attached to.

    `terminal` and `term` are its name and its TERM, empty if unknown. `passes_sequences` says whether a sequence
    that is wrapped for tmux reaches it now.
    """

    passes_sequences: bool
    terminal: str = ""
    term: str = ""


async def read_tmux_client(environment: Mapping[str, str], *, untrusted: Sequence[str] = ()) -> TmuxClient | None:
    """Ask tmux about its client, None if it does not answer. A `tmux` below the `untrusted` directories is not used."""
    program = find_user_program("tmux", untrusted=untrusted)
    if program is None:
        return None
    pane = ("-t", environment["TMUX_PANE"]) if environment.get("TMUX_PANE") else ()
    template = "\t".join(f"#{{{name}}}" for name in _FIELDS)
    answer = await _run([program, "display-message", "-p", *pane, template], environment)
    values = answer.rstrip("\n").split("\t")
    if len(values) != len(_FIELDS):
        return None
    passthrough, attached, window_active, zoomed, pane_active, terminal, term = values
    is_visible = attached not in ("", "0") and window_active == "1" and (zoomed != "1" or pane_active == "1")
    # tmux 3.3 has a switch, later ones also `all`, which includes panes that are not visible.
    passes = passthrough == "all" or (passthrough in ("1", "on") and is_visible)
    return TmuxClient(passes, terminal, term)


async def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the output of a program, empty if it fails."""
    devnull = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=devnull, stdout=asyncio.subprocess.PIPE, stderr=devnull, env=dict(environment)
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_SECONDS):
            written, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return "" if process.returncode else written.decode("utf-8", "replace")
