"""Themes: colours and glyphs that the terminal supports."""

from collections.abc import Mapping
from enum import IntEnum

from rich.style import Style

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.status import Preferences, ThemeName
from tejat.core.ui.theme_colours import ThemeColours


class StyleRole(StrEnum):
    """Semantic role of a text. Colour never carries meaning alone."""

    TEXT = "text"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    ACCENT = "accent"
    ADDED = "added"
    REMOVED = "removed"
    ADDED_LINE = "added_line"
    REMOVED_LINE = "removed_line"
    ADDED_WORD = "added_word"
    REMOVED_WORD = "removed_word"
    HUNK = "hunk"
    HEADING = "heading"
    CODE = "code"
    LINK = "link"
    QUOTE = "quote"
    PROMPT = "prompt"
    SHELL = "shell"
    QUEUED = "queued"
    STATUS = "status"
    SELECTED = "selected"
    RISK = "risk"
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    NAME = "name"
    TYPE = "type"
    COMMENT = "comment"


class ColourDepth(IntEnum):
    """Number of colours the terminal supports."""

    NONE = 0
    ANSI_16 = 4
    ANSI_256 = 8
    TRUE_COLOUR = 24


class Glyphs(Frozen):
    """Symbols of one column each."""

    ok: str = "✓"
    failed: str = "✗"
    denied: str = "⊘"
    cancelled: str = "■"
    timed_out: str = "◷"
    running: str = "●"
    waiting: str = "○"
    prompt: str = ">"
    shell: str = "!"
    bullet: str = "•"
    more: str = "…"
    bar: str = "│"
    rule: str = "─"
    cross: str = "┼"
    corner: str = "└"
    arrow: str = "→"
    wrapped: str = "↪"
    cursor: str = "❯"
    separator: str = "·"
    warning: str = "▲"
    blank: str = "·"


ASCII_GLYPHS = Glyphs(
    ok="+",
    failed="x",
    denied="-",
    cancelled="#",
    timed_out="%",
    running="*",
    waiting="o",
    bullet="*",
    more="~",
    bar="|",
    rule="-",
    cross="+",
    corner="-",
    arrow=">",
    wrapped="\\",
    cursor=">",
    separator="|",
    warning="!",
    blank=".",
)


class Palette(Frozen, eq=False):
    """Styles for a dark or a light background: in true colour, in 256 colours and in the 16 basic ones.

    With the basic colours, changed lines have no background, since nobody knows what it looks like.
    """

    is_dark: bool
    full: Mapping[StyleRole, Style]
    cube: Mapping[StyleRole, Style]
    basic: Mapping[StyleRole, Style]


class Theme(Frozen):
    """What the terminal can show and the user wants. Without a palette, the default one for the background is used."""

    colour_depth: ColourDepth = ColourDepth.NONE
    is_dark: bool = True
    glyphs: Glyphs = Glyphs()
    animates: bool = True
    palette: Palette | None = None
    uses_backgrounds: bool = True
    shows_line_numbers: bool = True

    @property
    def continuation(self) -> str:
        """The prefix of the continuation rows of a wrapped line. Unlike a bar, it cannot be taken for a pipe."""
        return f"{self.glyphs.wrapped} "

    @property
    def is_ascii(self) -> bool:
        return self.glyphs.more.isascii()

    @property
    def has_backgrounds(self) -> bool:
        """Whether changed lines have coloured backgrounds."""
        return self.uses_backgrounds and self.colour_depth >= ColourDepth.ANSI_256

    @property
    def has_colours(self) -> bool:
        return self.colour_depth is not ColourDepth.NONE

    def style(self, role: StyleRole) -> Style:
        """Return the style of a role. Without colours bold, dim and underline remain."""
        if self.colour_depth is ColourDepth.NONE:
            return _MONOCHROME[role]
        palette = self.palette or default_palette(is_dark=self.is_dark)
        if self.colour_depth is ColourDepth.ANSI_16:
            return palette.basic[role]
        styles = palette.full if self.colour_depth is ColourDepth.TRUE_COLOUR else palette.cube
        if not self.uses_backgrounds and (plain := _WITHOUT_BACKGROUND.get(role)) is not None:
            return styles[plain[0]] + plain[1]
        return styles[role]


