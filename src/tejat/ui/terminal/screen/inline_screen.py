"""The inline screen: finished blocks go to the scrollback, the live area is drawn below."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Self, TextIO, TypeVar

from prompt_toolkit.enums import EditingMode
from prompt_toolkit.layout import BufferControl, FormattedTextControl, Window
from prompt_toolkit.output import ColorDepth
from rich.console import RenderableType

from tejat.core.frozen import Frozen
from tejat.ui.terminal.dialogs.base import Dialog
from tejat.ui.terminal.dialogs.open_dialog import OpenDialog
from tejat.ui.terminal.render.cells import Frame
from tejat.ui.terminal.render.theme import ColourDepth, Theme
from tejat.ui.terminal.screen.application import DrawCallback, InlineApplication
from tejat.ui.terminal.screen.canvas import Canvas
from tejat.ui.terminal.screen.draw_timer import DrawTimer
from tejat.ui.terminal.screen.input import TerminalInput
from tejat.ui.terminal.screen.key_bindings import GlobalKeyActions, dialog_bindings, global_bindings
from tejat.ui.terminal.screen.live_area import EditorComponent, LiveArea
from tejat.ui.terminal.screen.output import SynchronizedOutput
from tejat.ui.terminal.screen.renderer import terminal_reflows
from tejat.ui.terminal.screen.scrollback import ScrollbackQueue
from tejat.ui.terminal.screen.tty import Tty
from tejat.ui.terminal.screen.tty_modes import suspend_process

Result = TypeVar("Result")

_LIVE_INTERVAL = 0.1
"""Seconds between redraws of the live block."""
_MIN_HINT_SECONDS = 2.0
_HINT_CHARS_PER_SECOND = 20


class ScreenHandlers(Frozen):
    """What keys and the end of the terminal do.

    `on_interrupt` is Ctrl-C, `on_escape` Escape, `on_end` Ctrl-D. `on_hangup` is called once, when the terminal is
    gone.
    """

    on_interrupt: Callable[[], None]
    on_escape: Callable[[], None]
    on_end: Callable[[], None]
    on_hangup: Callable[[], None]


class TerminalStreams(Frozen):
    """The streams of a terminal, and the environment that describes it."""

    stdin: TextIO
    stdout: TextIO
    environment: Mapping[str, str]


class InlineScreen:
    """Draws at the bottom of the terminal and prints above. Keys are read inside `async with screen`.

    `status` renders the status line at a width, `queued` returns the queued lines. Nothing is drawn while nothing
    changes. When the terminal is gone, an open dialog ends as with Escape.
    """

    def __init__(
        self,
        editor: EditorComponent,
        theme: Theme,
        *,
        status: Callable[[int], RenderableType],
        queued: Callable[[], Sequence[str]],
        handlers: ScreenHandlers,
        terminal: TerminalStreams,
    ) -> None:
        self._live_area = LiveArea(editor, theme, status=status, queued=queued)
        self._output = SynchronizedOutput(terminal.stdout, on_disconnect=self._on_disconnect)
        self._on_hangup = handlers.on_hangup
        self.focus, self.background = self._output.focus, self._output.background
        source = TerminalInput(terminal.stdin, focus=self.focus, background=self.background)
        self._tty = Tty(source, output_fd=terminal.stdout.fileno())
        self._editor_window = Window(BufferControl(editor.buffer, key_bindings=editor.bindings))
        self._dialog_window = Window(FormattedTextControl(focusable=True, key_bindings=dialog_bindings(self._press)))
        windows = (self._editor_window, self._dialog_window)
        actions = GlobalKeyActions(
            interrupt=lambda: self._on_interrupt(handlers.on_interrupt),
            escape=handlers.on_escape,
            end=handlers.on_end,
            suspend=lambda: self._suspend(whole_group=True),
            refresh=lambda: self._clear_and_redraw("\x1b[H\x1b[2J"),
        )
        self._app = InlineApplication(
            Canvas(windows, frame=lambda: self._frame, focused=lambda: self._app.layout.current_window),
            self._editor_window,
            keys=global_bindings(actions),
            source=source,
            output=self._output,
            depth=lambda: _COLOR_DEPTHS[self._live_area.theme.colour_depth],
            on_draw=self._draw,
        )
        self._app.renderer.reflows = terminal_reflows(terminal.environment)
        self._app.key_processor.before_key_press += self.clear_hint
        self._frame = Frame(())
        self._drawn_size: tuple[int, int] | None = None
        self._drawn = asyncio.Event()
        self._scrollback = ScrollbackQueue()
        self._open_dialog: OpenDialog[Any] | None = None
        self._dialog_lock = asyncio.Lock()
        self._release_lock = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._draw_timer = DrawTimer(on_due=self._app.draw, on_tick=self._on_tick)
        self._hint_end: asyncio.TimerHandle | None = None
        self._live_drawn = float("-inf")
        self._is_ticking = self._is_disconnected = False
        self._output.is_ascii = theme.is_ascii

    def print(self, *renderables: RenderableType) -> None:
        """Print finished blocks to the scrollback, together in one frame."""
        self._scrollback.add(*renderables)
        if self._is_drawing:
            self._draw_timer.draw_by(self._scrollback.due)
        elif not self._tty.is_released:
            with self._output.batch():
                self._write_pending()

    def set_live(self, renderable: RenderableType | None) -> None:
        """Set the block above the editor that still changes, None for none. Redrawn at most ten times a second."""
        self._live_area.live, self._live_area.is_stale = renderable, True
        if self._is_drawing:
            self._draw_timer.draw_by(self._live_drawn + _LIVE_INTERVAL)
        self._update_tick()

    def show_hint(self, text: str) -> None:
        """Show a short line below the editor until the next key or until there was time to read it."""
        self.clear_hint()
        self._live_area.hint = text
        seconds = max(_MIN_HINT_SECONDS, len(text) / _HINT_CHARS_PER_SECOND)
        self._hint_end = asyncio.get_running_loop().call_later(seconds, self.clear_hint)
        self.redraw()

    def clear_hint(self, _: object = None) -> None:
        if self._hint_end is not None:
            self._hint_end.cancel()
            self._hint_end = self._live_area.hint = None
            self.redraw()

    def redraw(self) -> None:
        """Redraw after a change of the status line, the queue or the editor."""
        self._app.invalidate()

    async def wait_until_drawn(self) -> None:
        """Wait until everything that has changed so far is drawn."""
        self._drawn.clear()
        self.redraw()
        await self._drawn.wait()

    def clear(self) -> None:
        """Clear the screen and the scrollback."""
        self._clear_and_redraw("\x1b[H\x1b[2J\x1b[3J")

    def write_raw(self, sequence: str) -> None:
        """Write a control sequence that draws nothing, such as a clipboard sequence."""
        with self._output.batch():
            self._output.write_raw(sequence)

    async def run_dialog(self, dialog: Dialog[Result]) -> Result:
        """Show a dialog, one at a time, and return its result. Raises EOFError if the terminal is gone without one."""
        async with self._dialog_lock:
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
    def theme(self) -> Theme:
        return self._live_area.theme

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._live_area.theme = theme
        self._output.is_ascii = theme.is_ascii
        self._update_tick()
        self.redraw()

    @property
    def ticking(self) -> bool:
        """Whether the live block shows a running time and is redrawn every second."""
        return self._is_ticking

    @ticking.setter
    def ticking(self, is_ticking: bool) -> None:
        self._is_ticking = is_ticking
        self._update_tick()

    def use_vi(self, *, enabled: bool) -> None:
        """Switch between vi and emacs keys."""
        self._app.editing_mode = EditingMode.VI if enabled else EditingMode.EMACS
        self.redraw()

    @property
    def is_vi_navigation(self) -> bool:
        return self._app.is_vi_navigation

    async def __aenter__(self) -> Self:
        """Start drawing and return after the first frame."""
        rendered = asyncio.Event()

        def set_drawn(_: object) -> None:
            rendered.set()

        self._app.after_render += set_drawn
        self._running = asyncio.create_task(self._run())
        first = asyncio.create_task(rendered.wait())
        await asyncio.wait((self._running, first), return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        if self._running.done():
            self._running.result()
        self._tty.start()
        for number, act in self._signals.items():
            with suppress(ValueError, RuntimeError):  # not in the main thread
                asyncio.get_running_loop().add_signal_handler(number, act)
        self._update_tick()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Remove the drawing; printed blocks stay."""
        self._draw_timer.stop()
        self.clear_hint()
        self._tty.abandon()
        for number in self._signals:
            asyncio.get_running_loop().remove_signal_handler(number)
        if self._app.is_running and not self._app.is_done:
            await self.background.wait_before_end()
            self._app.exit()
        try:
            if self._running is not None:
                await self._running
        finally:
            self.print()
            await self._tty.stop()

    @asynccontextmanager
    async def released(self) -> AsyncGenerator[None]:
        """Give the terminal to another program in its original state. Blocks printed meanwhile are shown afterwards."""
        async with self._release_lock:
            self._release_terminal()
            try:
                yield
            finally:
                self._reacquire_terminal()

    def _release_terminal(self) -> None:
        if self._is_drawing:
            with self._output.batch():
                self._write_pending()
                self._app.renderer.erase()
            self._tty.release()

    def _suspend(self, *, whole_group: bool) -> None:
        if self._tty.is_released:
            return  # the shell stops the program that has the terminal together with us
        self._release_terminal()
        suspend_process(whole_group=whole_group)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._signals[signal.SIGTSTP])
        self._reacquire_terminal()

    def _reacquire_terminal(self) -> None:
        if self._tty.reacquire():
            self._redraw_from_scratch()

    def _on_continue(self) -> None:
        """Restore the modes after a stop that was not ours."""
        if self._is_drawing and self._tty.restore_modes():
            self._app.renderer.reset()
            self._redraw_from_scratch()

    @property
    def _signals(self) -> dict[signal.Signals, Callable[[], None]]:
        return {signal.SIGTSTP: lambda: self._suspend(whole_group=False), signal.SIGCONT: self._on_continue}

    async def _run(self) -> None:
        try:
            await self._app.run_async(set_exception_handler=False)
        except EOFError:
            self._on_disconnect()

    def _on_disconnect(self) -> None:
        if self._is_disconnected:
            return
        self._is_disconnected = True
        if self._open_dialog is not None:
            self._open_dialog.abandon()
        self._on_hangup()

    def _on_interrupt(self, act: Callable[[], None]) -> None:
        if not self._tty.is_released:  # otherwise it is meant for the program that has the terminal
            act()

    def _press(self, key: str) -> None:
        if self._open_dialog is not None and not self._tty.is_released:
            self._open_dialog.press(key)

    def _show(self, opened: OpenDialog[Any] | None) -> None:
        self._open_dialog, self._live_drawn = opened, float("-inf")  # late rows above a dialog would move it
        self._live_area.dialog = None if opened is None else opened.dialog
        self._app.layout.current_window = self._editor_window if opened is None else self._dialog_window
        if opened is not None and self._is_disconnected:
            opened.abandon()
        self.redraw()

    @property
    def _is_drawing(self) -> bool:
        return self._app.is_running and not self._app.is_done and not self._tty.is_released

    def _draw(self, draw: DrawCallback, is_last: bool) -> None:
        """Draw one frame: pending blocks, and the live area if it changed."""
        if self._tty.is_released:
            return
        now, size = time.monotonic(), (self.width, self.height)
        with self._output.batch():
            has_printed = self._write_pending()
            if is_last:
                draw()
                return
            refreshes_live = has_printed or now >= self._live_drawn + _LIVE_INTERVAL
            if refreshes_live and self._live_area.is_stale:
                self._live_drawn = now
            frame = self._live_area.render(*size, refreshes_live=refreshes_live)
            if has_printed or size != self._drawn_size or frame != self._frame:
                self._frame, self._drawn_size = frame, size
                draw()
        if self._live_area.is_stale:  # a printed block moved the interval after this draw was scheduled
            self._draw_timer.draw_by(self._live_drawn + _LIVE_INTERVAL)
        self._drawn.set()

    def _write_pending(self) -> bool:
        text = self._scrollback.take(self.theme, width=self.width)
        if text is None:
            return False
        if self._app.is_running:
            self._app.renderer.clear_drawing()
        self._output.write_raw(text)
        return True

    def _redraw_from_scratch(self) -> None:
        """Redraw on a new row after another program had the terminal."""
        with self._output.batch():
            self._output.reset_modes()
            self._output.write_raw(" " * self.width + "\r")
            self._drawn_size = None
            self._app.draw()

    def _clear_and_redraw(self, codes: str) -> None:
        with self._output.batch():
            self._app.renderer.clear_drawing()
            self._output.write_raw(codes)
            self._drawn_size = None
            if self._is_drawing:
                self._app.draw()

    def _update_tick(self) -> None:
        is_enabled = self._is_ticking and self._live_area.live is not None and self.theme.animates and self._is_drawing
        self._draw_timer.set_ticking(enabled=is_enabled)

    def _on_tick(self) -> None:
        self._live_area.is_stale = True
        self._app.draw()

    async def _redraw_every(self, seconds: float | None) -> None:
        while seconds is not None:
            await asyncio.sleep(seconds)
            self.redraw()


_COLOR_DEPTHS = {
    ColourDepth.NONE: ColorDepth.DEPTH_1_BIT,
    ColourDepth.ANSI_16: ColorDepth.DEPTH_4_BIT,
    ColourDepth.ANSI_256: ColorDepth.DEPTH_8_BIT,
    ColourDepth.TRUE_COLOUR: ColorDepth.DEPTH_24_BIT,
}
