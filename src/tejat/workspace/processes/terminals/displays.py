"""Terminals of the editor that show the output of commands while they run.

Commands are started by the supervisor as always. A terminal runs the program in `viewer.py`, which prints what the
display sends to its socket.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import cast

from tejat.core.agent.editor import EditorTerminal, EditorTerminals, TerminalCommand
from tejat.core.agent.subagents import current_agent
from tejat.core.i18n import _
from tejat.workspace.files.session_directory import make_session_directory, remove_session_directory
from tejat.workspace.processes.terminals import viewer
from tejat.workspace.text.terminal_text import TerminalOutputFilter

_START_SECONDS = 2.0
"""How long a command that has ended waits for its terminal to start."""
_PRINT_SECONDS = 2.0
"""How long it waits for a terminal that prints slowly."""
_EXIT_SECONDS = 1.0
_MAX_MISSES = 3
_MAX_PENDING = 1 << 20
_KEPT_PENDING = 1 << 18
_MAX_OUTPUT_BYTES = 1 << 20
_MAX_EXIT_CODE = 255


class TerminalDisplays:
    """The displays of a session.

    Once the editor has failed to show one, there are no more, and `warn` gets a message. A terminal that takes too long
    is let go; three of them in a row are a failure too.
    """

    def __init__(self, editor: EditorTerminals, warn: Callable[[str], None]) -> None:
        self._editor = editor
        self._warn = warn
        self._directory: str | None = None
        self._numbers = count(1)
        self._misses = 0
        self._is_usable = True
        self._open: set[TerminalDisplay] = set()

    def open(self, *, call_id: str, directory: str, on_stop: Callable[[], None]) -> "TerminalDisplay | None":
        """Open a display for a command that was just started in this directory, None if the editor has none.

        `on_stop` is called if the user stops the terminal, or the editor does, before the command has ended.
        """
        if not self._is_usable:
            return None
        try:
            path = os.path.join(self._socket_directory(), str(next(self._numbers)))
        except OSError as error:
            self._fail(str(error))
            return None
        display = TerminalDisplay(path, on_stop)
        display.start(self._editor, call_id=call_id, directory=directory)
        self._open.add(display)
        return display

    async def finish(self, display: "TerminalDisplay", exit_code: int) -> None:
        """Show the rest of the output and the end of the command, then close the display. Takes 5 seconds at most."""
        try:
            if display.is_settled or not self._editor.are_optional:
                self._misses = 0 if await display.finish(exit_code) else self._misses + 1
        finally:
            self.close(display)
        if display.failure or self._misses >= _MAX_MISSES:
            self._fail(display.failure or _("they take too long"))

    def close(self, display: "TerminalDisplay") -> None:
        """Free the terminal. It may be called again."""
        display.close()
        self._open.discard(display)

    def close_all(self) -> None:
        """Close all displays at the end of the session."""
        for display in tuple(self._open):
            self.close(display)
        if self._directory is not None:
            remove_session_directory(self._directory)
            self._directory = None

    def _socket_directory(self) -> str:
        if self._directory is None or not os.path.isdir(self._directory):
            self._directory = make_session_directory()
        return self._directory

    def _fail(self, reason: str) -> None:
        if self._is_usable:
            self._is_usable = False
            self._warn(
                _(
                    "The output of commands is shown as text from now on, not in terminals of your editor: {reason}.",
                    reason=reason.rstrip("."),
                )
            )


class TerminalDisplay:
    """One command's output in a terminal. The command never waits for it: what it cannot print in time is left out."""

    def __init__(self, path: str, on_stop: Callable[[], None]) -> None:
        self.failure = ""
        """Why the editor cannot show it, empty as long as nothing is known."""
        self._path = path
        self._on_stop = on_stop
        self._server: asyncio.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._terminal: EditorTerminal | None = None
        self._viewer: asyncio.WriteTransport | None = None
        self._settled = asyncio.Event()
        self._has_left = asyncio.Event()  # the program has printed everything
        self._has_ended = asyncio.Event()  # the editor knows the exit code
        self._is_paused = False
        self._is_ended = False
        self._pending = bytearray()
        self._omitted = 0
        self._filter = TerminalOutputFilter()
        self._exit_code: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the program in the terminal has started, or it is known that it does not."""
        return self._settled.is_set()

    def start(self, editor: EditorTerminals, *, call_id: str, directory: str) -> None:
        """Open the terminal in the background."""
        arguments = (sys.executable, "-I", "-S", viewer.__file__, self._path)
        command = TerminalCommand(arguments, directory, _MAX_OUTPUT_BYTES)
        self._task = asyncio.create_task(self._follow(editor, command, call_id))

    def write(self, data: bytes) -> None:
        """Show output as soon as possible."""
        self._pending += data
        if len(self._pending) > _MAX_PENDING:
            omitted = len(self._pending) - _KEPT_PENDING
            self._omitted += omitted
            del self._pending[:omitted]
        self._flush()

    async def finish(self, exit_code: int) -> bool:
        """Show the rest and the exit code. Return whether that is done, after a short wait."""
        self._exit_code = min(exit_code, _MAX_EXIT_CODE)
        self._flush()
        return (
            await _occurs(self._settled, _START_SECONDS)
            and await _occurs(self._has_left, _PRINT_SECONDS)
            and await _occurs(self._has_ended, _EXIT_SECONDS)
        )

    def close(self) -> None:
        """Free the terminal and the socket. It may be called again."""
        self._exit_code = self._exit_code or 0
        if self._server is not None:
            self._server.close()
            self._server = None
            with suppress(OSError):
                os.unlink(self._path)
        if self._viewer is not None:
            self._viewer.abort()
        if self._task is not None:
            self._task.cancel()
        if self._terminal is not None:
            self._terminal.release()

    async def _follow(self, editor: EditorTerminals, command: TerminalCommand, call_id: str) -> None:
        """Open the terminal and wait for its end. Without the program in it, that is a failure."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_unix_server(
                lambda: _ViewerConnection(self), self._path, backlog=1, start_serving=False
            )
            await self._server.start_serving()
            self._terminal = await editor.start(command, call_id=call_id, agent=current_agent())
            if self._viewer is not None:
                self._terminal.show()
            code = await self._terminal.wait()
            ending = _("killed") if code is None else _("exit code {code}", code=code)
            reason = _("the program that prints the output ended at once ({ending})", ending=ending)
        except OSError as error:
            reason = str(error)
        self._has_ended.set()
        if self._viewer is None:
            self.failure = reason
            self._settled.set()
            self._has_left.set()

    def connect(self, transport: asyncio.WriteTransport) -> bool:
        """Take the connection of the program in the terminal. There is only one."""
        if self._server is None or self._viewer is not None or self.failure:
            return False
        self._viewer = transport
        self._settled.set()
        if self._terminal is not None:
            self._terminal.show()
        self._flush()
        return True

    def disconnect(self) -> None:
        """Note that the program in the terminal has ended."""
        self._has_left.set()
        if self._exit_code is None:
            self._on_stop()

    def pause(self, *, is_paused: bool) -> None:
        """Note whether the connection accepts no more for now."""
        self._is_paused = is_paused
        self._flush()

    def _flush(self) -> None:
        if self._viewer is None or self._is_paused or self._viewer.is_closing():
            return
        if self._omitted:
            note = _("[{count} bytes of output are not shown here]", count=self._omitted)
            self._send(self._filter.finish() + f"\n{note}\n".encode())
            self._omitted = 0
        if self._pending:
            self._send(self._filter.feed(bytes(self._pending)))
            self._pending.clear()
        if self._exit_code is not None and not self._is_paused and not self._is_ended:
            self._is_ended = True
            self._send(self._filter.finish())
            self._viewer.write(bytes(viewer.LENGTH_BYTES) + bytes([self._exit_code]))

    def _send(self, data: bytes) -> None:
        if self._viewer is not None and data:
            self._viewer.write(len(data).to_bytes(viewer.LENGTH_BYTES, "big") + data)


class _ViewerConnection(asyncio.Protocol):
    """Connection of the program in a terminal. Nothing is read from it."""

    def __init__(self, display: TerminalDisplay) -> None:
        self._display = display
        self._is_taken = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast("asyncio.WriteTransport", transport)
        self._is_taken = self._display.connect(connection)
        if not self._is_taken:
            connection.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_taken:
            self._display.disconnect()

    def pause_writing(self) -> None:
        self._display.pause(is_paused=True)

    def resume_writing(self) -> None:
        self._display.pause(is_paused=False)


async def _occurs(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event. False if it does not occur in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
