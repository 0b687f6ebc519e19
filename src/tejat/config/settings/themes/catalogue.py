"""The themes of Gemini CLI with their colours, read from `themes.json` when one is chosen."""

import os
from collections.abc import Mapping
from functools import cache
from typing import cast

from tejat.core.json_text import load_json
from tejat.core.ui.theme_colours import ThemeColours

_OLD_NAMES = {"vs": "default light", "vs2015": "default"}


@cache
def load_themes() -> Mapping[str, ThemeColours]:
    """Load all themes by name, the dark ones first."""
    with open(os.path.join(os.path.dirname(__file__), "themes.json"), "rb") as file:
        table = cast("Mapping[str, Mapping[str, str]]", load_json(file.read()))
    return {name: _theme(name, entry) for name, entry in table.items()}


def find_named_theme(name: str) -> ThemeColours | None:
    """Find a theme by its name in any case, None if there is none."""
    word = name.strip().lower()
    word = _OLD_NAMES.get(word, word)
    return next((theme for theme in load_themes().values() if theme.name.lower() == word), None)


def _theme(name: str, entry: Mapping[str, str]) -> ThemeColours:
    colours = {role: colour for role, colour in entry.items() if role != "type"}
    return ThemeColours(name, entry["type"] == "dark", **colours)
