"""About how many tokens a text has, where nobody has counted them."""

from typing import TYPE_CHECKING

from tejat.core.json_text import dump_json

if TYPE_CHECKING:
    from tejat.core.tools.base import FunctionDeclaration

_CHARACTERS_PER_TOKEN = 4


def estimate_text_tokens(text: str) -> int:
    """Four characters of ASCII are a token, any other character is one."""
    if text.isascii():
        return -(-len(text) // _CHARACTERS_PER_TOKEN)
    plain = len(text.encode("ascii", "ignore"))
    return len(text) - plain + -(-plain // _CHARACTERS_PER_TOKEN)


def estimate_declaration_tokens(declaration: "FunctionDeclaration") -> int:
    """What it costs to tell a model of a tool, in every request."""
    return estimate_text_tokens(dump_json(declaration.to_json()))
