"""Commands of bare words, read from the syntax tree in one step."""

from functools import lru_cache

from tejat.policy.shell.grammar import Node
from tejat.policy.shell.implicit_eval import may_evaluate
from tejat.policy.shell.plain import RESERVED
from tejat.policy.shell.words import is_bare
from tejat.policy.shell.wrapper_options import DYNAMIC_LINKER
from tejat.policy.shell.wrappers import base_name, is_wrapper

BARE_COMMAND_DEPTH = 2
"""The depth of the tree of such a command: its name is a node with a word in it."""
_WORD_NODES = ("word", "number")


def read_bare_words(node: Node, source: bytes) -> list[str] | None:
    """Return the words of a command node, None unless all are bare and have single blanks between them.

    The words are those of the tree. They are leaves without expansions, so that none has to be visited.
    """
    texts: list[str] = []
    at = node.start_byte
    for child in node.children:
        start, end = child.start_byte, child.end_byte
        kind = child.type
        if kind == "command_name" and child.child_count == 1:
            name = child.children[0]
            kind = name.type if name.start_byte == start and name.end_byte == end else ""
            is_leaf = not name.child_count
        else:
            is_leaf = not child.child_count
        if kind not in _WORD_NODES or not is_leaf or source[at:start] != (b" " if texts else b""):
            return None
        text = source[start:end].decode("utf-8", "surrogateescape")
        if not is_bare(text):
            return None
        texts.append(text)
        at = end
    return texts if at == node.end_byte else None


@lru_cache(maxsize=1024)
def is_ordinary_name(name: str) -> bool:
    """Return whether commands of this name run no other command and evaluate nothing."""
    base = base_name(name)
    is_special = name in RESERVED or may_evaluate(name) or is_wrapper(base) or DYNAMIC_LINKER.match(base) is not None
    return not is_special
