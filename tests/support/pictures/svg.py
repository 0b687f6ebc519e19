"""Screens of a terminal as SVG: exact to the cell, with selectable text and nothing loaded from elsewhere."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from wcwidth import wcswidth

from support.pictures.box_drawing import draw, is_block, is_drawn, is_heavy, num
from support.pictures.palette import Palette
from support.terminal.emulator import Cell, TerminalEmulator

CELL_WIDTH, CELL_HEIGHT = 8.4, 18.0
FONT_SIZE = 14
BASELINE = 13.5
PADDING = 14.0
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
NAMESPACE = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Screen:
    """The rows of a terminal at one moment; `cursor` is its column and row where it is visible."""

    rows: tuple[tuple[Cell, ...], ...]
    cursor: tuple[int, int] | None = None

    @property
    def columns(self) -> int:
        return len(self.rows[0])

    def text(self) -> list[str]:
        """The text of each row, without trailing blanks."""
        return ["".join(cell.text for cell in row).rstrip() for row in self.rows]


def take_screen(terminal: TerminalEmulator) -> Screen:
    """The screen as it is now."""
    cursor = terminal.cursor if terminal.is_cursor_visible else None
    return Screen(tuple(tuple(line) for line in terminal.grid), cursor)


@dataclass
class StyleClasses:
    """Class names for the styles that a picture uses."""

    palette: Palette
    names: dict[str, str] = field(default_factory=dict[str, str])

    def class_for(self, declarations: str) -> str:
        return self.names.setdefault(declarations, f"s{len(self.names)}")

    def render(self) -> str:
        rules = "".join(f".{name}{{{declarations}}}" for declarations, name in self.names.items())
        return f"text{{font:{FONT_SIZE}px {FONTS};white-space:pre;fill:{self.palette.foreground}}}{rules}"


def render_screen(screen: Screen, palette: Palette, *, title: str) -> str:
    """The screen as an SVG document; `title` says what it shows."""
    styles = StyleClasses(palette)
    rows = [render_row(row, styles, number * CELL_HEIGHT) for number, row in enumerate(screen.rows)]
    body = "\n".join(filter(None, [*rows, render_cursor(screen, palette)]))
    return document(body, styles.render(), palette, columns=screen.columns, rows=len(screen.rows), title=title)


def document(body: str, style: str, palette: Palette, *, columns: int, rows: int, title: str) -> str:
    """The frame around the contents of a picture."""
    width, height = columns * CELL_WIDTH + 2 * PADDING, rows * CELL_HEIGHT + 2 * PADDING
    size = f'width="{num(width)}" height="{num(height)}"'
    frame = f'width="{num(width - 1)}" height="{num(height - 1)}" fill="{palette.background}" stroke="{palette.border}"'
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(width)} {num(height)}" {size} role="img">
<title>{escape(title)}</title>
<style>{style}</style>
<rect x=".5" y=".5" rx="8" {frame}/>
<g transform="translate({num(PADDING)} {num(PADDING)})" xml:space="preserve">
{body}
</g>
</svg>
"""


def render_row(row: Sequence[Cell], styles: StyleClasses, y: float = 0.0) -> str:
    """A row with its top at `y`: backgrounds, then shapes, then text."""
    backgrounds: list[str] = []
    shapes: list[str] = []
    texts: list[str] = []
    for column, cells in _runs(row):
        foreground, background = styles.palette.colours_of(cells[0].style)
        x, width = column * CELL_WIDTH, sum(cell.width for cell in cells) * CELL_WIDTH
        if background:
            backgrounds.append(_rectangle(x, y, width, background))
        text = "".join(cell.text for cell in cells)
        if cells[0].style.conceal or not (text.strip() or cells[0].style.underline or cells[0].style.strike):
            continue
        if is_drawn(text[0]):
            shapes.append(_shape(text, x, y, foreground))
            texts.append(_text(text, x, y, width, styles.class_for("fill:none")))
        else:
            texts.append(_text(text, x, y, width, _text_class(cells[0], foreground, styles)))
    return "".join([*backgrounds, *shapes, *texts])


