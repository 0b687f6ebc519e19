"""Colours of a named theme."""

from tejat.core.frozen import Frozen


class ThemeColours(Frozen):
    """A theme by name. A colour is `#rrggbb`, a basic one such as `red` or `bright_blue`, or empty for the default.

    `is_dark` is None if the theme does not say what background it is made for. `added` and `removed` are backgrounds of
    changed lines; the last six are for code.
    """

    name: str
    is_dark: bool | None
    background: str = ""
    text: str = ""
    secondary: str = ""
    link: str = ""
    accent: str = ""
    success: str = ""
    warning: str = ""
    error: str = ""
    added: str = ""
    removed: str = ""
    keyword: str = ""
    string: str = ""
    number: str = ""
    function: str = ""
    type_name: str = ""
    comment: str = ""
