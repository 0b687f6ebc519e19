"""Colours as people write them in settings."""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import cast

from tejat.core.json_text import load_json

_HEX = re.compile(r"#?(?:([0-9a-f]{6})|([0-9a-f]{3}))")
_BASIC = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_BASIC_NAMES = {
    **{name: name for name in _BASIC},
    **{f"{name}bright": f"bright_{name}" for name in _BASIC},
    "gray": "bright_black",
    "grey": "bright_black",
}
"""The names that Gemini CLI gives to the colours of the terminal itself."""

_MEDIUM_BRIGHTNESS = 127.5


def parse_colour(text: str) -> str | None:
    """Return `#rrggbb` for hex digits or a CSS name, or the name of a basic colour. None if it is no colour."""
    word = text.strip().lower()
    if word in _BASIC_NAMES:
        return _BASIC_NAMES[word]
    digits = _HEX.fullmatch(word)
    if digits is None:
        return _css_colours().get(word)
    return f"#{digits[1] or ''.join(digit * 2 for digit in digits[2])}"


def is_dark_colour(colour: str) -> bool | None:
    """Return whether a parsed colour is rather dark, None if there is no colour."""
    if not colour.startswith("#"):
        return None if not colour else colour not in ("white", "bright_white")
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue <= _MEDIUM_BRIGHTNESS


@cache
def _css_colours() -> Mapping[str, str]:
    with open(os.path.join(os.path.dirname(__file__), "css_colours.json"), "rb") as file:
        return cast("Mapping[str, str]", load_json(file.read()))
