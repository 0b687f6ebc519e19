"""Notifications for a user who is looking elsewhere."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.i18n import _
from tejat.core.ui.status import NotificationMethod, NotificationOptions
from tejat.ui.shared.external.tmux import TmuxClient
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.terminal.render.text_rows import single_line
from tejat.ui.terminal.screen.focus import FocusReports

MIN_TURN_SECONDS = 5.0
"""Shorter turns end without a notification."""

_MAX_LENGTH = 80
_NAME = "Tejat"
_OSC9_TERMINALS = ("iterm", "wezterm", "ghostty", "xterm-ghostty", "kitty", "xterm-kitty")
_OSC777_TERMINALS = ("rxvt-unicode", "foot", "vte")
_MULTIPLEXERS = ("screen", "tmux")


class Notifier:
    """Notifies of a question that waits and of the end of a long turn, unless the terminal has the focus.

    `write` writes a control sequence, `start` runs a coroutine in the background, `read_tmux` asks tmux about its
    client. Nothing is written while another program has the terminal.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        focus: FocusReports,
        environment: Mapping[str, str],
        *,
        start: Callable[[Coroutine[None, None, None]], None],
        read_tmux: Callable[[], Awaitable[TmuxClient | None]],
    ) -> None:
        self._write = write
        self._focus = focus
        self._environment = environment
        self._start = start
        self._read_tmux = read_tmux
        self._options = NotificationOptions()
        self._long_turn: float | None = None

    def apply(self, options: NotificationOptions) -> None:
        """Use these options from now on."""
        self._options = options
        self._focus.enable(enabled=options.is_enabled)

    def notify_question(self) -> None:
        self._notify(_("Waiting for your answer"))

    def end_turn(self, end: RunEnded) -> None:
        """Remember a long turn. One that the user stopped needs no notification."""
        if end.seconds >= MIN_TURN_SECONDS and end.reason is not EndReason.INTERRUPTED:
            self._long_turn = end.seconds

    def end_work(self) -> None:
        """Notify if a turn of this work was long. Nothing is queued any more."""
        seconds, self._long_turn = self._long_turn, None
        if seconds is not None:
            self._notify(_("Finished after {duration}", duration=format_duration(seconds)))

    @property
    def _is_wanted(self) -> bool:
        return self._options.is_enabled and self._focus.is_open and not self._focus.is_focused

    def _notify(self, text: str) -> None:
        if not self._is_wanted:
            return
        if self._environment.get("TMUX"):
            self._start(self._notify_through_tmux(text))
        else:
            self._write(_notification(text, choose_method(self._options.method, self._environment)))

    async def _notify_through_tmux(self, text: str) -> None:
        method = self._options.method
        client = None if method is NotificationMethod.BELL else await self._read_tmux()
        if client is None or not client.passes_sequences:
            method = NotificationMethod.BELL
        elif method is NotificationMethod.AUTO:
            method = _method_for_names(client.terminal, client.term)
        if self._is_wanted:
            sequence = _notification(text, method)
            self._write(sequence if method is NotificationMethod.BELL else _wrap_for_tmux(sequence))


def choose_method(method: NotificationMethod, environment: Mapping[str, str]) -> NotificationMethod:
    """Return the method for the terminal of this environment, outside tmux: the given one unless it is AUTO."""
    term = environment.get("TERM", "")
    if environment.get("STY") or term.startswith(_MULTIPLEXERS):
        return NotificationMethod.BELL  # they do not pass on the others
    if method is not NotificationMethod.AUTO:
        return method
    program = environment.get("TERM_PROGRAM", "")
    found = _method_for_names(term, program)
    if found is not NotificationMethod.BELL or program or environment.get("XTERM_VERSION"):
        return found  # the variables below may come from a terminal that this one was started in
    if environment.get("KITTY_WINDOW_ID") or environment.get("LC_TERMINAL") == "iTerm2":
        return NotificationMethod.OSC9
    return NotificationMethod.OSC777 if environment.get("VTE_VERSION") else NotificationMethod.BELL


def _method_for_names(*names: str) -> NotificationMethod:
    for name in map(str.lower, names):
        if name.startswith(_OSC9_TERMINALS):
            return NotificationMethod.OSC9
        if name.startswith(_OSC777_TERMINALS):
            return NotificationMethod.OSC777
    return NotificationMethod.BELL


def _notification(text: str, method: NotificationMethod) -> str:
    shown = single_line(text)[: _MAX_LENGTH - len(f"{_NAME}: ")]
    match method:
        case NotificationMethod.OSC9:
            return f"\x1b]9;{_NAME}: {shown}\x07"
        case NotificationMethod.OSC777:
            return f"\x1b]777;notify;{_NAME};{shown}\x07"
        case _:
            return "\a"


def _wrap_for_tmux(sequence: str) -> str:
    escaped = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{escaped}\x1b\\"
