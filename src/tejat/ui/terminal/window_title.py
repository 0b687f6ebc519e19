"""The title of the terminal window while a session is open."""

from collections.abc import Callable

from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.status import TitleOptions
from tejat.ui.terminal.render.text_rows import single_line

_PUSH, _POP = "\x1b[22;2t", "\x1b[23;2t"
_MAX_LENGTH = 80


class TitleState(StrEnum):
    READY = "ready"
    WORKING = "working"
    ASKING = "asking"


class WindowTitle:
    """Shows the state and the name of the session. The title from before is restored where the terminal keeps it.

    `write` writes a control sequence. Nothing is written while nothing changes.
    """

    def __init__(self, write: Callable[[str], None], name: str, *, is_ascii: bool) -> None:
        self._write = write
        self._name = name
        self._is_ascii = is_ascii
        self._options = TitleOptions()
        self._is_open = False
        self._shown = ""
        self._state = TitleState.READY
        self._subject = ""

    def apply(self, options: TitleOptions) -> None:
        """Use these options from now on."""
        self._options = options
        if options.is_hidden:
            self.close()
        else:
            if not self._is_open:
                self._is_open = True
                self._write(_PUSH)
            self._update()

    def set_state(self, state: TitleState) -> TitleState:
        """Show another state and return the one before."""
        before, self._state, self._subject = self._state, state, ""
        self._update()
        return before

    def set_subject(self, subject: str) -> None:
        """Show what the model is thinking about, if that is wanted."""
        if self._options.shows_thoughts and subject:
            self._subject = subject
            self._update()

    def close(self) -> None:
        if self._is_open:
            self._is_open, self._shown = False, ""
            self._write(_POP)

    def _update(self) -> None:
        text = self._text()
        if self._is_open and text != self._shown:
            self._shown = text
            self._write(f"\x1b]2;{text}\x07")

    def _text(self) -> str:
        name = _plain(self._name, _MAX_LENGTH // 2)
        if not self._options.is_dynamic:
            return name
        sign, word = _label(self._state)
        label = _plain(self._subject, _MAX_LENGTH // 2) if self._subject else word
        return f"{label} ({name})" if self._is_ascii else f"{sign} {label} ({name})"


def _plain(text: str, length: int) -> str:
    shown = single_line(text)
    return shown if len(shown) <= length else f"{shown[: length - 3]}..."


def _label(state: TitleState) -> tuple[str, str]:
    match state:
        case TitleState.READY:
            return "◇", _("Ready")
        case TitleState.WORKING:
            return "✦", _("Working")
        case TitleState.ASKING:
            return "✋", _("Action required")
