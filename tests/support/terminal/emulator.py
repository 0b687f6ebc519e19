"""A terminal emulator: bytes in, a grid of styled characters out.

Unknown sequences are collected in `unknown`, so that a test can check that there are none.
"""

import codecs
import re
from dataclasses import dataclass, field, replace

from wcwidth import iter_graphemes, wcswidth, wcwidth


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a cell. A colour is "" (the default), "0" to "255", or "#rrggbb"."""

    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    blink: bool = False
    reverse: bool = False
    conceal: bool = False
    strike: bool = False


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a grapheme with its width, or with width 0 the right half of a wide one."""

    text: str = " "
    width: int = 1
    style: Style = PLAIN


BLANK = Cell()
Line = list[Cell]

KNOWN_MODES = {1, 7, 12, 25, 47, 1000, 1002, 1003, 1004, 1006, 1015, 1047, 1048, 1049, 2004, 2026}
MOUSE_MODES = {1000, 1002, 1003, 1006, 1015}
ALTERNATE_MODES = {47, 1047, 1049}
ON_AT_FIRST = {7, 25}

_FLAGS = {
    1: ("bold",),
    2: ("dim",),
    3: ("italic",),
    4: ("underline",),
    5: ("blink",),
    6: ("blink",),
    7: ("reverse",),
    8: ("conceal",),
    9: ("strike",),
}
_FLAGS_OFF = {
    21: ("bold",),
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    25: ("blink",),
    27: ("reverse",),
    28: ("conceal",),
    29: ("strike",),
}
_CSI = re.compile(r"\x1b\[([0-?]*)([ -/]*)([@-~])")
_CSI_SO_FAR = re.compile(r"\x1b\[[0-?]*[ -/]*\Z")
_STRING = re.compile(r"\x1b([\]P_^X])(.*?)(\x07|\x1b\\)", re.DOTALL)


@dataclass(slots=True)
class _Saved:
    """What is kept of the cursor by a save."""

    row: int = 0
    column: int = 0
    style: Style = PLAIN


@dataclass(slots=True)
class _Counts:
    bytes: int = 0
    outside: int = 0
    full_clears: int = 0
    frames: int = 0


