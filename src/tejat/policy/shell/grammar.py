"""The syntax tree of a bash line: the one place that knows which parser makes it."""

from functools import cache

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

__all__ = ["MAX_LINE_BYTES", "Node", "parse_tree"]

MAX_LINE_BYTES = 16 * 1024
"""In bytes. The parser takes quadratic time over some texts and cannot be stopped, so longer lines are not parsed."""

# The scanner of the grammar looks up every character in a table that ends at 255, and may crash beyond it. To bash all
# of these bytes are letters of a word like any other.
_ASCII_TABLE = bytes(range(128)) + b"x" * 128


def parse_tree(source: bytes) -> Node | None:
    """The tree of a line, None for a line that is too long. Places in the tree are places in `source`.

    Never take text from the tree itself: it does not hold what is not ASCII.
    """
    return None if len(source) > MAX_LINE_BYTES else Parser(_bash()).parse(source.translate(_ASCII_TABLE)).root_node


@cache
def _bash() -> Language:
    return Language(language())
