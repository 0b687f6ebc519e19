"""VT100 parser that handles huge pastes in linear time."""

from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

_END = "\x1b[201~"


class PasteParser(Vt100Parser):
    """Vt100Parser that does not rescan the whole paste with each chunk."""

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
        self.feed_key_callback(KeyPress(Keys.BracketedPaste, pasted))
        self.feed(rest)

    def reset(self, request: bool = False) -> None:
        super().reset(request=request)
        self._forget_paste()

    def _forget_paste(self) -> None:
        self._blocks: list[str] = []
        self._tail = ""
