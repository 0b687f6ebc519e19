"""Rendering of rich renderables to cells or ANSI text. Everything is sanitized here."""

from collections.abc import Iterator
from functools import lru_cache
from io import StringIO

from rich.color import Color, ColorSystem
from rich.console import Console, ConsoleOptions, RenderableType
from rich.style import Style
from rich.text import Text

from tejat.ui.shared.text.sanitizer import make_terminal_safe
from tejat.ui.terminal.render.cells import CellRow, split_cells, to_ascii
from tejat.ui.terminal.render.theme import ColourDepth, Theme


def render_rows(renderable: RenderableType, theme: Theme, *, width: int) -> list[CellRow]:
    """Render to rows of at most `width` columns. Wider lines continue in the next row."""
    rows: list[CellRow] = []
    for line in _lines(renderable, theme, width):
        row: CellRow = []
        used = 0
        for text, style in line:
            for cell in split_cells(text, _cell_style(style, theme.colour_depth)):
                if used + cell.width > width and row:
                    rows.append(row)
                    row, used = [], 0
                row.append(cell)
                used += cell.width
        rows.append(row)
    return rows


def render_texts(renderable: RenderableType, theme: Theme, *, width: int) -> list[Text]:
    """Render to one text for each line."""
    lines = _lines(renderable, theme, width)
    return [Text.assemble(*((text, style or "") for text, style in line), end="", no_wrap=True) for line in lines]


def render_ansi(renderable: RenderableType, theme: Theme, *, width: int) -> str:
    """Render to lines with colour codes that are reset before each newline, without trailing blanks.

    Wider lines are left to the terminal to wrap, so that long lines of code and URLs can be copied in one piece.
    """
    text = "".join(f"{_to_ansi(line, theme.colour_depth)}\n" for line in _lines(renderable, theme, width))
    return to_ascii(text) if theme.is_ascii else text


_Line = list[tuple[str, Style | None]]


def _lines(renderable: RenderableType, theme: Theme, width: int) -> Iterator[_Line]:
    """Yield sanitized text with its style, line by line."""
    line: _Line = []
    console = _console()
    for text, style, control in console.render(renderable, _options(console, theme, max(width, 1))):
        if control:
            continue
        first, *others = (text if text.isascii() and text.isprintable() else make_terminal_safe(text)).split("\n")
        if first:
            line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)] if other else []
    if line:
        yield line


@lru_cache(1)
def _console() -> Console:
    """Return a console that writes nowhere and ignores the environment."""
    return Console(
        file=StringIO(),
        color_system="truecolor",
        force_terminal=True,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        width=80,
        height=25,
        _environ={},
    )


def _options(console: Console, theme: Theme, width: int) -> ConsoleOptions:
    options = console.options.update(width=width)
    options.encoding = "ascii" if theme.is_ascii else "utf-8"
    return options


def _to_ansi(line: _Line, colour_depth: ColourDepth) -> str:
    """Render with as few codes as possible: blanks take the style before them unless that would show."""
    parts: list[str] = []
    current, current_shows = "", False
    blanks = ""
    for text, style in line:
        codes, shows = _codes(style, colour_depth)
        words = text if shows else text.rstrip(" ")
        if not words and not current_shows:
            blanks += text
            continue
        parts.append(blanks)
        if codes != current:
            reset = "0;" if current and codes else "0" if current else ""
            parts.append(f"\x1b[{reset}{codes}m")
            current, current_shows = codes, shows
        parts.append(words)
        blanks = text[len(words) :]
    if current:
        parts.append("\x1b[0m")
    return "".join(parts)


_ATTRIBUTES = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))


@lru_cache(1024)
def _codes(style: Style | None, colour_depth: ColourDepth) -> tuple[str, bool]:
    """Return the SGR parameters of a style, and whether it is visible on blanks. Links are left out."""
    if not style:
        return "", False
    codes = [code for name, code in _ATTRIBUTES if getattr(style, name)]
    foreground, background = _downgrade(style.color, colour_depth), _downgrade(style.bgcolor, colour_depth)
    if foreground:
        codes += foreground.get_ansi_codes(foreground=True)
    if background:
        codes += background.get_ansi_codes(foreground=False)
    return ";".join(codes), bool(background or style.reverse or style.underline or style.strike)


@lru_cache(1024)
def _cell_style(style: Style | None, colour_depth: ColourDepth) -> str:
    """Return the style in prompt_toolkit's syntax."""
    if not style:
        return ""
    words = [name for name, _ in _ATTRIBUTES if getattr(style, name)]
    for prefix, colour in (("", style.color), ("bg:", style.bgcolor)):
        found = _downgrade(colour, colour_depth)
        if found:
            words.append(prefix + _colour_name(found))
    return " ".join(words)


def _downgrade(colour: Color | None, colour_depth: ColourDepth) -> Color | None:
    if colour is None or colour.is_default or colour_depth is ColourDepth.NONE:
        return None
    return colour.downgrade(color_system(colour_depth))


def _colour_name(colour: Color) -> str:
    if colour.number is not None and colour.number < len(_COLOUR_NAMES):
        return _COLOUR_NAMES[colour.number]
    return colour.get_truecolor().hex


def color_system(colour_depth: ColourDepth) -> ColorSystem:
    """Return rich's name for a depth that has colours."""
    return _SYSTEMS[colour_depth]


_SYSTEMS = {
    ColourDepth.ANSI_16: ColorSystem.STANDARD,
    ColourDepth.ANSI_256: ColorSystem.EIGHT_BIT,
    ColourDepth.TRUE_COLOUR: ColorSystem.TRUECOLOR,
}
_DARK_NAMES = ("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray")
_BRIGHT_NAMES = ("red", "green", "yellow", "blue", "magenta", "cyan")
_COLOUR_NAMES = (*_DARK_NAMES, "ansibrightblack", *(f"ansibright{name}" for name in _BRIGHT_NAMES), "ansiwhite")
