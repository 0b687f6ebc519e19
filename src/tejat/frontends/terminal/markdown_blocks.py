"""Markdown read line by line into pieces that can be drawn at once and never change afterwards.

What stands where is CommonMark's, with tables and tasks, except that everything is kept: definitions and HTML are text.
Only the block that is still open is remembered, and of a block without end only the last part.
"""

import re
from copy import copy

from tejat.core.value import replace
from tejat.frontends.terminal.code import PIECE, context_of
from tejat.frontends.terminal.markdown_pieces import (
    Box,
    Break,
    Code,
    Grid,
    Heading,
    Leaf,
    Markup,
    Paragraph,
    Piece,
)
from tejat.frontends.terminal.tables import Alignment

LONGEST_LINE = 16_000
"""Lines come in parts of at most so many characters."""
_LONGEST_PARAGRAPH = 8_000
_PER_LINE = 8
"""What a line counts besides its characters: many short ones are a lot too."""
_MOST_ROWS = 100
_MOST_COLUMNS = 64
_DEEPEST = 12


class Blocks:
    """What is open, and what comes of the next line."""

    def __init__(self) -> None:
        self._boxes: tuple[Box, ...] = ()
        self._begun = 0
        self._leaf: Leaf | None = None
        self._fence: re.Match[str] | None = None
        self._size = 0
        self._blanks = 0
        self._gap: int | None = None
        self._is_first = True
        self._done: list[Piece] = []

    def copied(self) -> "Blocks":
        """The same state, to try out what the next line would do."""
        return copy(self)

    def line(self, text: str, *, goes_on: bool = False) -> list[Piece]:
        """The pieces that this line finishes. A line that goes on is the next part of one that was too long."""
        self._done = []
        if goes_on:
            self._continue(text)
            return self._done
        matched, rest = self._inside(text)
        all_matched = matched == len(self._boxes)
        if all_matched and isinstance(self._leaf, Code) and self._took_code(rest):
            return self._done
        if not rest.strip(" "):
            self._blank(matched)
            return self._done
        if all_matched and self._took_on(rest):
            return self._done
        if isinstance(self._leaf, Paragraph) and not all_matched and not _begins(rest, in_paragraph=False):
            self._continue(rest)
            return self._done
        if not all_matched:
            self._leave(matched)
        self._open(self._boxed(rest))
        return self._done

    def finish(self) -> list[Piece]:
        """The rest."""
        self._done = []
        self._leave(0)
        return self._done

    def _inside(self, text: str) -> tuple[int, str]:
        """How many of the open boxes this line is in, and what of it."""
        rest = text
        for number, box in enumerate(self._boxes):
            if box.is_quote:
                found = re.match(" {0,3}> ?", rest)
                if found is None:
                    return number, rest
                rest = rest[found.end() :]
                continue
            indent = len(rest) - len(rest.lstrip(" "))
            if indent == len(rest):
                rest = ""
            elif indent >= box.indent:
                rest = rest[box.indent :]
            elif indent >= _LEAST_INDENT and box.marker[0].isdigit() and _item(rest):
                rest = rest[indent:]  # two blanks below a number are meant to be inside, though three are the rule
            else:
                return number, rest
        return len(self._boxes), rest

    def _took_code(self, rest: str) -> bool:
        """Whether the line belongs to the open code."""
        if self._fence is None:
            if not rest.strip(" "):
                self._blanks += 1
                return True
            if rest[:4].strip(" "):
                self._close()
                return False
            for _ in range(self._blanks):
                self._add_code("")
            self._blanks = 0
            self._add_code(rest[4:])
            return True
        sign = self._fence["sign"]
        closing = rest.strip(" ")
        if len(closing) >= len(sign) and not closing.strip(sign[0]) and rest[:4].strip(" "):
            self._close()
            return True
        indent = len(self._fence["indent"])
        self._add_code(rest[indent:] if not rest[:indent].strip(" ") else rest.lstrip(" "))
        return True

    def _add_code(self, line: str) -> None:
        """Code that grows long is passed on in parts."""
        leaf = self._leaf
        assert isinstance(leaf, Code)
        if len(leaf.lines) >= PIECE or self._size > _LONGEST_PARAGRAPH:
            self._emit(replace(leaf, is_last=False))
            leaf = replace(leaf, lines=(), before=context_of(leaf.before, leaf.lines), is_first=False)
            self._size = 0
        self._leaf = replace(leaf, lines=(*leaf.lines, line))
        self._size += len(line)

    def _took_on(self, rest: str) -> bool:
        """Whether the line goes on with the open paragraph, table or markup."""
        match self._leaf:
            case Paragraph(lines):
                underline = re.match(r" {0,3}(=+|-+) *$", rest)
                if underline:
                    text = "\n".join(line.strip(" ") for line in lines)
                    self._leaf = Heading(1 if underline[1][0] == "=" else 2, text)
                    self._close()
                    return True
                if self._became_table(lines, rest):
                    return True
                if _begins(rest, in_paragraph=True):
                    return False
            case Grid():
                if not rest[:4].strip(" ") or _begins(rest, in_paragraph=False):
                    return False
            case Markup():
                pass
            case _:
                return False
        self._continue(rest)
        return True

    def _became_table(self, lines: tuple[str, ...], rest: str) -> bool:
        """Whether this line makes the one before it the headings of a table."""
        if "|" not in lines[-1] or not re.match(r" {0,3}\|?(?: *:?-+:? *\|)*(?: *:?-+:? *)?$", rest) or "-" not in rest:
            return False
        headings, rules = _cells(lines[-1]), _cells(rest)
        if len(headings) != len(rules) or len(headings) > _MOST_COLUMNS:
            return False
        if len(lines) > 1:
            self._leaf = Paragraph(lines[:-1])
            self._close()
        self._leaf = Grid(headings, (), tuple(map(_alignment, rules)))
        self._size = 0
        return True

    def _continue(self, text: str) -> None:
        """Add a line to what is open, whatever it looks like."""
        match self._leaf:
            case Paragraph(lines) | Markup(lines) if self._size > _LONGEST_PARAGRAPH:
                self._emit(self._leaf)
                self._leaf = type(self._leaf)((text,))
                self._size = 0
            case Paragraph(lines) | Markup(lines):
                self._leaf = type(self._leaf)((*lines, text))
            case Grid(rows=rows) as grid:
                if len(rows) >= _MOST_ROWS or self._size > LONGEST_LINE:
                    self._emit(grid)
                    grid = replace(grid, rows=(), first_rows=grid.first_rows or rows)
                    self._size = 0
                self._leaf = replace(grid, rows=(*grid.rows, _fitted(_cells(text), len(grid.headings))))
            case Code():
                self._add_code(text)
            case _:
                self._leaf = Paragraph((text,))
                self._size = 0
        self._size += len(text) + _PER_LINE

    def _blank(self, matched: int) -> None:
        """A blank line ends paragraphs, tables, quotes and an item without a word; a list may go on after it."""
        self._close()
        if self._begun < len(self._boxes) == matched and not self._boxes[-1].is_quote:
            self._leave(matched - 1)
            matched -= 1
        for number, box in enumerate(self._boxes[matched:], matched):
            if box.is_quote:
                self._leave(number)
                break
        if not self._is_first:
            self._gap = matched

    def _boxed(self, rest: str) -> str:
        """Begin the quotes and items that this line begins; what is in them."""
        while len(self._boxes) < _DEEPEST and rest[:4].strip(" ") and not re.match(_BREAK, rest):
            quote, item = re.match(" {0,3}> ?", rest), _item(rest)
            found = quote or item
            if found is None:
                break
            self._close()
            rest = rest[found.end() :]
            if quote:
                self._boxes = (*self._boxes, Box())
                continue
            marker = found["marker"]
            task = re.match(r"\[[ xX]\] +(?=\S)", rest) if len(marker) == 1 else None
            indent = found.end()
            if found["blanks"] and len(found["blanks"]) > _MOST_BLANKS:
                indent -= len(found["blanks"]) - 1
                rest = found["blanks"][1:] + rest
            elif not found["blanks"]:
                indent += 1
            if task:
                rest = rest[task.end() :]
            self._boxes = (*self._boxes, Box(task[0].rstrip(" ") if task else marker, indent))
        return rest

    def _open(self, rest: str) -> None:
        """Begin what this line begins, inside of all boxes."""
        if not rest.strip(" "):
            return
        self._close()
        self._size = len(rest)
        heading, fence = re.match(_HEADING, rest), re.match(_FENCE, rest)
        if not rest[:4].strip(" "):
            self._leaf, self._fence, self._blanks = Code((rest[4:],)), None, 0
        elif heading:
            if not self._is_first and self._gap is None:
                self._gap = self._begun
            self._leaf = Heading(len(heading["signs"]), _without_signs(rest[heading.end() :]))
            self._close()
        elif fence:
            self._leaf, self._fence = Code((), fence["said"].strip(" ")), fence
        elif re.match(_BREAK, rest):
            self._leaf = Break()
            self._close()
        elif re.match(_MARKUP, rest):
            self._leaf = Markup((rest,))
        else:
            self._leaf = Paragraph((rest,))

    def _leave(self, count: int) -> None:
        """Close what is in all boxes but the first so many. An item that was empty is not forgotten."""
        self._close()
        while len(self._boxes) > count:
            if self._begun < len(self._boxes):
                self._emit(Paragraph(()))
            self._boxes = self._boxes[:-1]
            self._begun = min(self._begun, len(self._boxes))

    def _close(self) -> None:
        leaf, self._leaf = self._leaf, None
        if leaf is not None:
            self._emit(leaf)
        if self._blanks:
            self._blanks, self._gap = 0, len(self._boxes)

    def _emit(self, leaf: Leaf) -> None:
        gap = None if self._gap is None else min(self._gap, self._begun)
        self._done.append(Piece(leaf, self._boxes, self._begun, gap))
        self._begun, self._gap, self._is_first = len(self._boxes), None, False


