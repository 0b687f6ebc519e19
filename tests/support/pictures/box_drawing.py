"""Box-drawing and block characters as shapes, so that lines meet whatever font shows the picture."""

_ARMS = {
    "─": "lr",
    "│": "ud",
    "┌": "rd",
    "┐": "ld",
    "└": "ur",
    "┘": "ul",
    "├": "urd",
    "┤": "uld",
    "┬": "lrd",
    "┴": "ulr",
    "┼": "ulrd",
    "╭": "rd",
    "╮": "ld",
    "╰": "ur",
    "╯": "ul",
    "━": "lr",
    "┃": "ud",
    "╴": "l",
    "╵": "u",
    "╶": "r",
    "╷": "d",
}
_HEAVY = frozenset("━┃")
_ROUND = frozenset("╭╮╰╯")
_RADIUS = 4.0

# Left, top, right and bottom of a filled part of the cell, in eighths.
_BLOCKS = {
    "█": (0, 0, 8, 8),
    "▀": (0, 0, 8, 4),
    "▄": (0, 4, 8, 8),
    "▌": (0, 0, 4, 8),
    "▐": (4, 0, 8, 8),
    "▔": (0, 0, 8, 1),
    **{character: (0, 8 - count, 8, 8) for count, character in enumerate("▁▂▃", 1)},
    **{character: (0, 8 - count, 8, 8) for count, character in enumerate("▅▆▇", 5)},
    **{character: (0, 0, count, 8) for count, character in zip((1, 2, 3, 5, 6, 7), "▏▎▍▋▊▉", strict=True)},
}


def is_drawn(character: str) -> bool:
    """Whether the character is drawn as a shape."""
    return character in _ARMS or character in _BLOCKS


def draw(character: str, x: float, y: float, width: float, height: float) -> str:
    """The character as path data for the cell at this place: lines are stroked, blocks are filled."""
    if character in _BLOCKS:
        left, top, right, bottom = _BLOCKS[character]
        across, down = (right - left) * width / 8, (bottom - top) * height / 8
        return f"M{num(x + left * width / 8)} {num(y + top * height / 8)}h{num(across)}v{num(down)}h{num(-across)}z"
    middle, centre = x + width / 2, y + height / 2
    ends = {"l": (x, centre), "r": (x + width, centre), "u": (middle, y), "d": (middle, y + height)}
    arms = _ARMS[character]
    if character in _ROUND:
        horizontal, vertical = ("l" if "l" in arms else "r"), ("u" if "u" in arms else "d")
        start_x, start_y = ends[vertical]
        end_x = ends[horizontal][0]
        bend_y = centre - _RADIUS if vertical == "u" else centre + _RADIUS
        bend_x = middle - _RADIUS if horizontal == "l" else middle + _RADIUS
        bend = f"Q{num(middle)} {num(centre)} {num(bend_x)} {num(centre)}"
        return f"M{num(start_x)} {num(start_y)}V{num(bend_y)}{bend}H{num(end_x)}"
    if arms == "lr":
        return f"M{num(x)} {num(centre)}h{num(width)}"
    if arms == "ud":
        return f"M{num(middle)} {num(y)}v{num(height)}"
    return "".join(f"M{num(middle)} {num(centre)}L{num(ends[arm][0])} {num(ends[arm][1])}" for arm in arms)


def is_block(character: str) -> bool:
    return character in _BLOCKS


def is_heavy(character: str) -> bool:
    return character in _HEAVY


def num(number: float) -> str:
    """A coordinate without needless digits."""
    return f"{round(number, 2):g}"
