"""Incremental block parser: reads lines and emits blocks that never change afterwards.

Follows CommonMark with tables and task lists, but keeps definitions and HTML as text. Only the open block is kept in
memory, and only the tail of an endless one.
"""

import re
from copy import copy

from tejat.core.frozen import replace
from tejat.ui.shared.text.code_tokens import CHUNK_LINES, code_context
from tejat.ui.terminal.render.markdown.blocks import (
    BlockContainer,
    BlockNode,
    CodeBlock,
    HeadingBlock,
    HtmlBlock,
    LeafBlock,
    ParagraphBlock,
    TableBlock,
    ThematicBreak,
)
from tejat.ui.terminal.render.tables import ColumnAlignment

MAX_LINE_CHARS = 16_000
"""Longest line that is parsed at once; longer ones come in parts."""
_MAX_PARAGRAPH_CHARS = 8_000
_LINE_COST = 8
"""Size of a line in addition to its characters, so that many short lines count too."""
_MAX_ROWS = 100
_MAX_COLUMNS = 64
_MAX_DEPTH = 12


class BlockParser:
    """State of the open blocks."""

    def __init__(self) -> None:
        self._containers: tuple[BlockContainer, ...] = ()
        self._emitted_containers = 0
        self._leaf: LeafBlock | None = None
        self._fence: re.Match[str] | None = None
        self._size = 0
        self._blanks = 0
        self._gap: int | None = None
        self._is_first = True
        self._done: list[BlockNode] = []

    def clone(self) -> "BlockParser":
        """Copy the state, to preview the effect of a line."""
        return copy(self)

    def feed_line(self, text: str, *, is_continuation: bool = False) -> list[BlockNode]:
        """Return the blocks that this line completes. A continuation is a further part of a long line."""
        self._done = []
        if is_continuation:
            self._append_line(text)
            return self._done
        matched, rest = self._match_containers(text)
        all_matched = matched == len(self._containers)
        if all_matched and isinstance(self._leaf, CodeBlock) and self._consume_code(rest):
            return self._done
        if not rest.strip(" "):
            self._blank(matched)
            return self._done
        if all_matched and self._continue_leaf(rest):
            return self._done
        if isinstance(self._leaf, ParagraphBlock) and not all_matched and not _starts_block(rest, in_paragraph=False):
            self._append_line(rest)
            return self._done
        if not all_matched:
            self._close_containers(matched)
        self._open_leaf(self._open_containers(rest))
        return self._done

    def finish(self) -> list[BlockNode]:
        """Return the remaining blocks."""
        self._done = []
        self._close_containers(0)
        return self._done

    def _match_containers(self, text: str) -> tuple[int, str]:
        """Return how many open containers the line continues, and the rest of the line."""
        rest = text
        for number, box in enumerate(self._containers):
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
            elif indent >= _MIN_INDENT and box.marker[0].isdigit() and re.match(_ITEM, rest):
                rest = rest[indent:]  # accept two blanks below a number, though CommonMark wants three
            else:
                return number, rest
        return len(self._containers), rest

    def _consume_code(self, rest: str) -> bool:
        """Add the line to the open code block; return whether it belongs there."""
        if self._fence is None:
            if not rest.strip(" "):
                self._blanks += 1
                return True
            if rest[:4].strip(" "):
                self._close_leaf()
                return False
            for _ in range(self._blanks):
                self._add_code("")
            self._blanks = 0
            self._add_code(rest[4:])
            return True
        sign = self._fence["sign"]
        closing = rest.strip(" ")
        if len(closing) >= len(sign) and not closing.strip(sign[0]) and rest[:4].strip(" "):
            self._close_leaf()
            return True
        indent = len(self._fence["indent"])
        self._add_code(rest[indent:] if not rest[:indent].strip(" ") else rest.lstrip(" "))
        return True

    def _add_code(self, line: str) -> None:
        """Add a line of code; long code is emitted in parts."""
        leaf = self._leaf
        assert isinstance(leaf, CodeBlock)
        if len(leaf.lines) >= CHUNK_LINES or self._size > _MAX_PARAGRAPH_CHARS:
            self._emit(replace(leaf, is_last=False))
            leaf = replace(leaf, lines=(), before=code_context(leaf.before, leaf.lines), is_first=False)
            self._size = 0
        self._leaf = replace(leaf, lines=(*leaf.lines, line))
        self._size += len(line)

    def _continue_leaf(self, rest: str) -> bool:
        """Continue the open paragraph, table or HTML block; return whether the line belongs there."""
        match self._leaf:
            case ParagraphBlock(lines):
                underline = re.match(r" {0,3}(=+|-+) *$", rest)
                if underline:
                    text = "\n".join(line.strip(" ") for line in lines)
                    self._leaf = HeadingBlock(1 if underline[1][0] == "=" else 2, text)
                    self._close_leaf()
                    return True
                if self._start_table(lines, rest):
                    return True
                if _starts_block(rest, in_paragraph=True):
                    return False
            case TableBlock():
                if not rest[:4].strip(" ") or _starts_block(rest, in_paragraph=False):
                    return False
            case HtmlBlock():
                pass
            case _:
                return False
        self._append_line(rest)
        return True

    def _start_table(self, lines: tuple[str, ...], rest: str) -> bool:
        """Turn the previous line into table headings if this line is a delimiter row."""
        if "|" not in lines[-1] or not re.match(r" {0,3}\|?(?: *:?-+:? *\|)*(?: *:?-+:? *)?$", rest) or "-" not in rest:
            return False
        headings, rules = _split_cells(lines[-1]), _split_cells(rest)
        if len(headings) != len(rules) or len(headings) > _MAX_COLUMNS:
            return False
        if len(lines) > 1:
            self._leaf = ParagraphBlock(lines[:-1])
            self._close_leaf()
        self._leaf = TableBlock(headings, (), tuple(map(_parse_alignment, rules)))
        self._size = 0
        return True

    def _append_line(self, text: str) -> None:
        """Add a line to the open block, whatever it looks like."""
        match self._leaf:
            case ParagraphBlock(lines) | HtmlBlock(lines) if self._size > _MAX_PARAGRAPH_CHARS:
                self._emit(self._leaf)
                self._leaf = type(self._leaf)((text,))
                self._size = 0
            case ParagraphBlock(lines) | HtmlBlock(lines):
                self._leaf = type(self._leaf)((*lines, text))
            case TableBlock(rows=rows) as grid:
                if len(rows) >= _MAX_ROWS or self._size > MAX_LINE_CHARS:
                    self._emit(grid)
                    grid = replace(grid, rows=(), first_rows=grid.first_rows or rows)
                    self._size = 0
                self._leaf = replace(grid, rows=(*grid.rows, _fit_cells(_split_cells(text), len(grid.headings))))
            case CodeBlock():
                self._add_code(text)
            case _:
                self._leaf = ParagraphBlock((text,))
                self._size = 0
        self._size += len(text) + _LINE_COST

    def _blank(self, matched: int) -> None:
        """Handle a blank line: it ends paragraphs, tables, quotes and empty items; lists may continue."""
        self._close_leaf()
        if self._emitted_containers < len(self._containers) == matched and not self._containers[-1].is_quote:
            self._close_containers(matched - 1)
            matched -= 1
        for number, box in enumerate(self._containers[matched:], matched):
            if box.is_quote:
                self._close_containers(number)
                break
        if not self._is_first:
            self._gap = matched

    def _open_containers(self, rest: str) -> str:
        """Open the quotes and items that the line starts; return the rest of it."""
        while len(self._containers) < _MAX_DEPTH and rest[:4].strip(" ") and not re.match(_BREAK, rest):
            quote, item = re.match(" {0,3}> ?", rest), re.match(_ITEM, rest)
            found = quote or item
            if found is None:
                break
            self._close_leaf()
            rest = rest[found.end() :]
            if quote:
                self._containers = (*self._containers, BlockContainer())
                continue
            marker = found["marker"]
            task = re.match(r"\[[ xX]\] +(?=\S)", rest) if len(marker) == 1 else None
            indent = found.end()
            if found["blanks"] and len(found["blanks"]) > _MAX_MARKER_BLANKS:
                indent -= len(found["blanks"]) - 1
                rest = found["blanks"][1:] + rest
            elif not found["blanks"]:
                indent += 1
            if task:
                rest = rest[task.end() :]
            self._containers = (*self._containers, BlockContainer(task[0].rstrip(" ") if task else marker, indent))
        return rest

    def _open_leaf(self, rest: str) -> None:
        """Open the leaf block that the line starts."""
        if not rest.strip(" "):
            return
        self._close_leaf()
        self._size = len(rest)
        heading, fence = re.match(_HEADING, rest), re.match(_FENCE, rest)
        if not rest[:4].strip(" "):
            self._leaf, self._fence, self._blanks = CodeBlock((rest[4:],)), None, 0
        elif heading:
            self._ensure_gap()
            self._leaf = HeadingBlock(len(heading["signs"]), _strip_closing_hashes(rest[heading.end() :]))
            self._close_leaf()
        elif fence:
            self._ensure_gap()
            self._leaf, self._fence = CodeBlock((), fence["said"].strip(" ")), fence
        elif re.match(_BREAK, rest):
            self._leaf = ThematicBreak()
            self._close_leaf()
        elif re.match(_MARKUP, rest):
            self._leaf = HtmlBlock((rest,))
        else:
            self._leaf = ParagraphBlock((rest,))

    def _ensure_gap(self) -> None:
        """Set the next block apart even if there was no blank line before it."""
        if not self._is_first and self._gap is None:
            self._gap = self._emitted_containers

    def _close_containers(self, count: int) -> None:
        """Close all containers but the first `count`, emitting empty items."""
        self._close_leaf()
        while len(self._containers) > count:
            if self._emitted_containers < len(self._containers):
                self._emit(ParagraphBlock(()))
            self._containers = self._containers[:-1]
            self._emitted_containers = min(self._emitted_containers, len(self._containers))

    def _close_leaf(self) -> None:
        leaf, self._leaf = self._leaf, None
        if leaf is not None:
            self._emit(leaf)
        if isinstance(leaf, CodeBlock):
            self._ensure_gap()
        if self._blanks:
            self._blanks, self._gap = 0, len(self._containers)

    def _emit(self, leaf: LeafBlock) -> None:
        gap = None if self._gap is None else min(self._gap, self._emitted_containers)
        self._done.append(BlockNode(leaf, self._containers, self._emitted_containers, gap))
        self._emitted_containers, self._gap, self._is_first = len(self._containers), None, False


