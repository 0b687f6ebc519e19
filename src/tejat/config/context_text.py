"""Reads the texts that people write for the model, within limits, and without what a reader would not see in them."""

import os

from tejat.core.visible import visible, without_hidden
from tejat.core.words import phrase
from tejat.workspace.regular_file import without_waiting

MOST_BYTES = 256 * 1024
"""Of one file."""
MOST_BYTES_IN_ALL = 2**20
MOST_FILES = 500
MOST_MENTIONS = 2000
"""So many names are looked up; a text with more of them is no honest one."""

_EMOJI_JOINERS = {ord("\ufe0f"): None, ord("\u200d"): None}
_MOST_NAMED = 5


class Unreadable(Exception):
    """A file that cannot be used; the message says why, in a few words."""


class ContextReader:
    """Reads the files of one session. `warnings` is what the person should know about them."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._left = MOST_BYTES_IN_ALL
        self._files = 0
        self._mentions = 0

    def may_look_up(self) -> bool:
        """Whether one more name in a text may be looked up as a file."""
        self._mentions += 1
        if self._mentions == MOST_MENTIONS + 1:
            self.warnings.append(
                phrase("The context files have more than {most} imports: the rest is left alone.", most=MOST_MENTIONS)
            )
        return self._mentions <= MOST_MENTIONS

    def read(self, path: str, *, named: str | None = None) -> str:
        """The text of a regular file, with plain line ends. `named` is its path as the person knows it.

        A long file is cut at the end of a line. Raises Unreadable.
        """
        named = named or path
        if self._left <= 0 or self._files >= MOST_FILES:
            raise Unreadable(
                phrase(
                    "the limit of {size} KB and {most} files is reached",
                    size=MOST_BYTES_IN_ALL // 1024,
                    most=MOST_FILES,
                )
            )
        try:
            descriptor = without_waiting(path, os.O_RDONLY)
            try:
                content = _beginning(descriptor, min(MOST_BYTES, self._left))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Unreadable(error.strerror or phrase("it cannot be read")) from None
        self._left -= len(content.kept)
        self._files += 1
        if content.is_cut:
            self.warnings.append(
                phrase(
                    "{named} is too long: only its first {kept} KB are used.",
                    named=named,
                    kept=len(content.kept) // 1024,
                )
            )
        return self._seen(content.kept, named)

    def _seen(self, content: bytes, named: str) -> str:
        if b"\0" in content:
            raise Unreadable(phrase("it is not a text"))
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        plain = without_hidden(text)
        # Emoji are made with two of them; nobody needs to be warned of those.
        hidden = sorted(set(text.translate(_EMOJI_JOINERS)) - set(plain))
        if hidden:
            listed = ", ".join(map(visible, hidden[:_MOST_NAMED])) + (", ..." if len(hidden) > _MOST_NAMED else "")
            self.warnings.append(
                phrase(
                    "{named} has hidden characters ({listed}). The model does not get them.", named=named, listed=listed
                )
            )
        return plain


class _Content:
    def __init__(self, kept: bytes, *, is_cut: bool) -> None:
        self.kept = kept
        self.is_cut = is_cut


def _beginning(descriptor: int, most: int) -> _Content:
    content = b""
    while len(content) <= most and (piece := os.read(descriptor, most + 1 - len(content))):
        content += piece
    if len(content) <= most:
        return _Content(content, is_cut=False)
    line_end = content.rfind(b"\n", 0, most) + 1
    return _Content(content[: line_end or most], is_cut=True)
