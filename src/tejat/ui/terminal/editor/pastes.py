"""Long pastes, shown as one placeholder and expanded on submit."""

import re
from collections.abc import Iterator

from tejat.core.frozen import Frozen
from tejat.core.i18n import ngettext

_MAX_LINES = 10
_MAX_CHARACTERS = 1000
# Recalled text may have been typed and stays expanded up to this size.
_MAX_RESTORED_LINES = 400
_MAX_RESTORED_CHARACTERS = 20_000
_MAX_STORED = 50
_MAX_STORED_CHARACTERS = 32 * 1024 * 1024

# A paste is one character, so that all keys treat it as one. The range is for private use.
_FIRST_MARK = 0x10F000
_MARKS = 0xF00
_MARK = f"[{chr(_FIRST_MARK)}-{chr(_FIRST_MARK + _MARKS - 1)}]"


class _Paste(Frozen):
    number: int
    text: str

    @property
    def label(self) -> str:
        lines = self.text.count("\n") + (not self.text.endswith("\n"))
        if lines > 1:
            return ngettext(
                "[Pasted #{number}: {count} line]", "[Pasted #{number}: {count} lines]", lines, number=self.number
            )
        return ngettext(
            "[Pasted #{number}: {count} character]",
            "[Pasted #{number}: {count} characters]",
            len(self.text),
            number=self.number,
        )


class PasteStore:
    """Pastes of one editor. Placeholders are characters that cannot be typed."""

    def __init__(self) -> None:
        self._pastes: dict[str, _Paste] = {}
        self._count = 0

    def insert_paste(self, pasted: str) -> str:
        """Return the pasted text, or a placeholder for it."""
        text = pasted.replace("\r\n", "\n").replace("\r", "\n")
        is_long = len(text) > _MAX_CHARACTERS or text.count("\n") >= _MAX_LINES
        return self._mark(text) if is_long or re.search(_MARK, text) else text

    def insert_typed(self, text: str) -> str:
        """Return typed text, with placeholder characters escaped."""
        return self._mark(text) if re.search(_MARK, text) else text

    def collapse(self, text: str) -> str:
        """Return submitted text with its known pastes as placeholders."""
        for mark, paste in reversed(self._pastes.items()):
            text = text.replace(paste.text, mark)
        rest = re.sub(_MARK, "", text)
        is_long = len(rest) > _MAX_RESTORED_CHARACTERS or rest.count("\n") >= _MAX_RESTORED_LINES
        return self._mark(self.expand(text)) if is_long else text

    def expand(self, text: str) -> str:
        """Return the text with its pastes."""
        return re.sub(_MARK, lambda found: self._pastes[found[0]].text if found[0] in self._pastes else found[0], text)

    def label(self, character: str) -> str | None:
        """Return the label of a placeholder, None for any other character."""
        paste = self._pastes.get(character)
        return None if paste is None else paste.label

    def prune(self) -> None:
        """Keep only recent pastes, for text that is recalled."""
        size = 0
        for count, (mark, paste) in enumerate(reversed(list(self._pastes.items())), 1):
            size += len(paste.text)
            if size > _MAX_STORED_CHARACTERS or count > _MAX_STORED:
                del self._pastes[mark]

    def _mark(self, text: str) -> str:
        mark = next(self._free_marks())
        self._pastes.pop(mark, None)
        self._count += 1
        self._pastes[mark] = _Paste(self._count, text)
        return mark

    def _free_marks(self) -> Iterator[str]:
        """Yield free placeholders, least recently used first."""
        for step in range(_MARKS):
            mark = chr(_FIRST_MARK + (self._count + step) % _MARKS)
            if mark not in self._pastes:
                yield mark