_DEFAULT_PREFERENCES = Preferences()


def detect_theme(
    environment: Mapping[str, str],
    *,
    encoding: str,
    preferences: Preferences = _DEFAULT_PREFERENCES,
    is_dark: bool | None = None,
) -> Theme:
    """Detect the theme for this terminal, honouring NO_COLOR and FORCE_COLOR in this order.

    `is_dark` is what the terminal said about its background, None if it said nothing.
    """
    name, colours = preferences.theme, preferences.colours
    has_dark_background = is_dark if is_dark is not None else not has_light_background(environment)
    shows_dark = name is ThemeName.DARK or (name is not ThemeName.LIGHT and has_dark_background)
    return Theme(
        colour_depth=ColourDepth.NONE if name is ThemeName.PLAIN else _detect_colour_depth(environment),
        is_dark=shows_dark,
        glyphs=Glyphs() if encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf8mb4") else ASCII_GLYPHS,
        animates=preferences.animations and not environment.get("TEJAT_NO_ANIMATION"),
        palette=None if colours is None else _named_palette(colours, is_dark=shows_dark),
        uses_backgrounds=preferences.uses_backgrounds,
        shows_line_numbers=preferences.shows_line_numbers,
    )


def default_palette(*, is_dark: bool) -> Palette:
    """Return our own palette for a background."""
    return _DARK if is_dark else _LIGHT


def _named_palette(colours: ThemeColours, *, is_dark: bool) -> Palette:
    # Imported late: most people have no such theme.
    from tejat.ui.terminal.render.palettes.named_palette import build_palette

    return build_palette(colours, is_dark=is_dark)


def _detect_colour_depth(environment: Mapping[str, str]) -> ColourDepth:
    if environment.get("NO_COLOR"):
        return ColourDepth.NONE
    terminal, forced = environment.get("TERM", ""), environment.get("FORCE_COLOR", "")
    if forced in ("0", "false"):
        return ColourDepth.NONE
    if environment.get("COLORTERM", "") in ("truecolor", "24bit") or forced == "3":
        return ColourDepth.TRUE_COLOUR
    if "256color" in terminal or forced == "2":
        return ColourDepth.ANSI_256
    if terminal in ("", "dumb", "unknown") and not forced:
        return ColourDepth.NONE
    return ColourDepth.ANSI_16


