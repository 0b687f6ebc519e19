"""Bash syntax trees from tree-sitter; the only module that knows the parser."""

import time
from functools import cache

from tree_sitter import Language, Node, Parser, Point
from tree_sitter_bash import language

__all__ = ["MAX_LINE_BYTES", "Node", "parse_tree"]

MAX_LINE_BYTES = 64 * 1024
_CHUNK = 1024
# Ordinary lines take 0.3 to 3 microseconds per byte. Some inputs take quadratic time.
_SECONDS = 0.05
_SECONDS_PER_BYTE = 5e-6

# The grammar's scanner looks characters up in a table that ends at 255 and may crash beyond. To bash, all of these
# bytes are ordinary letters.
_ASCII_TABLE = bytes(range(128)) + b"x" * 128


def parse_tree(source: bytes) -> Node | None:
    """Return the tree of a line, None if it is too long or takes too long. Positions are those of `source`.

    Never take text from the tree: non-ASCII bytes are replaced in it.
    """
    if len(source) > MAX_LINE_BYTES:
        return None
    text = _LimitedText(source.translate(_ASCII_TABLE))
    root = Parser(_bash()).parse(text.read, encoding="utf8").root_node
    return None if text.is_cut_off else root


class _LimitedText:
    """A text that ends early when its parser has used up its time: a parser cannot be interrupted otherwise.

    It is given in pieces. While one is fetched, other threads can run.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._end = time.thread_time() + _SECONDS + _SECONDS_PER_BYTE * len(text)
        self.is_cut_off = False

    def read(self, at: int, _point: Point, /) -> bytes:
        if self.is_cut_off or time.thread_time() > self._end:
            self.is_cut_off = True
            return b""
        return self._text[at : at + _CHUNK]


@cache
def _bash() -> Language:
    return Language(language())
