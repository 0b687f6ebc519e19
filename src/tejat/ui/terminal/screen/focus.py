"""Focus reports of the terminal."""

from prompt_toolkit.output import Output

_ON, _OFF = "\x1b[?1004h", "\x1b[?1004l"


class FocusReports:
    """Reports about the keyboard focus (mode 1004), on while they are enabled and the terminal is ours.

    `is_focused` is None until the first report: not every terminal sends them.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._is_enabled = False
        self.is_open = False
        self.is_focused: bool | None = None

    def enable(self, *, enabled: bool) -> None:
        """Ask for reports from now on, or no longer."""
        if enabled == self._is_enabled:
            return
        self._is_enabled, self.is_focused = enabled, None
        if self.is_open:
            self._output.write_raw(_ON if enabled else _OFF)
            self._output.flush()

    def open(self) -> None:
        """Begin when the terminal becomes ours."""
        self.is_open = True
        if self._is_enabled:
            self._output.write_raw(_ON)

    def close(self) -> None:
        """End before another program gets the terminal. Where the focus goes meanwhile is unknown."""
        self.is_open, self.is_focused = False, None
        if self._is_enabled:
            self._output.write_raw(_OFF)

    def handle_report(self, is_focused: bool) -> None:
        if self.is_open and self._is_enabled:
            self.is_focused = is_focused
