"""A run of the program as an animated SVG: CSS keyframes, no script. Viewers without animation show the last frame."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from support.pictures.palette import Palette
from support.pictures.svg import (
    CELL_HEIGHT,
    CELL_WIDTH,
    NAMESPACE,
    Screen,
    StyleClasses,
    document,
    num,
    read_rows,
    render_row,
)
from support.terminal.emulator import Cell


@dataclass(frozen=True)
class Frame:
    """A screen and how long it is shown. `moment` names a frame that every run has."""

    screen: Screen
    seconds: float
    moment: str = ""


def render_animation(frames: Sequence[Frame], palette: Palette, *, title: str) -> str:
    """The frames as an SVG document that repeats them for ever."""
    styles = StyleClasses(palette)
    names: dict[tuple[Cell, ...], str] = {}
    drawn = [_render_frame(frame, number, styles, names) for number, frame in enumerate(frames)]
    rows = "".join(f'<g id="{name}">{name_row}</g>\n' for name, name_row in _definitions(names, styles))
    cursor = (
        f'<rect id="c" width="{num(CELL_WIDTH)}" height="{num(CELL_HEIGHT)}" '
        f'fill="{palette.foreground}" fill-opacity=".6"/>'
    )
    body = f"<defs>\n{rows}{cursor}</defs>\n" + "\n".join(drawn)
    first = frames[0].screen
    style = styles.render() + _keyframes(frames)
    return document(body, style, palette, columns=first.columns, rows=len(first.rows), title=title)


def read_moments(picture: str) -> dict[str, list[str]]:
    """The rows of text of each named frame."""
    root = ET.fromstring(picture)
    rows = {group.get("id", ""): read_rows(group) for group in root.iterfind(f".//{NAMESPACE}defs/{NAMESPACE}g")}
    moments: dict[str, list[str]] = {}
    for frame in root.iter(f"{NAMESPACE}g"):
        if name := frame.get("data-moment"):
            uses = [use for use in frame.iter(f"{NAMESPACE}use") if use.get("href") != "#c"]
            placed = {round(float(use.get("y", "0")) / CELL_HEIGHT): use.get("href", "")[1:] for use in uses}
            count = max(placed, default=-1) + 1
            moments[name] = ["".join(rows.get(placed.get(row, ""), [])) for row in range(count)]
    return moments


def _render_frame(frame: Frame, number: int, styles: StyleClasses, names: dict[tuple[Cell, ...], str]) -> str:
    moment = f' data-moment="{frame.moment}"' if frame.moment else ""
    uses = [
        f'<use href="#{names.setdefault(row, f"r{len(names)}")}" y="{num(at * CELL_HEIGHT)}"/>'
        for at, row in enumerate(frame.screen.rows)
        if render_row(row, styles)
    ]
    if frame.screen.cursor is not None:
        column, row = frame.screen.cursor
        uses.append(f'<use href="#c" x="{num(column * CELL_WIDTH)}" y="{num(row * CELL_HEIGHT)}"/>')
    return f'<g id="f{number}" class="f"{moment}>{"".join(uses)}</g>'


def _definitions(names: dict[tuple[Cell, ...], str], styles: StyleClasses) -> list[tuple[str, str]]:
    return [(name, render_row(row, styles)) for row, name in names.items()]


def _keyframes(frames: Sequence[Frame]) -> str:
    total = sum(frame.seconds for frame in frames)
    last = len(frames) - 1
    rules = [
        f".f{{visibility:hidden;animation:{total:.2f}s step-end infinite}}#f{last}{{visibility:visible}}",
    ]
    start = 0.0
    for number, frame in enumerate(frames):
        end = start + frame.seconds
        steps = [] if number == 0 else ["0%{visibility:hidden}"]
        steps.append(f"{_percent(start / total)}{{visibility:visible}}")
        if number < last:
            steps.append(f"{_percent(end / total)}{{visibility:hidden}}")
        rules.append(f"@keyframes k{number}{{{''.join(steps)}}}#f{number}{{animation-name:k{number}}}")
        start = end
    rules.append("@media(prefers-reduced-motion:reduce){.f{animation:none}}")
    return "\n".join(rules)


def _percent(share: float) -> str:
    return f"{share * 100:.3f}%"
