"""About how many tokens a text has, where nobody has counted them."""

from typing import TYPE_CHECKING

from tejat.core.json_text import dump_json

if TYPE_CHECKING:
    from tejat.core.tool import FunctionDeclaration

_CHARACTERS_A_TOKEN = 4


def estimate_text(text: str) -> int:
    """Four characters of ASCII are a token, any other character is one."""
    if text.isascii():
        return -(-len(text) // _CHARACTERS_A_TOKEN)
    plain = len(text.encode("ascii", "ignore"))
    return len(text) - plain + -(-plain // _CHARACTERS_A_TOKEN)


def estimate_declaration(declaration: "FunctionDeclaration") -> int:
    """What it costs to tell a model of a tool, in every request."""
    return estimate_text(dump_json(declaration.to_json()))
