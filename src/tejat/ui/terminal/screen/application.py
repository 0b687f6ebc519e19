"""The prompt_toolkit application: reads keys and draws inline."""

from collections.abc import Callable

from prompt_toolkit.application import Application
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Container, Layout, Window
from prompt_toolkit.output import ColorDepth

from tejat.ui.terminal.screen.input import TerminalInput
from tejat.ui.terminal.screen.output import SynchronizedOutput
from tejat.ui.terminal.screen.renderer import InlineRenderer

DrawCallback = Callable[[], None]

_ESCAPE_SECONDS = 0.05
"""Time after which Escape counts as a key of its own."""
_SEQUENCE_SECONDS = 1.0
"""Time that a key such as Ctrl-X waits for the next one."""


class InlineApplication(Application[None]):
    """Application whose every redraw goes through `on_draw`, which may add to the frame or skip it."""

    renderer: InlineRenderer

    def __init__(
        self,
        root: Container,
        focused: Window,
        *,
        keys: KeyBindingsBase,
        source: TerminalInput,
        output: SynchronizedOutput,
        depth: Callable[[], ColorDepth],
        on_draw: Callable[[DrawCallback, bool], None],
    ) -> None:
        self._on_draw = on_draw
        super().__init__(
            layout=Layout(root, focused_element=focused),
            include_default_pygments_style=False,
            key_bindings=keys,
            color_depth=depth,
            erase_when_done=True,
            terminal_size_polling_interval=None,
            input=source,
            output=output,
        )
        self.renderer = InlineRenderer(self._merged_style, output)
        self.ttimeoutlen = _ESCAPE_SECONDS
        self.key_processor.after_key_press += self._set_key_timeout

    @property
    def is_vi_navigation(self) -> bool:
        """Whether vi is in navigation mode."""
        return self.editing_mode is EditingMode.VI and self.vi_state.input_mode is InputMode.NAVIGATION

    def draw(self) -> None:
        """Draw immediately."""
        self._redraw()

    def _redraw(self, render_as_done: bool = False) -> None:
        self._on_draw(lambda: super(InlineApplication, self)._redraw(render_as_done), render_as_done)

    def _on_resize(self) -> None:
        self._redraw()

    def _set_key_timeout(self, _: object) -> None:
        begun = [press.key for press in self.key_processor.key_buffer]
        self.timeoutlen = _ESCAPE_SECONDS if begun == [Keys.Escape] else _SEQUENCE_SECONDS
