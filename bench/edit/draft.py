"""A case under construction: the intended edit row by row, beside the arguments."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from random import Random


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the intended edit and of the arguments; None if there is no such line.

    `original` is the line before a prior edit of the same session, if `has_prior_edit`.
    """

    true_old: str | None
    true_new: str | None
    old: str | None
    new: str | None
    original: str | None = None
    has_prior_edit: bool = False

    @property
    def is_kept(self) -> bool:
        return self.true_old is not None and self.true_old == self.true_new

    @property
    def is_untouched(self) -> bool:
        """Whether the line is kept, not blank and not mutated yet."""
        return self.is_kept and self.old == self.new == self.true_old and bool((self.old or "").strip())


@dataclass(frozen=True, slots=True)
class Draft:
    """Lines before the place, the rows of the place, and the lines after it.

    `ends_with_newline` adds a line end to both arguments. Each of `wrappers` transforms the text of an argument, "old"
    or "new".
    """

    suffix: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    tail: tuple[str, ...]
    ends_with_newline: bool
    final_newline: bool
    notes: tuple[str, ...] = ()
    expected: int | None = None
    allow_multiple: bool = False
    wrappers: tuple["Wrapper", ...] = ()

    def before(self) -> list[str]:
        return [*self.head, *_present(row.true_old for row in self.rows), *self.tail]

    def original(self) -> list[str]:
        """The file before any prior edit."""
        return [
            *self.head,
            *_present(row.original if row.has_prior_edit else row.true_old for row in self.rows),
            *self.tail,
        ]

    def after(self) -> list[str]:
        return [*self.head, *_present(row.true_new for row in self.rows), *self.tail]

    def lines(self, side: str) -> list[str]:
        return list(_present(row.old if side == "old" else row.new for row in self.rows))

    def argument(self, side: str) -> str:
        text = "\n".join(self.lines(side)) + ("\n" if self.ends_with_newline else "")
        for wrap in self.wrappers:
            text = wrap(text, side)
        return text

    def with_wrapper(self, wrap: "Wrapper", note: str) -> "Draft":
        return replace(self, wrappers=(*self.wrappers, wrap), notes=(*self.notes, note))

    def with_rows(self, rows: Sequence[Row], note: str) -> "Draft":
        return replace(self, rows=tuple(rows), notes=(*self.notes, note))


Wrapper = Callable[[str, str], str]

Mutation = Callable[[Draft, Random], Draft | None]
"""Makes a draft less exact; None if it does not apply to the draft."""


def build_rows(old: Sequence[str], new: Sequence[str]) -> tuple[Row, ...]:
    """Build the rows of an exact edit."""
    rows: list[Row] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal" or j - i == m - k:
            rows += [Row(a, b, a, b) for a, b in zip(old[i:j], new[k:m], strict=True)]
        else:
            rows += [Row(line, None, line, None) for line in old[i:j]]
            rows += [Row(None, line, None, line) for line in new[k:m]]
    return tuple(rows)


def widen(draft: Draft, above: int, below: int) -> Draft:
    """Add context lines to the arguments."""
    up, down = min(above, len(draft.head)), min(below, len(draft.tail))
    cut = len(draft.head) - up
    rows = (
        *build_rows(draft.head[cut:], draft.head[cut:]),
        *draft.rows,
        *build_rows(draft.tail[:down], draft.tail[:down]),
    )
    # Context up to the end of the file has no line end after it.
    ends = draft.ends_with_newline and (not down or down < len(draft.tail))
    return replace(draft, head=draft.head[:cut], rows=rows, tail=draft.tail[down:], ends_with_newline=ends)


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _present(lines: Iterator[str | None]) -> Iterator[str]:
    return (line for line in lines if line is not None)
