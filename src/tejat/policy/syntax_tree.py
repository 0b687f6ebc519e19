"""The syntax tree of a bash line: the one place that knows which parser makes it."""

import time
from functools import cache

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

__all__ = ["LONGEST_LINE", "Node", "syntax_tree"]

LONGEST_LINE = 256 * 1024
"""In bytes. Longer lines are not parsed."""
_SECONDS = 1.0
_CHUNK = 2048


def syntax_tree(source: bytes) -> Node | None:
    """The tree of a line, None for a line that is too long or takes too long to parse."""
    if len(source) > LONGEST_LINE:
        return None
    deadline = time.thread_time() + _SECONDS
    is_late = False

    # The parser takes quadratic time over some texts and has no time limit of its own, but it reads as it goes: it can
    # be told that the text is over.
    def read(offset: int, _point: object) -> bytes:
        nonlocal is_late
        is_late = is_late or time.thread_time() > deadline
        return b"" if is_late else source[offset : offset + _CHUNK]

    tree = Parser(_bash()).parse(read)
    return None if is_late else tree.root_node


@cache
def _bash() -> Language:
    return Language(language())