_MIN_INDENT = 2
_MAX_MARKER_BLANKS = 4

# None of them is ambiguous, so that matching hostile lines takes linear time.
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


def _starts_block(rest: str, *, in_paragraph: bool) -> bool:
    """Whether a line starts a block. Within a paragraph only an item numbered 1 does."""
    if not rest[:4].strip(" "):
        return False
    found = re.match(_ITEM, rest)
    if found and in_paragraph and (not rest[found.end() :] or found["marker"][:-1] not in ("", "1")):
        found = None
    return bool(found or re.match(" {0,3}>", rest) or any(re.match(pattern, rest) for pattern in _STARTS))


_STARTS: tuple[str, ...] = (_HEADING, _FENCE, _BREAK, _MARKUP)


def _strip_closing_hashes(text: str) -> str:
    """Return the text of a heading without its closing hashes."""
    words = text.strip(" ")
    bare = words.rstrip("#")
    return bare.rstrip(" ") if bare != words and bare[-1:] in ("", " ") else words


def _split_cells(line: str) -> tuple[str, ...]:
    """Split a table row; escaped bars are text."""
    text = line.strip(" ").removeprefix("|")
    parts = re.split(r"(?<!\\)\|", text)
    if len(parts) > 1 and not parts[-1].strip(" "):
        parts.pop()
    return tuple(part.strip(" ").replace("\\|", "|") for part in parts)


def _fit_cells(cells: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return as many cells as headings. Surplus cells are joined into the last one."""
    if len(cells) <= count:
        return (*cells, *[""] * (count - len(cells)))
    return (*cells[: count - 1], " | ".join(cells[count - 1 :]))


def _parse_alignment(rule: str) -> ColumnAlignment:
    if not rule.endswith(":"):
        return ColumnAlignment.LEFT
    return ColumnAlignment.CENTRE if rule.startswith(":") else ColumnAlignment.RIGHT
