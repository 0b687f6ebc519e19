"""The terminal during a session: finished blocks go up into the scrollback, below them is drawn what still changes."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar

from prompt_toolkit.enums import EditingMode
from prompt_toolkit.layout import BufferControl, FormattedTextControl, Window
from prompt_toolkit.output import ColorDepth
from rich.console import RenderableType

from tejat.frontends.terminal.application import Draw, InlineApplication
from tejat.frontends.terminal.canvas import Canvas
from tejat.frontends.terminal.cells import Picture
from tejat.frontends.terminal.dialog import Dialog
from tejat.frontends.terminal.keys import Acts, dialog_bindings, program_bindings
from tejat.frontends.terminal.line import Line
from tejat.frontends.terminal.line_modes import stop_process
from tejat.frontends.terminal.look import Colours, Look
from tejat.frontends.terminal.open_dialog import OpenDialog
from tejat.frontends.terminal.pace import Pace
from tejat.frontends.terminal.paint import ansi_of
from tejat.frontends.terminal.renderer import breaks_rows
from tejat.frontends.terminal.scene import Editing, Scene, instead_of
from tejat.frontends.terminal.synchronized import SynchronizedOutput
from tejat.frontends.terminal.terminal_input import TerminalInput

Result = TypeVar("Result")

_LIVE_SECONDS = 0.1
"""Between two drawings of the live block."""
_PRINT_SECONDS = 1 / 30
"""Between two frames that print, when much is printed at once."""
_HINT_SECONDS = 2.0


class Frame:
    """Draws at the bottom of a terminal and prints above it. `async with frame` is the time in which keys are read.

    Nothing is drawn while nothing changes. A terminal that is gone is told to `on_hangup`, once; an open dialog then
    ends as if Escape had been pressed.
    """

    def __init__(
        self,
        editor: Editing,
        look: Look,
        *,
        status: Callable[[int], RenderableType],
        queued: Callable[[], Sequence[str]],
        on_interrupt: Callable[[], None],
        on_escape: Callable[[], None],
        on_end: Callable[[], None],
        on_hangup: Callable[[], None],
        environment: Mapping[str, str],
        stdin: TextIO,
        stdout: TextIO,
    ) -> None:
        self._scene = Scene(editor, look, status=status, queued=queued)
        self._output = SynchronizedOutput(stdout, on_gone=self._lose)
        self._on_hangup = on_hangup
        source = TerminalInput(stdin)
        self._line = Line(source, writes=stdout.fileno())
        self._editor_window = Window(BufferControl(editor.buffer, key_bindings=editor.bindings))
        self._dialog_window = Window(FormattedTextControl(focusable=True, key_bindings=dialog_bindings(self._press)))
        self._app = InlineApplication(
            Canvas(
                (self._editor_window, self._dialog_window),
                picture=lambda: self._picture,
                focused=lambda: self._app.layout.current_window,
            ),
            self._editor_window,
            keys=program_bindings(
                Acts(
                    interrupt=lambda: self._interrupted(on_interrupt),
                    escape=on_escape,
                    end=on_end,
                    suspend=lambda: self._suspend(whole_group=True),
                    refresh=self._refresh,
                )
            ),
            source=source,
            output=self._output,
            depth=lambda: _DEPTHS[self._scene.look.colours],
            around=self._draw,
        )
        self._app.renderer.reflows = breaks_rows(environment)
        self._app.key_processor.before_key_press += self._drop_hint
        self._picture = Picture(())
        self._drawn_size: tuple[int, int] | None = None
        self._pending: list[RenderableType] = []
        self._opened: OpenDialog[Any] | None = None
        self._asking = asyncio.Lock()
        self._leaving = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._pace = Pace(on_due=self._app.draw, on_tick=self._on_tick)
        self._hint_end: asyncio.TimerHandle | None = None
        self._live_drawn = self._printed = float("-inf")
        self._is_ticking = self._is_lost = False
        self._output.is_ascii = look.is_ascii

    # What is shown.

    def print(self, *renderables: RenderableType) -> None:
        """Put finished blocks into the scrollback, once and for good. What is printed together is drawn together."""
        self._pending += renderables
        if self._is_drawing:
            self._pace.draw_by(self._printed + _PRINT_SECONDS)
        elif not self._line.is_given:
            with self._output.hold():
                self._write_pending()

    def live(self, renderable: RenderableType | None) -> None:
        """What is still changing, above the editor; None when there is nothing. Drawn ten times a second at most."""
        self._scene.live = renderable
        self._scene.is_stale = True
        if self._is_drawing:
            self._pace.draw_by(self._live_drawn + _LIVE_SECONDS)
        self._set_tick()

    def hint(self, text: str) -> None:
        """A short line below the editor that goes away with the next key or after two seconds."""
        self._drop_hint()
        self._scene.hint = text
        self._hint_end = asyncio.get_running_loop().call_later(_HINT_SECONDS, self._drop_hint)
        self.redraw()

    def redraw(self) -> None:
        """Something that is shown has changed: the status line, what is queued, the editor."""
        self._app.invalidate()

    def clear(self) -> None:
        """Empty the screen and the scrollback, which only the person may want."""
        self._wipe("\x1b[H\x1b[2J\x1b[3J")

    def send(self, sequence: str) -> None:
        """Write a sequence of our own that draws nothing, such as one for the clipboard of the terminal."""
        with self._output.hold():
            self._output.write_raw(sequence)

    async def ask(self, dialog: Dialog[Result]) -> Result:
        """Show a dialog until it comes to a result. Several are shown one after the other.

        Raises EOFError where the terminal is gone and the dialog does not take Escape for an answer.
        """
        async with self._asking:
            opened = OpenDialog(dialog)
            self._show(opened)
            refreshing = asyncio.create_task(self._redraw_every(opened.refresh_seconds))
            try:
                return await opened.answer
            finally:
                refreshing.cancel()
                self._show(None)

    @property
    def width(self) -> int:
        return self._output.get_size().columns

    @property
    def height(self) -> int:
        return self._output.get_size().rows

    @property
    def look(self) -> Look:
        return self._scene.look

    @look.setter
    def look(self, look: Look) -> None:
        self._scene.look = look
        self._output.is_ascii = look.is_ascii
        self._set_tick()
        self.redraw()

    @property
    def ticking(self) -> bool:
        """Whether the live block shows a time that goes on, so that it is drawn once a second even if nobody asks."""
        return self._is_ticking

    @ticking.setter
    def ticking(self, is_ticking: bool) -> None:
        self._is_ticking = is_ticking
        self._set_tick()

    @property
    def uses_vi(self) -> bool:
        return self._app.editing_mode is EditingMode.VI

    @uses_vi.setter
    def uses_vi(self, uses_vi: bool) -> None:
        self._app.editing_mode = EditingMode.VI if uses_vi else EditingMode.EMACS
        self.redraw()

    @property
    def takes_commands(self) -> bool:
        return self._app.takes_commands

    # When there is somebody at the terminal, and who has it.

    async def __aenter__(self) -> Self:
        """Returns when the first drawing stands."""
        drawn = asyncio.Event()

        def note(_: object) -> None:
            drawn.set()

        self._app.after_render += note
        self._running = asyncio.create_task(self._run())
        first = asyncio.create_task(drawn.wait())
        await asyncio.wait((self._running, first), return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        if self._running.done():
            self._running.result()
        self._line.begin()
        for number, act in self._signals.items():
            with suppress(ValueError, RuntimeError):  # not in the main thread
                asyncio.get_running_loop().add_signal_handler(number, act)
        self._set_tick()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The drawing is taken away; what was printed stays."""
        self._pace.end()
        self._drop_hint()
        self._line.leave_behind()
        for number in self._signals:
            asyncio.get_running_loop().remove_signal_handler(number)
        if self._app.is_running and not self._app.is_done:
            self._app.exit()
        try:
            if self._running is not None:
                await self._running
        finally:
            self.print()
            await self._line.end()

    @asynccontextmanager
    async def away(self) -> AsyncGenerator[None]:
        """Give the terminal to another program, as it was found. What is printed meanwhile is shown afterwards."""
        async with self._leaving:
            self._give_back()
            try:
                yield
            finally:
                self._take_again()

    def _give_back(self) -> None:
        if self._is_drawing:
            with self._output.hold():
                self._write_pending()
                self._app.renderer.erase()
            self._line.give()

    def _suspend(self, *, whole_group: bool) -> None:
        if self._line.is_given:
            return  # whoever has the terminal now is stopped with us by the shell
        self._give_back()
        stop_process(whole_group=whole_group)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._signals[signal.SIGTSTP])
        self._take_again()

    def _take_again(self) -> None:
        if self._line.take_again():
            self._draw_anew()

    def _go_on(self) -> None:
        """Somebody may have stopped us without asking, and had the terminal since."""
        if self._is_drawing and self._line.reclaim():
            self._app.renderer.reset()
            self._draw_anew()

    @property
    def _signals(self) -> dict[signal.Signals, Callable[[], None]]:
        return {signal.SIGTSTP: lambda: self._suspend(whole_group=False), signal.SIGCONT: self._go_on}

    async def _run(self) -> None:
        try:
            await self._app.run_async(set_exception_handler=False)
        except EOFError:
            self._lose()

    def _lose(self) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        if self._opened is not None:
            self._opened.abandon()
        self._on_hangup()

    # Keys.

    def _interrupted(self, act: Callable[[], None]) -> None:
        if not self._line.is_given:  # else it was meant for the program that has the terminal
            act()

    def _press(self, key: str) -> None:
        if self._opened is not None and not self._line.is_given:
            self._opened.press(key)

    def _show(self, opened: OpenDialog[Any] | None) -> None:
        self._opened = opened
        self._scene.dialog = None if opened is None else opened.dialog
        self._app.layout.current_window = self._editor_window if opened is None else self._dialog_window
        if opened is not None and self._is_lost:
            opened.abandon()
        self.redraw()

    def _drop_hint(self, _: object = None) -> None:
        if self._hint_end is not None:
            self._hint_end.cancel()
            self._hint_end = self._scene.hint = None
            self.redraw()

    # Drawing.

    @property
    def _is_drawing(self) -> bool:
        return self._app.is_running and not self._app.is_done and not self._line.is_given

    def _draw(self, draw: Draw, is_last: bool) -> None:
        """One frame: what was printed, and below it what has changed since, nothing if nothing has."""
        if self._line.is_given:
            return
        now, size = time.monotonic(), (self.width, self.height)
        with self._output.hold():
            has_printed = self._write_pending()
            if is_last:
                draw()
                return
            renews = has_printed or now >= self._live_drawn + _LIVE_SECONDS
            if renews and self._scene.is_stale:
                self._live_drawn = now
            picture = self._scene.picture(*size, renews=renews)
            if has_printed or size != self._drawn_size or picture != self._picture:
                self._picture, self._drawn_size = picture, size
                draw()

    def _write_pending(self) -> bool:
        if not self._pending:
            return False
        blocks, self._pending = self._pending, []
        text = "".join(map(self._text_of, blocks))
        if self._app.is_running:
            self._app.renderer.lift()
        self._output.write_raw(text)
        self._printed = time.monotonic()
        return True

    def _text_of(self, block: RenderableType) -> str:
        try:
            return ansi_of(block, self.look, width=self.width)
        except Exception as error:  # noqa: BLE001 -- one broken block must not take the others with it
            return ansi_of(instead_of(error, self.look), self.look, width=self.width)

    def _draw_anew(self) -> None:
        """After somebody else had the terminal: in a row of our own, whatever theirs ended with."""
        with self._output.hold():
            self._output.take_back()
            self._output.write_raw(" " * self.width + "\r")
            self._drawn_size = None
            self._app.draw()

    def _refresh(self) -> None:
        self._wipe("\x1b[H\x1b[2J")

    def _wipe(self, codes: str) -> None:
        with self._output.hold():
            self._app.renderer.lift()
            self._output.write_raw(codes)
            self._drawn_size = None
            if self._is_drawing:
                self._app.draw()

    def _set_tick(self) -> None:
        wanted = self._is_ticking and self._scene.live is not None and self.look.animates and self._is_drawing
        self._pace.tick(wanted=wanted)

    def _on_tick(self) -> None:
        self._scene.is_stale = True
        self._app.draw()

    async def _redraw_every(self, seconds: float | None) -> None:
        while seconds is not None:
            await asyncio.sleep(seconds)
            self.redraw()


_DEPTHS = {
    Colours.NONE: ColorDepth.DEPTH_1_BIT,
    Colours.SIXTEEN: ColorDepth.DEPTH_4_BIT,
    Colours.MANY: ColorDepth.DEPTH_8_BIT,
    Colours.ALL: ColorDepth.DEPTH_24_BIT,
}
