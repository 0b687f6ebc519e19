"""How things look: colours as far as the terminal has them, signs as far as its encoding has them."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from rich.style import Style

from tejat.core.status import ThemeName
from tejat.core.value import value


class Part(StrEnum):
    """What a piece of text is. No part is told by its colour alone."""

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


class Colours(IntEnum):
    """How many the terminal has."""

    NONE = 0
    SIXTEEN = 4
    MANY = 8
    ALL = 24


@value
class Glyphs:
    """Signs, each of one column."""

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
    mark: str = "❯"
    separator: str = "·"
    warning: str = "▲"
    blank: str = "·"


ASCII = Glyphs(
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
    mark=">",
    separator="|",
    warning="!",
    blank=".",
)


@value
class Look:
    colours: Colours = Colours.NONE
    is_dark: bool = True
    glyphs: Glyphs = Glyphs()
    animates: bool = True

    @property
    def is_ascii(self) -> bool:
        return self.glyphs.more.isascii()

    def style(self, part: Part) -> Style:
        """Without colours there are still bold, dim and underlined letters."""
        if self.colours is Colours.NONE:
            return _WITHOUT[part]
        return (_DARK if self.is_dark else _LIGHT)[part]


def find_look(
    environment: Mapping[str, str], *, encoding: str, theme: ThemeName = ThemeName.AUTO, animates: bool = True
) -> Look:
    """What suits this terminal. NO_COLOR and FORCE_COLOR are obeyed, in this order."""
    colours = Colours.NONE if theme is ThemeName.PLAIN else _colours(environment)
    return Look(
        colours=colours,
        is_dark=theme is not ThemeName.LIGHT and (theme is ThemeName.DARK or not _is_light(environment)),
        glyphs=Glyphs() if encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf8mb4") else ASCII,
        animates=animates and not environment.get("TEJAT_NO_ANIMATION"),
    )


def _colours(environment: Mapping[str, str]) -> Colours:
    if environment.get("NO_COLOR"):
        return Colours.NONE
    terminal, forced = environment.get("TERM", ""), environment.get("FORCE_COLOR", "")
    if forced in ("0", "false"):
        return Colours.NONE
    if environment.get("COLORTERM", "") in ("truecolor", "24bit") or forced == "3":
        return Colours.ALL
    if "256color" in terminal or forced == "2":
        return Colours.MANY
    if terminal in ("", "dumb", "unknown") and not forced:
        return Colours.NONE
    return Colours.SIXTEEN


def _is_light(environment: Mapping[str, str]) -> bool:
    """COLORFGBG is the one variable by which terminals tell their background; without it dark is the better guess."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")


def _styles(**colours: str) -> dict[Part, Style]:
    return {part: Style.parse(colours.get(part.value, "none")) for part in Part}


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
_WITHOUT = _styles(**_EMPHASIS)
_DARK = _styles(
    **{
        **_EMPHASIS,
        "good": "green",
        "warning": "yellow",
        "bad": "bold red",
        "accent": "cyan",
        "added": "green",
        "removed": "red",
        "hunk": "cyan",
        "heading": "bold cyan",
        "code": "cyan",
        "link": "underline bright_blue",
        "quote": "italic",
        "prompt": "bold cyan",
        "shell": "bold yellow",
        "risk": "bold yellow",
        "keyword": "magenta",
        "string": "green",
        "number": "yellow",
        "name": "bright_blue",
    }
)
_LIGHT = _styles(
    **{
        **_EMPHASIS,
        "good": "green",
        "warning": "magenta",
        "bad": "bold red",
        "accent": "blue",
        "added": "green",
        "removed": "red",
        "hunk": "blue",
        "heading": "bold blue",
        "code": "blue",
        "link": "underline blue",
        "quote": "italic",
        "prompt": "bold blue",
        "shell": "bold magenta",
        "risk": "bold red",
        "keyword": "magenta",
        "string": "green",
        "number": "red",
        "name": "blue",
    }
)
