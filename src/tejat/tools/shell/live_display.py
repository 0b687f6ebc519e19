"""Live output of a command: as text for all front ends, and in a terminal of the editor."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.i18n import translate
from tejat.core.tools.base import ToolResult, ignore
from tejat.workspace.processes.live_output import LiveOutput
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.supervisor_client import RunningProcess

if TYPE_CHECKING:
    from tejat.workspace.processes.terminals.displays import TerminalDisplay

_FAILED = 1
_SIGNAL_BASE = 128


class LiveDisplay:
    """Shows the output of one command while it runs. Close it in any case.

    `show` gets the text. A command with a `call_id`, which runs in `directory`, gets a terminal.
    """

    def __init__(
        self, shell: ShellContext, show: Callable[[str], None], *, call_id: str = "", directory: str = ""
    ) -> None:
        self.was_stopped = False
        """Whether the user stopped the command in its terminal."""
        self._displays = shell.displays if call_id else None
        self._call_id = call_id
        self._directory = directory
        self._text = None if show is ignore else LiveOutput(show)
        self._terminal: TerminalDisplay | None = None
        self._stop: asyncio.Task[None] | None = None
        self._ends_line = True

    def attach(self, running: RunningProcess) -> None:
        """Open the terminal for the command, which was just started."""
        if self._displays is None:
            return

        def stop() -> None:
            if running.exit is None:
                self.was_stopped = True
                self._stop = asyncio.create_task(running.stop())

        self._terminal = self._displays.open(call_id=self._call_id, directory=self._directory, on_stop=stop)

    @property
    def sink(self) -> Callable[[memoryview], None] | None:
        """What gets the output of the command, None if nothing shows it."""
        return None if self._text is None and self._terminal is None else self._add

    def end_output(self) -> None:
        """Show the text that has not been shown yet."""
        if self._text is not None:
            self._text.close()

    async def finish(self, result: ToolResult, note: str = "", *, keep_result: Callable[[ToolResult], None]) -> None:
        """Show in the terminal how the command ended. Takes 5 seconds at most. On cancellation the result is kept."""
        if self._displays is None or self._terminal is None:
            return
        notes = [translate(text) for text in ("" if result.error is None else result.error.message, note) if text]
        if notes:
            lines = [*(() if self._ends_line else ("",)), *notes, ""]
            self._terminal.write("\n".join(lines).encode("utf-8", "replace"))
        code = _FAILED if result.exit_code is None else result.exit_code
        try:
            await self._displays.finish(self._terminal, code if code >= 0 else _SIGNAL_BASE - code)
        except asyncio.CancelledError:
            keep_result(result)
            raise

    def close(self) -> None:
        """Free the terminal. It may be called again."""
        if self._displays is not None and self._terminal is not None:
            self._displays.close(self._terminal)

    def _add(self, piece: memoryview) -> None:
        if self._text is not None:
            self._text.add(piece)
        if self._terminal is not None:
            data = bytes(piece)
            self._terminal.write(data)
            self._ends_line = data.endswith(b"\n")
