"""Palettes of named themes, with readable tints and what fewer colours leave of them."""

from collections.abc import Callable
from functools import lru_cache

from rich.color import Color, ColorSystem
from rich.style import Style

from tejat.core.ui.theme_colours import ThemeColours
from tejat.ui.terminal.render.palettes.colours import blend, nearest_ansi, readable_on
from tejat.ui.terminal.render.theme import Palette, StyleRole, default_palette

_QUIET_CONTRAST = 3.0
"""Least contrast of grey text with the background that its theme is made for."""
_WORD_SHARE = 0.3
"""Share of the colour of success or error in the background of changed words."""

# The colour of each role; those that are not here keep their default.
_FOREGROUNDS: dict[StyleRole, Callable[[ThemeColours], str]] = {
    StyleRole.QUIET: lambda theme: theme.secondary,
    StyleRole.QUEUED: lambda theme: theme.secondary,
    StyleRole.STATUS: lambda theme: theme.secondary,
    StyleRole.GOOD: lambda theme: theme.success,
    StyleRole.WARNING: lambda theme: theme.warning,
    StyleRole.BAD: lambda theme: theme.error,
    StyleRole.ACCENT: lambda theme: theme.accent,
    StyleRole.ADDED: lambda theme: theme.success,
    StyleRole.REMOVED: lambda theme: theme.error,
    StyleRole.HUNK: lambda theme: theme.link,
    StyleRole.HEADING: lambda theme: theme.accent,
    StyleRole.CODE: lambda theme: theme.link,
    StyleRole.LINK: lambda theme: theme.link,
    StyleRole.PROMPT: lambda theme: theme.accent,
    StyleRole.SHELL: lambda theme: theme.warning,
    StyleRole.RISK: lambda theme: theme.warning,
    StyleRole.KEYWORD: lambda theme: theme.keyword,
    StyleRole.STRING: lambda theme: theme.string,
    StyleRole.NUMBER: lambda theme: theme.number,
    StyleRole.NAME: lambda theme: theme.function,
    StyleRole.TYPE: lambda theme: theme.type_name,
    StyleRole.COMMENT: lambda theme: theme.comment,
}
_QUIET_ROLES = (StyleRole.QUIET, StyleRole.QUEUED, StyleRole.STATUS, StyleRole.COMMENT)


@lru_cache(64)
def build_palette(colours: ThemeColours, *, is_dark: bool) -> Palette:
    """Build the palette of a theme. Colours that it leaves out are those of the default one."""
    default = default_palette(is_dark=is_dark)
    full, basic = dict(default.full), dict(default.basic)
    for role, find in _FOREGROUNDS.items():
        if not (given := find(colours)):
            continue
        colour = Color.parse(given)
        full[role] = _recolour(default.full[role], _quiet_tint(colour, colours) if role in _QUIET_ROLES else colour)
        name = nearest_ansi(colour, is_dark=is_dark)
        if name and role not in _QUIET_ROLES:
            basic[role] = _recolour(default.basic[role], Color.parse(name))
    line_roles = (
        (StyleRole.ADDED_LINE, StyleRole.ADDED_WORD, colours.added, colours.success),
        (StyleRole.REMOVED_LINE, StyleRole.REMOVED_WORD, colours.removed, colours.error),
    )
    for line, word, background, strong in line_roles:
        if background:
            full[line], full[word] = _change_styles(default, line, background, strong, colours.text)
    return Palette(is_dark=is_dark, full=full, cube=_cube(full, default), basic=basic)


def _recolour(style: Style, colour: Color) -> Style:
    return style + Style(color=colour)


def _quiet_tint(colour: Color, colours: ThemeColours) -> Color:
    if not colours.background.startswith("#"):
        return colour
    background = Color.parse(colours.background)
    return readable_on(background, colour, ColorSystem.TRUECOLOR, min_contrast=_QUIET_CONTRAST)


def _change_styles(default: Palette, line: StyleRole, background: str, strong: str, text: str) -> tuple[Style, Style]:
    """Return the styles of changed lines and of changed words in them."""
    behind = Color.parse(background)
    accent = Color.parse(strong) if strong else default.full[line].color or Color.parse("white")
    marked = Color.from_triplet(blend(behind.get_truecolor(), accent.get_truecolor(), _WORD_SHARE))
    foreground = Color.parse(text) if text else default.full[line].color or Color.parse("white")
    system = ColorSystem.TRUECOLOR
    return (
        Style(color=readable_on(behind, foreground, system), bgcolor=behind),
        Style(color=readable_on(marked, foreground, system), bgcolor=marked),
    )


def _cube(full: dict[StyleRole, Style], default: Palette) -> dict[StyleRole, Style]:
    """Return the styles for 256 colours: marked words keep a background of their own."""
    cube = dict(full)
    for line, word in (
        (StyleRole.ADDED_LINE, StyleRole.ADDED_WORD),
        (StyleRole.REMOVED_LINE, StyleRole.REMOVED_WORD),
    ):
        if _in_cube(full[line]) == _in_cube(full[word]):
            cube[word] = default.cube[word]
            if _in_cube(full[line]) == _in_cube(cube[word]):
                cube[line] = default.cube[line]
    return cube


def _in_cube(style: Style) -> int | None:
    return style.bgcolor.downgrade(ColorSystem.EIGHT_BIT).number if style.bgcolor else None