def has_light_background(environment: Mapping[str, str]) -> bool:
    """Read COLORFGBG, the only variable for it. Without it, dark is the better guess."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")


def build_styles(*tables: Mapping[str, str]) -> dict[StyleRole, Style]:
    """Build the styles of all roles; later tables win. Roles that none of them names have no style."""
    merged = {role: style for table in tables for role, style in table.items()}
    return {role: Style.parse(merged.get(role.value, "none")) for role in StyleRole}


_EMPHASIS = {
    "strong": "bold",
    "heading": "bold",
    "link": "underline",
    "prompt": "bold",
    "shell": "bold",
    "selected": "reverse",
    "risk": "bold",
    "bad": "bold",
    "warning": "bold",
    "quote": "italic",
}
_DIM = {"quiet": "dim", "queued": "dim", "status": "dim", "comment": "dim"}
_UNDERLINED = {"added_word": "bold underline", "removed_word": "bold underline"}

_MONOCHROME = build_styles(_EMPHASIS, _DIM, _UNDERLINED, {"quote": "none"})

_BASIC_DARK = {
    "good": "green",
    "warning": "yellow",
    "bad": "bold red",
    "accent": "cyan",
    "added": "green",
    "removed": "red",
    "added_line": "green",
    "removed_line": "red",
    "added_word": "green reverse",
    "removed_word": "red reverse",
    "hunk": "cyan",
    "heading": "bold cyan",
    "code": "cyan",
    "link": "underline bright_blue",
    "prompt": "bold cyan",
    "shell": "bold yellow",
    "risk": "bold yellow",
    "keyword": "magenta",
    "string": "green",
    "number": "yellow",
    "name": "bright_blue",
    "type": "cyan",
}
_BASIC_LIGHT = _BASIC_DARK | {
    "warning": "magenta",
    "accent": "blue",
    "hunk": "blue",
    "heading": "bold blue",
    "code": "blue",
    "link": "underline blue",
    "prompt": "bold blue",
    "shell": "bold magenta",
    "risk": "bold red",
    "number": "red",
    "name": "blue",
    "type": "blue",
}
# Colours of the 256-colour cube, except for the backgrounds, so that both depths look the same.
_FULL_DARK = {
    "quiet": "#9e9e9e",
    "good": "#87d787",
    "warning": "#ffd75f",
    "bad": "bold #ff8787",
    "accent": "#87d7ff",
    "added": "#87d787",
    "removed": "#ff8787",
    "added_line": "#e4e4e4 on #17361f",
    "removed_line": "#e4e4e4 on #4a2024",
    "added_word": "#ffffff on #2b6a39",
    "removed_word": "#ffffff on #8a343b",
    "hunk": "#87afff",
    "heading": "bold #87d7ff",
    "code": "#87d7d7",
    "link": "underline #87afff",
    "prompt": "bold #87d7ff",
    "shell": "bold #ffd75f",
    "queued": "#9e9e9e",
    "status": "#9e9e9e",
    "risk": "bold #ffaf5f",
    "keyword": "#d7afff",
    "string": "#afd787",
    "number": "#ffaf87",
    "name": "#87d7ff",
    "type": "#87d7d7",
    "comment": "#9e9e9e",
}
_FULL_LIGHT = {
    "quiet": "#6c6c6c",
    "good": "#005f00",
    "warning": "#875f00",
    "bad": "bold #af0000",
    "accent": "#005faf",
    "added": "#005f00",
    "removed": "#af0000",
    "added_line": "#262626 on #dafbe1",
    "removed_line": "#262626 on #ffe8e6",
    "added_word": "#000000 on #9fe8b0",
    "removed_word": "#000000 on #ffbcb6",
    "hunk": "#005faf",
    "heading": "bold #005faf",
    "code": "#005f87",
    "link": "underline #005faf",
    "prompt": "bold #005faf",
    "shell": "bold #875f00",
    "queued": "#6c6c6c",
    "status": "#6c6c6c",
    "risk": "bold #af0000",
    "keyword": "#8700af",
    "string": "#005f00",
    "number": "#af0000",
    "name": "#005faf",
    "type": "#005f87",
    "comment": "#6c6c6c",
}
# The nearest colours of the cube would have another hue.
_CUBE_DARK = {"added_word": "#ffffff on #008700", "removed_word": "#ffffff on #870000"}
_CUBE_LIGHT = {"added_word": "#000000 on #87ff87", "removed_word": "#000000 on #ffafaf"}
_DARK = Palette(
    is_dark=True,
    full=build_styles(_EMPHASIS, _FULL_DARK),
    cube=build_styles(_EMPHASIS, _FULL_DARK, _CUBE_DARK),
    basic=build_styles(_EMPHASIS, _DIM, _BASIC_DARK),
)
_LIGHT = Palette(
    is_dark=False,
    full=build_styles(_EMPHASIS, _FULL_LIGHT),
    cube=build_styles(_EMPHASIS, _FULL_LIGHT, _CUBE_LIGHT),
    basic=build_styles(_EMPHASIS, _DIM, _BASIC_LIGHT),
)
_EMPHASIZED = Style.parse("bold underline")
# The role and the emphasis that take the place of a background.
_WITHOUT_BACKGROUND = {
    StyleRole.ADDED_LINE: (StyleRole.ADDED, Style.null()),
    StyleRole.REMOVED_LINE: (StyleRole.REMOVED, Style.null()),
    StyleRole.ADDED_WORD: (StyleRole.ADDED, _EMPHASIZED),
    StyleRole.REMOVED_WORD: (StyleRole.REMOVED, _EMPHASIZED),
}