def render_cursor(screen: Screen, palette: Palette) -> str:
    if screen.cursor is None:
        return ""
    column, row = screen.cursor
    return (
        f'<rect x="{num(column * CELL_WIDTH)}" y="{num(row * CELL_HEIGHT)}" width="{num(CELL_WIDTH)}" '
        f'height="{num(CELL_HEIGHT)}" fill="{palette.foreground}" fill-opacity=".6"/>'
    )


def read_text(picture: str) -> list[str]:
    """The rows of text in a picture that `render_screen` made, without trailing blanks and empty rows at the end."""
    return read_rows(ET.fromstring(picture))


def read_rows(root: ET.Element) -> list[str]:
    """The rows of text below this element."""
    rows: dict[int, dict[int, str]] = {}
    for text in root.iter(f"{NAMESPACE}text"):
        row = round((float(text.get("y", "0")) - BASELINE) / CELL_HEIGHT)
        rows.setdefault(row, {})[round(float(text.get("x", "0")) / CELL_WIDTH)] = text.text or ""
    return [_place(rows.get(row, {})) for row in range(max(rows, default=-1) + 1)]


def _place(parts: dict[int, str]) -> str:
    line = ""
    for column, text in sorted(parts.items()):
        line += " " * (column - wcswidth(line)) + text
    return line.rstrip()


def _runs(row: Sequence[Cell]) -> list[tuple[int, list[Cell]]]:
    """Cells that are drawn together, with the column of the first.

    Shapes, wide characters and those that a font may lack stand alone, so that the text after them keeps its place.
    """
    found: list[tuple[int, list[Cell]]] = []
    column = 0
    for _, cells in groupby(enumerate(cell for cell in row if cell.width), key=lambda pair: _kind(*pair)):
        run = [cell for _place, cell in cells]
        found.append((column, run))
        column += sum(cell.width for cell in run)
    return found


def _kind(place: int, cell: Cell) -> tuple[object, ...]:
    if is_drawn(cell.text):
        return cell.style, "shape", cell.text
    if not cell.text.isascii():
        return cell.style, "alone", place
    return cell.style, "text", ""


def _text_class(cell: Cell, foreground: str, styles: StyleClasses) -> str:
    style = cell.style
    declarations = [f"fill:{foreground}"] if foreground != styles.palette.foreground else []
    declarations += ["font-weight:bold"] if style.bold else []
    declarations += ["fill-opacity:.6"] if style.dim else []
    declarations += ["font-style:italic"] if style.italic else []
    lines = " ".join(name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on)
    declarations += [f"text-decoration:{lines}"] if lines else []
    return styles.class_for(";".join(declarations)) if declarations else ""


def _text(text: str, x: float, y: float, width: float, name: str) -> str:
    """A text that takes exactly this width. Blanks around it are left out unless a line is drawn under them."""
    shown = text.rstrip(" ")
    left = len(shown) - len(shown.lstrip(" "))
    if shown.strip():
        x, width = x + left * CELL_WIDTH, width - (left + len(text) - len(shown)) * CELL_WIDTH
        text = shown[left:]
    attributes = f'x="{num(x)}" y="{num(y + BASELINE)}" textLength="{num(width)}"'
    if not text.isascii():
        attributes += ' lengthAdjust="spacingAndGlyphs"'
    if name:
        attributes += f' class="{name}"'
    return f"<text {attributes}>{escape(text, quote=False)}</text>"


def _shape(text: str, x: float, y: float, colour: str) -> str:
    character = text[0]
    if character in "─━" or (is_block(character) and character in "█▀▄▁▂▃▅▆▇▔"):
        path = draw(character, x, y, CELL_WIDTH * len(text), CELL_HEIGHT)
    else:
        path = "".join(draw(character, x + at * CELL_WIDTH, y, CELL_WIDTH, CELL_HEIGHT) for at in range(len(text)))
    if is_block(character):
        return f'<path d="{path}" fill="{colour}"/>'
    thick = 2.4 if is_heavy(character) else 1.2
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'


def _rectangle(x: float, y: float, width: float, colour: str) -> str:
    """A background, a little larger than its cells so that no seam shows between neighbours."""
    size = f'width="{num(width + 0.1)}" height="{num(CELL_HEIGHT + 0.1)}"'
    return f'<rect x="{num(x)}" y="{num(y)}" {size} fill="{colour}"/>'
