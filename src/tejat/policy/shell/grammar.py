"""Bash syntax trees from tree-sitter; the only module that knows the parser."""

from functools import cache

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

__all__ = ["MAX_LINE_BYTES", "Node", "parse_tree"]

MAX_LINE_BYTES = 16 * 1024
"""The parser takes quadratic time for some inputs and cannot be interrupted."""

# The grammar's scanner looks characters up in a table that ends at 255 and may crash beyond. To bash, all of these
# bytes are ordinary letters.
_ASCII_TABLE = bytes(range(128)) + b"x" * 128


def parse_tree(source: bytes) -> Node | None:
    """Return the tree of a line, None if it is too long. Positions are those of `source`.

    Never take text from the tree: non-ASCII bytes are replaced in it.
    """
    return None if len(source) > MAX_LINE_BYTES else Parser(_bash()).parse(source.translate(_ASCII_TABLE)).root_node


@cache
def _bash() -> Language:
    return Language(language())
