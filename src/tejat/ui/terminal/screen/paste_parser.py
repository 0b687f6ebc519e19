"""VT100 parser that handles huge pastes in linear time, and focus reports."""

import re
from collections.abc import Callable

from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

_END = "\x1b[201~"
_FOCUS_REPORTS = {"\x1b[I": True, "\x1b[O": False}
_FOCUS_REPORT = re.compile("\x1b\\[[IO]")


class PasteParser(Vt100Parser):
    """Vt100Parser that does not rescan the whole paste with each chunk.

    Focus reports are no keys: they go to `on_focus`, True if the terminal has the focus. A paste does not contain them.
    """

    def __init__(
        self, feed_key_callback: Callable[[KeyPress], None], on_focus: Callable[[bool], None] = lambda _: None
    ) -> None:
        self._on_focus = on_focus
        super().__init__(feed_key_callback)

    def feed(self, data: str) -> None:
        if not self._in_bracketed_paste:
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

    def reset(self, request: bool = False) -> None:
        super().reset(request=request)
        self._forget_paste()

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
