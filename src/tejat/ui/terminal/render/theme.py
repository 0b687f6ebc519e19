"""Themes: colours and glyphs that the terminal supports."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from rich.style import Style

from tejat.core.frozen import frozen
from tejat.core.ui.status import ThemeName


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


class ColourDepth(IntEnum):
    """Number of colours the terminal supports."""

    NONE = 0
    ANSI_16 = 4
    ANSI_256 = 8
    TRUE_COLOUR = 24


@frozen
class Glyphs:
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
    arrow: str = "→"
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
    arrow=">",
    cursor=">",
    separator="|",
    warning="!",
    blank=".",
)


@frozen
class Theme:
    colour_depth: ColourDepth = ColourDepth.NONE
    is_dark: bool = True
    glyphs: Glyphs = Glyphs()
    animates: bool = True

    @property
    def is_ascii(self) -> bool:
        return self.glyphs.more.isascii()

    def style(self, role: StyleRole) -> Style:
        """Return the style of a role. Without colours bold, dim and underline remain."""
        if self.colour_depth is ColourDepth.NONE:
            return _MONOCHROME[role]
        return (_DARK if self.is_dark else _LIGHT)[role]


def detect_theme(
    environment: Mapping[str, str], *, encoding: str, theme_name: ThemeName = ThemeName.AUTO, animates: bool = True
) -> Theme:
    """Detect the theme for this terminal, honouring NO_COLOR and FORCE_COLOR in this order."""
    colour_depth = ColourDepth.NONE if theme_name is ThemeName.PLAIN else _detect_colour_depth(environment)
    return Theme(
        colour_depth=colour_depth,
        is_dark=theme_name is not ThemeName.LIGHT
        and (theme_name is ThemeName.DARK or not _has_light_background(environment)),
        glyphs=Glyphs() if encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf8mb4") else ASCII_GLYPHS,
        animates=animates and not environment.get("TEJAT_NO_ANIMATION"),
    )


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


def _has_light_background(environment: Mapping[str, str]) -> bool:
    """Read COLORFGBG, the only variable that tells the background; dark is the better guess without it."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")


def _styles(colours: Mapping[str, str]) -> dict[StyleRole, Style]:
    return {part: Style.parse(colours.get(part.value, "none")) for part in StyleRole}


_EMPHASIS = {
    "strong": "bold",
    "quiet": "dim",
    "heading": "bold",
    "link": "underline",
    "prompt": "bold",
    "shell": "bold",
    "queued": "dim",
    "status": "dim",
    "selected": "reverse",
    "risk": "bold",
    "bad": "bold",
    "warning": "bold",
}
# On a dark and on a light background.
_COLOURS = {
    "good": ("green", "green"),
    "warning": ("yellow", "magenta"),
    "bad": ("bold red", "bold red"),
    "accent": ("cyan", "blue"),
    "added": ("green", "green"),
    "removed": ("red", "red"),
    "hunk": ("cyan", "blue"),
    "heading": ("bold cyan", "bold blue"),
    "code": ("cyan", "blue"),
    "link": ("underline bright_blue", "underline blue"),
    "quote": ("italic", "italic"),
    "prompt": ("bold cyan", "bold blue"),
    "shell": ("bold yellow", "bold magenta"),
    "risk": ("bold yellow", "bold red"),
    "keyword": ("magenta", "magenta"),
    "string": ("green", "green"),
    "number": ("yellow", "red"),
    "name": ("bright_blue", "blue"),
}
_MONOCHROME = _styles(_EMPHASIS)
_DARK = _styles(_EMPHASIS | {role: dark for role, (dark, _) in _COLOURS.items()})
_LIGHT = _styles(_EMPHASIS | {role: light for role, (_, light) in _COLOURS.items()})