_LEAST_INDENT = 2
_MOST_BLANKS = 4

# No part of them can match the same text in two ways: a hostile line takes no longer than another.
_HEADING = r" {0,3}(?P<signs>#{1,6})(?= |$)"
_FENCE = r"(?P<indent> {0,3})(?P<sign>`{3,}+|~{3,}+)(?P<said>[^`]*+)$"
_BREAK = r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$"
_TAGS = (
    "address|article|aside|base|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer"
    "|form|frame|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|option|p|param|pre|script|search"
    "|section|style|summary|table|tbody|td|textarea|tfoot|th|thead|title|tr|track|ul"
)
_MARKUP = rf" {{0,3}}(?:</?(?i:{_TAGS})(?:[ />]|$)|<!--|<\?|<![A-Z])"
_ITEM = r" {0,3}(?P<marker>[-+*]|[0-9]{1,9}[.)])(?P<blanks> +|$)"


def _item(rest: str) -> re.Match[str] | None:
    return re.match(_ITEM, rest)


def _begins(rest: str, *, in_paragraph: bool) -> bool:
    """Whether a line begins something else than text. A number in the middle of a paragraph is no item, unless one."""
    if not rest[:4].strip(" "):
        return False
    found = _item(rest)
    if found and in_paragraph and (not rest[found.end() :] or found["marker"][:-1] not in ("", "1")):
        found = None
    return bool(found or re.match(" {0,3}>", rest) or any(re.match(pattern, rest) for pattern in _STARTS))


_STARTS: tuple[str, ...] = (_HEADING, _FENCE, _BREAK, _MARKUP)


def _without_signs(text: str) -> str:
    """The words of a heading, which may have signs after it too."""
    words = text.strip(" ")
    bare = words.rstrip("#")
    return bare.rstrip(" ") if bare != words and bare[-1:] in ("", " ") else words


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a row. A bar that is meant to be shown has a backslash before it."""
    text = line.strip(" ").removeprefix("|")
    parts = re.split(r"(?<!\\)\|", text)
    if len(parts) > 1 and not parts[-1].strip(" "):
        parts.pop()
    return tuple(part.strip(" ").replace("\\|", "|") for part in parts)


def _fitted(cells: tuple[str, ...], count: int) -> tuple[str, ...]:
    """As many cells as there are headings. What is too much goes into the last one: nothing is left out."""
    if len(cells) <= count:
        return (*cells, *[""] * (count - len(cells)))
    return (*cells[: count - 1], " | ".join(cells[count - 1 :]))


def _alignment(rule: str) -> Alignment:
    match rule[:1] == ":", rule[-1:] == ":":
        case True, True:
            return Alignment.CENTRE
        case False, True:
            return Alignment.RIGHT
        case _:
            return Alignment.LEFT
