"""VT100 parser that handles huge pastes in linear time, and reports of the terminal."""

import re
from collections.abc import Callable

from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from tejat.ui.terminal.background import BackgroundQuery

_END = "\x1b[201~"
_FOCUS_REPORTS = {"\x1b[I": True, "\x1b[O": False}
_FOCUS_REPORT = re.compile("\x1b\\[[IO]")
_BACKGROUND_REPORT = re.compile("\x1b\\]11;(?P<colour>[^\x07\x1b]{0,64})(?:\x07|\x1b\\\\)")
_BACKGROUND_START = re.compile("\x1b\\](?:1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?)?\\Z")
_ALT_BRACKET = "\x1b]"


class PasteParser(Vt100Parser):
    """Vt100Parser that does not rescan the whole paste with each chunk.

    Focus reports are no keys: they go to `on_focus`, True if the terminal has the focus. A paste does not contain them.
    Neither is the answer to a question about the background, which may come in pieces.
    """

    def __init__(
        self,
        feed_key_callback: Callable[[KeyPress], None],
        on_focus: Callable[[bool], None] = lambda _: None,
        background: BackgroundQuery | None = None,
    ) -> None:
        self._on_focus = on_focus
        self._background = background
        self._held = ""
        self._ends_in_escape = False
        super().__init__(feed_key_callback)

    def feed(self, data: str) -> None:
        if not self._in_bracketed_paste:
            if data and (self._held or (self._background is not None and self._background.is_pending)):
                data = self._take_background(data)
            super().feed(data)
            return
        # The end marker may be split.
        recent = self._tail + data
        self._blocks.append(data)
        self._tail = recent[-len(_END) :]
        if _END not in recent:
            return
        pasted, _, rest = "".join(self._blocks).partition(_END)
        self._in_bracketed_paste = False
        self._forget_paste()
        self.feed_key_callback(KeyPress(Keys.BracketedPaste, _FOCUS_REPORT.sub(self._take_report, pasted)))
        self.feed(rest)

    def flush(self) -> None:
        # Half an answer waits for the other half; two characters may as well be Alt and a bracket.
        if self._held == _ALT_BRACKET:
            self._held = ""
            super().feed(_ALT_BRACKET)
        super().flush()

    def reset(self, request: bool = False) -> None:
        super().reset(request=request)
        self._forget_paste()

    def _take_background(self, data: str) -> str:
        """Take out the answer and hold back the beginning of one; return the keys."""
        text = self._held + data
        self._held = ""
        if self._ends_in_escape and text.startswith("]"):
            super().reset()  # forgets the Escape
            text = f"\x1b{text}"
        found = _BACKGROUND_REPORT.search(text)
        if found is not None and self._background is not None:
            self._background.handle_report(found["colour"])
            text = text[: found.start()] + text[found.end() :]
        elif (start := _BACKGROUND_START.search(text)) is not None:
            self._held = start[0]
            text = text[: start.start()]
        self._ends_in_escape = text.endswith("\x1b")
        return text

    def _get_match(self, prefix: str) -> Keys | tuple[Keys, ...] | None:
        return Keys.Ignore if prefix in _FOCUS_REPORTS else super()._get_match(prefix)

    def _call_handler(self, key: str | Keys | tuple[Keys, ...], insert_text: str) -> None:
        if insert_text in _FOCUS_REPORTS:
            self._on_focus(_FOCUS_REPORTS[insert_text])
        else:
            super()._call_handler(key, insert_text)

    def _take_report(self, found: re.Match[str]) -> str:
        self._on_focus(_FOCUS_REPORTS[found[0]])
        return ""

    def _forget_paste(self) -> None:
        self._blocks: list[str] = []
        self._tail = ""