@dataclass(slots=True)
class TerminalEmulator:
    """A terminal of this size. Feed it, then look at it."""

    columns: int = 80
    rows: int = 24
    grid: list[Line] = field(default_factory=list)
    scrollback: list[Line] = field(default_factory=list)
    row: int = 0
    column: int = 0
    style: Style = PLAIN
    modes: set[int] = field(default_factory=lambda: set(ON_AT_FIRST))
    unknown: list[str] = field(default_factory=list)
    """Sequences that this model does not know."""
    asked: list[str] = field(default_factory=list)
    """Questions to the terminal (where is the cursor, what are you), which nobody answers here."""
    strings: list[tuple[str, str]] = field(default_factory=list)
    """OSC and other strings: ("0", title), ("8", link), ("52", clipboard), ("DCS", ...)."""
    cursor_shape: int = 0
    bells: int = 0

    _top: int = 0
    _bottom: int = 0
    _wraps_next: bool = False
    _can_join: bool = False
    _tabs: set[int] = field(default_factory=set)
    _saved: _Saved = field(default_factory=_Saved)
    _main: list[Line] | None = None
    _rest: str = ""
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )
    _counts: _Counts = field(default_factory=_Counts)

    def __post_init__(self) -> None:
        self.grid = [self._blank_line() for _ in range(self.rows)]
        self._bottom = self.rows - 1
        self._tabs = set(range(0, 1000, 8))

    # What is seen.

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from 0."""
        return self.column, self.row

    @property
    def is_cursor_visible(self) -> bool:
        return 25 in self.modes

    @property
    def is_alternate(self) -> bool:
        return self._main is not None

    @property
    def takes_mouse(self) -> bool:
        return bool(self.modes & MOUSE_MODES)

    @property
    def is_in_frame(self) -> bool:
        """Whether a synchronized update has begun and not ended: the user sees the screen before it."""
        return 2026 in self.modes

    @property
    def written(self) -> int:
        """Bytes that came in."""
        return self._counts.bytes

    @property
    def written_outside_of_frames(self) -> int:
        return self._counts.outside

    @property
    def full_clears(self) -> int:
        return self._counts.full_clears

    @property
    def frames(self) -> int:
        """Synchronized updates that have ended."""
        return self._counts.frames

    @property
    def titles(self) -> list[str]:
        return [text for kind, text in self.strings if kind in {"0", "2"}]

    def lines(self) -> list[str]:
        """The text of each row, without trailing blanks."""
        return [_text_of(line) for line in self.grid]

    def text(self) -> str:
        """The text of the screen, without trailing empty rows."""
        return "\n".join(self.lines()).rstrip("\n")

    def history(self) -> str:
        """The scrollback and the screen."""
        return "\n".join([_text_of(line) for line in self.scrollback] + self.lines()).rstrip("\n")

    def at(self, column: int, row: int) -> Cell:
        return self.grid[row][column]

    def style_of(self, text: str) -> Style:
        """The style of the first occurrence of this text."""
        for row, line in enumerate(self.lines()):
            if (place := line.find(text)) >= 0:
                return self.grid[row][_column_of(self.grid[row], place)].style
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text()}")

    def position_of(self, text: str) -> tuple[int, int]:
        """Column and row of the first occurrence of this text."""
        for row, line in enumerate(self.lines()):
            if (place := line.find(text)) >= 0:
                return _column_of(self.grid[row], place), row
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text()}")

    # What comes in.

    def feed(self, data: bytes) -> None:
        self._counts.bytes += len(data)
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        place = 0
        while place < len(text):
            end = self._take(text, place)
            if end is None:
                self._rest = text[place:]
                return
            if not self.is_in_frame:
                taken = text[place:end]
                self._counts.outside += 0 if taken == "\x1b[?2026l" else len(taken.encode())
            place = end

    def resize(self, columns: int, rows: int) -> None:
        """Lines are cut or lengthened, never folded anew; rows that do not fit go off the top."""
        for line in self.grid:
            _fit(line, columns)
        while len(self.grid) > rows and self.row < len(self.grid) - 1 and not _text_of(self.grid[-1]):
            self.grid.pop()
        while len(self.grid) > rows:
            gone = self.grid.pop(0)
            self.row -= 1
            if not self.is_alternate:
                self.scrollback.append(gone)
        self.columns, self.rows = columns, rows
        if self._main is not None:
            self._main = [_fit_copy(line, columns) for line in self._main[-rows:]]
            self._main += [self._blank_line() for _ in range(rows - len(self._main))]
        self.grid += [self._blank_line() for _ in range(rows - len(self.grid))]
        self._top, self._bottom = 0, rows - 1
        self._move(self.row, self.column)

    def _take(self, text: str, place: int) -> int | None:
        """Do what stands here and return where it ends; None where the end has not come yet."""
        character = text[place]
        if character != "\x1b":
            self._control(character) if character < " " or "\x7f" <= character <= "\x9f" else self._put(character)
            return place + 1
        if place + 1 == len(text):
            return None
        kind = text[place + 1]
        if kind == "[":
            if found := _CSI.match(text, place):
                self._sequence(*found.groups())
                return found.end()
            if _CSI_SO_FAR.match(text, place):
                return None
        elif kind in "]P_^X":
            if found := _STRING.match(text, place):
                self._string(found[1], found[2])
                return found.end()
            return None
        elif kind in "()*+#%":
            if place + 2 == len(text):
                return None
            if text[place + 1 : place + 3] not in {"(B", ")B", "%G"}:
                self.unknown.append(text[place : place + 3])
            return place + 3
        else:
            self._escape(kind)
            return place + 2
        self.unknown.append(text[place : place + 2])
        return place + 2

    def _control(self, character: str) -> None:
        self._can_join = False
        match character:
            case "\r":
                self._move(self.row, 0)
            case "\n" | "\v" | "\f":
                self._line_feed()
            case "\b":
                self._move(self.row, self.column - 1)
            case "\t":
                self._tab(1)
            case "\a":
                self.bells += 1
            case "\x00" | "\x0f":
                pass
            case _:
                self.unknown.append(character)

    def _escape(self, kind: str) -> None:
        self._can_join = False
        match kind:
            case "7":
                self._save()
            case "8":
                self._restore()
            case "D":
                self._line_feed()
            case "E":
                self._line_feed()
                self._move(self.row, 0)
            case "M":
                self._reverse_line_feed()
            case "H":
                self._tabs.add(self.column)
            case "c":
                self._reset()
            case "=" | ">" | "\\":
                pass
            case _:
                self.unknown.append(f"\x1b{kind}")

    def _string(self, kind: str, text: str) -> None:
        if kind == "]":
            number, _, rest = text.partition(";")
            self.strings.append((number, rest))
        else:
            self.strings.append(({"P": "DCS", "_": "APC", "^": "PM", "X": "SOS"}[kind], text))

    # Characters.

    def _put(self, character: str) -> None:
        if not character.isascii() and self._join(character):
            return
        width = 1 if character.isascii() else wcwidth(character)
        if width <= 0:
            return  # there is nothing that it could join
        if self._wraps_next and 7 in self.modes:
            self._line_feed()
            self.column = 0
        self._wraps_next = False
        if self.column + width > self.columns:
            if width > self.columns:
                return
            if 7 in self.modes:
                self._line_feed()
                self.column = 0
            else:
                self.column = self.columns - width
        self._write(self.row, self.column, Cell(character, width, self.style))
        self._can_join = True
        self._step(width)

    def _step(self, width: int) -> None:
        if self.column + width >= self.columns:
            self.column = self.columns - 1
            self._wraps_next = 7 in self.modes
        else:
            self.column += width

    def _join(self, character: str) -> bool:
        """Put this character to the one before it, where both are one grapheme."""
        column = self.column if self._wraps_next else self.column - 1
        if column < 0:
            return False
        line = self.grid[self.row]
        if line[column].width == 0:
            column -= 1
        before = line[column]
        together = before.text + character
        if not (self._can_join or wcwidth(character) == 0) or len(list(iter_graphemes(together))) > 1:
            return False
        width = max(wcswidth(together), 1)
        if width == before.width or column + width > self.columns:
            line[column] = replace(before, text=together)
        else:
            self._write(self.row, column, replace(before, text=together, width=width))
            self.column, self._wraps_next = column, False
            self._step(width)
        return True

    def _write(self, row: int, column: int, square: Cell) -> None:
        line = self.grid[row]
        for place in range(column, column + square.width):
            self._break_up(line, place)
        line[column] = square
        if square.width == 2:
            line[column + 1] = Cell("", 0, square.style)

    def _break_up(self, line: Line, column: int) -> None:
        """A wide character that loses one of its halves loses the other, too."""
        if line[column].width == 0 and column > 0:
            line[column - 1] = replace(BLANK, style=line[column - 1].style)
        elif line[column].width == 2:
            line[column + 1] = replace(BLANK, style=line[column + 1].style)

    # Moving.

    def _move(self, row: int, column: int) -> None:
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)
        self._wraps_next = self._can_join = False

    def _up(self, count: int) -> None:
        top = self._top if self.row >= self._top else 0
        self._move(max(self.row - count, top), self.column)

    def _down(self, count: int) -> None:
        bottom = self._bottom if self.row <= self._bottom else self.rows - 1
        self._move(min(self.row + count, bottom), self.column)

    def _tab(self, count: int) -> None:
        for _ in range(count):
            self._move(self.row, min((stop for stop in self._tabs if stop > self.column), default=self.columns - 1))

    def _line_feed(self) -> None:
        if self.row == self._bottom:
            self._scroll_up(self._top, 1)
        elif self.row < self.rows - 1:
            self.row += 1
        self._wraps_next = self._can_join = False

    def _reverse_line_feed(self) -> None:
        if self.row == self._top:
            self._scroll_down(self._top, 1)
        elif self.row > 0:
            self.row -= 1
        self._wraps_next = False

    def _scroll_up(self, top: int, count: int, *, keep: bool = True) -> None:
        for _ in range(min(count, self._bottom - top + 1)):
            gone = self.grid.pop(top)
            if keep and top == 0 and not self.is_alternate:
                self.scrollback.append(gone)
            self.grid.insert(self._bottom, self._blank_line())

    def _scroll_down(self, top: int, count: int) -> None:
        for _ in range(min(count, self._bottom - top + 1)):
            self.grid.pop(self._bottom)
            self.grid.insert(top, self._blank_line())

    def _save(self) -> None:
        self._saved = _Saved(self.row, self.column, self.style)

    def _restore(self) -> None:
        self._move(self._saved.row, self._saved.column)
        self.style = self._saved.style

    def _reset(self) -> None:
        self._counts.full_clears += 1
        self._main = None
        self.grid = [[BLANK] * self.columns for _ in range(self.rows)]
        self.style = PLAIN
        self.modes = set(ON_AT_FIRST)
        self._top, self._bottom = 0, self.rows - 1
        self._tabs = set(range(0, 1000, 8))
        self._saved = _Saved()
        self.cursor_shape = 0
        self._move(0, 0)

    def _blank(self) -> Cell:
        return Cell(style=Style(bg=self.style.bg)) if self.style.bg else BLANK

    def _blank_line(self) -> Line:
        return [self._blank()] * self.columns

    # Sequences.

    def _sequence(self, parameters: str, between: str, final: str) -> None:
        self._can_join = False
        if between or parameters[:1] in {"?", "<", "=", ">"}:
            self._private(parameters, between, final)
            return
        numbers = [int(part) if part.isdecimal() else 0 for part in parameters.split(";")]
        first = numbers[0]
        count = max(first, 1)
        match final:
            case "m":
                self._set_style(parameters)
            case "A" | "B" | "C" | "D" | "E" | "F" | "G" | "`" | "d" | "H" | "f" | "a" | "e" | "I":
                self._move_cursor(final, count, max(numbers[1], 1) if len(numbers) > 1 else 1)
            case "J" if first <= 3:
                self._erase_screen(first)
            case "K" if first <= 2:
                self._erase_line(first)
            case "L" | "M" | "S" | "T":
                self._shift_lines(final, count)
            case "@" | "P" | "X":
                self._shift_characters(final, count)
            case _:
                self._control_sequence(parameters, between, final, numbers)

    def _control_sequence(self, parameters: str, between: str, final: str, numbers: list[int]) -> None:
        """Regions, cursor saving, tabs and queries."""
        first = numbers[0]
        match final:
            case "r":
                bottom = numbers[1] if len(numbers) > 1 and numbers[1] else self.rows
                self._set_region(max(first, 1) - 1, min(bottom, self.rows) - 1)
            case "s" if not parameters:
                self._save()
            case "u" if not parameters:
                self._restore()
            case "g" if first in {0, 3}:
                self._tabs = set() if first else self._tabs - {self.column}
            case "n" | "c":
                self.asked.append(f"{parameters}{final}")
            case "t" if first in {22, 23}:
                pass  # the title is kept and brought back
            case _:
                self.unknown.append(f"\x1b[{parameters}{between}{final}")

    def _private(self, parameters: str, between: str, final: str) -> None:
        match parameters[:1], between, final:
            case "?", "", "h" | "l":
                for part in parameters[1:].split(";"):
                    self._set_mode(int(part) if part.isdecimal() else -1, is_on=final == "h")
            case ("?" | ">" | "=", "", "n" | "c") | ("?", "$", "p") | (">", "", "q"):
                self.asked.append(f"{parameters}{between}{final}")
            case _, " ", "q" if parameters.isdecimal() or not parameters:
                self.cursor_shape = int(parameters or 0)
            case _, "!", "p":
                self.style, self.modes = PLAIN, self.modes & {2004, 2026} | ON_AT_FIRST
                self._top, self._bottom = 0, self.rows - 1
            case _:
                self.unknown.append(f"\x1b[{parameters}{between}{final}")

    def _set_mode(self, mode: int, *, is_on: bool) -> None:
        if mode not in KNOWN_MODES:
            self.unknown.append(f"\x1b[?{mode}{'h' if is_on else 'l'}")
            return
        if mode == 2026 and not is_on and self.is_in_frame:
            self._counts.frames += 1
        if mode in ALTERNATE_MODES and is_on != self.is_alternate:
            self._alternate(is_on=is_on, saves=mode == 1049)
        if mode == 1048:
            self._save() if is_on else self._restore()
        if is_on:
            self.modes.add(mode)
        else:
            self.modes.discard(mode)

    def _alternate(self, *, is_on: bool, saves: bool) -> None:
        if is_on:
            if saves:
                self._save()
            self._main, self.grid = self.grid, [self._blank_line() for _ in range(self.rows)]
        else:
            assert self._main is not None
            self.grid, self._main = self._main, None
            if saves:
                self._restore()

    def _move_cursor(self, final: str, count: int, second: int) -> None:
        match final:
            case "A":
                self._up(count)
            case "B" | "e":
                self._down(count)
            case "C" | "a":
                self._move(self.row, self.column + count)
            case "D":
                self._move(self.row, self.column - count)
            case "E":
                self._down(count)
                self._move(self.row, 0)
            case "F":
                self._up(count)
                self._move(self.row, 0)
            case "G" | "`":
                self._move(self.row, count - 1)
            case "d":
                self._move(count - 1, self.column)
            case "I":
                self._tab(count)
            case _:
                self._move(count - 1, second - 1)

    def _erase_screen(self, how: int) -> None:
        self._wraps_next = False
        if how in {2, 3}:
            self._counts.full_clears += 1
        if how == 3:
            self.scrollback.clear()
            return
        if how != 2:
            self._erase_line(how)
        rows = {0: range(self.row + 1, self.rows), 1: range(self.row), 2: range(self.rows)}[how]
        for row in rows:
            self.grid[row] = self._blank_line()

    def _erase_line(self, how: int) -> None:
        self._wraps_next = False
        start = self.column if how == 0 else 0
        end = self.column + 1 if how == 1 else self.columns
        self._erase(start, end)

    def _erase(self, start: int, end: int) -> None:
        line = self.grid[self.row]
        if start < end:
            self._break_up(line, start)
            self._break_up(line, end - 1)
        line[start:end] = [self._blank()] * (end - start)

    def _shift_lines(self, final: str, count: int) -> None:
        if final == "S":
            self._scroll_up(self._top, count)
        elif final == "T":
            self._scroll_down(self._top, count)
        elif self._top <= self.row <= self._bottom:
            if final == "L":
                self._scroll_down(self.row, count)
            else:
                self._scroll_up(self.row, count, keep=False)
            self._wraps_next = False

    def _shift_characters(self, final: str, count: int) -> None:
        line = self.grid[self.row]
        self._wraps_next = False
        count = min(count, self.columns - self.column)
        if final == "X":
            self._erase(self.column, self.column + count)
            return
        self._break_up(line, self.column)
        if final == "@":
            line[self.column : self.column] = [self._blank()] * count
            _fit(line, self.columns)
        else:
            if self.column + count < self.columns and line[self.column + count].width == 0:
                self._break_up(line, self.column + count)
                line[self.column + count] = BLANK
            del line[self.column : self.column + count]
            line += [self._blank()] * count

    def _set_region(self, top: int, bottom: int) -> None:
        if top < bottom:
            self._top, self._bottom = top, bottom
            self._move(0, 0)

    def _set_style(self, parameters: str) -> None:
        codes = (parameters or "0").split(";")
        while codes:
            code = codes.pop(0) or "0"
            if ":" in code:
                self._set_style_with_parts(code)
                continue
            number = int(code)
            if number in {38, 48}:
                colour = _colour(codes)
                if colour is None:
                    self.unknown.append(f"\x1b[{parameters}m")
                    return
                self.style = replace(self.style, fg=colour) if number == 38 else replace(self.style, bg=colour)
            elif not self._set_simple_style(number):
                self.unknown.append(f"\x1b[{parameters}m")

    def _set_style_with_parts(self, code: str) -> None:
        """Sub-parameters with colons: kinds of underlines, colours."""
        parts = code.split(":")
        if parts[0] == "4":
            self.style = replace(self.style, underline=parts[1] != "0")
        elif parts[0] in {"38", "48"} and (colour := _colour([part for part in parts[1:] if part])) is not None:
            self.style = replace(self.style, fg=colour) if parts[0] == "38" else replace(self.style, bg=colour)
        else:
            self.unknown.append(f"\x1b[{code}m")

    def _set_simple_style(self, number: int) -> bool:
        match number:
            case 0:
                self.style = PLAIN
            case _ if number in _FLAGS:
                self.style = replace(self.style, **dict.fromkeys(_FLAGS[number], True))
            case _ if number in _FLAGS_OFF:
                self.style = replace(self.style, **dict.fromkeys(_FLAGS_OFF[number], False))
            case _ if 30 <= number <= 37 or 90 <= number <= 97:
                self.style = replace(self.style, fg=str(number - 30 if number < 40 else number - 82))
            case _ if 40 <= number <= 47 or 100 <= number <= 107:
                self.style = replace(self.style, bg=str(number - 40 if number < 50 else number - 92))
            case 39:
                self.style = replace(self.style, fg="")
            case 49:
                self.style = replace(self.style, bg="")
            case _:
                return False
        return True


def _text_of(line: Line) -> str:
    return "".join(square.text for square in line).rstrip(" ")


def _column_of(line: Line, place: int) -> int:
    """The column of the character at this place of the line's text."""
    for column, square in enumerate(line):
        if place < len(square.text):
            return column
        place -= len(square.text)
    return len(line)


def _fit(line: Line, columns: int) -> None:
    del line[columns:]
    if len(line) == columns and line and line[-1].width == 2:
        line[-1] = BLANK
    line += [BLANK] * (columns - len(line))


def _fit_copy(line: Line, columns: int) -> Line:
    _fit(line, columns)
    return line


def _colour(codes: list[str]) -> str | None:
    """What follows 38 or 48, taken off the front; None where it is no colour."""
    match codes:
        case ["5", number, *_] if number.isdecimal():
            del codes[:2]
            return number
        case ["2", red, green, blue, *_] if all(part.isdecimal() for part in (red, green, blue)):
            del codes[:4]
            return f"#{int(red):02x}{int(green):02x}{int(blue):02x}"
        case _:
            return None
