"""Guard against changes that replace lines of a file by a line that stands for them."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from tejat.tools.edit.match.normalize import find_defined_names, line_key
from tejat.tools.edit.match.search_block import indent_of, split_lines
from tejat.tools.edit.merge.similar_lines import pair_similar_lines
from tejat.tools.edit.omission.elision_marks import (
    ElisionMark,
    continues_sentence,
    find_elision_mark,
    is_bare_statement,
    is_comment,
)
from tejat.workspace.text.line_edits import DiffEdit, common_prefix, common_suffix, compute_line_edits

_STUB_SUFFIXES = frozenset({".py", ".pyx", ".pl", ".pm", ".t", ".raku"})
"""Languages in which `...` is a statement."""
_PROSE_SUFFIXES = frozenset({"", ".md", ".markdown", ".rst", ".txt", ".adoc", ".tex", ".org", ".log"})
_VARIADIC_SUFFIXES = frozenset({".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm", ".r", ".lua"})
"""Languages in which `...` is an argument or a parameter."""
_YAML_SUFFIXES = frozenset({".yml", ".yaml"})
_TRIVIAL = re.compile(r"pass|(?:.*:)?\.\.\.|raisenotimplementederror.*|returnnotimplemented|\W*", re.IGNORECASE)
"""Keys of lines that a stub may replace."""
_STUB_HEAD = re.compile(r"\s*(?:@(?:\w+\.)*(?:overload|abstract\w*)\b|class \w+.*\b(?:Protocol|ABC)\b)")
_DOCTEST = re.compile(r"\s*(?:>>> |\.\.\. |Traceback \(most recent call last\))")
_CONTEXT_LINES = 12
_WORD = re.compile(r"\w+")


def find_elision(before: str, after: str, path: str) -> str | None:
    """Find a line that stands for lines that the change from `before` to `after` deletes; None if there is none.

    Dots that are code, as in stubs, doctests and parameter lists, stand for nothing.
    """
    return _Change(split_lines(before), split_lines(after), os.path.splitext(path)[1].lower()).find_elision()


class _Change:
    def __init__(self, old: Sequence[str], new: Sequence[str], suffix: str) -> None:
        self._old, self._new, self._suffix = old, new, suffix
        self._edits = _compute_edits(old, new)
        self._added = {at for edit in self._edits for at in range(edit.new_start, edit.new_end)}
        self._removed = [line for edit in self._edits for line in old[edit.old_start : edit.old_end]]

    def find_elision(self) -> str | None:
        added, removed = Counter(line_key(self._new[at]) for at in self._added), Counter(map(line_key, self._removed))
        # Lines that are only moved are not lost.
        gone = removed - added
        for number, edit in enumerate(self._edits):
            for at, mark in self._added_marks(edit):
                if removed[line_key(self._new[at])] >= added[line_key(self._new[at])]:
                    continue  # It was moved.
                searched = self._edits if mark is ElisionMark.CERTAIN else self._edits_nearby(number)
                lost = sum(self._count_lost(each, gone, mark) for each in searched)
                if lost >= self._min_lost_lines(mark):
                    return self._new[at].strip()
        return None

    def _edits_nearby(self, number: int) -> Sequence[DiffEdit]:
        """The edit and those next to it, with nothing but brackets between them."""
        edits = self._edits
        first, last = number, number
        while first and self._is_trivial(edits[first - 1].new_end, edits[first].new_start):
            first -= 1
        while last + 1 < len(edits) and self._is_trivial(edits[last].new_end, edits[last + 1].new_start):
            last += 1
        return edits[first : last + 1]

    def _is_trivial(self, start: int, end: int) -> bool:
        return all(_TRIVIAL.fullmatch(line_key(line)) for line in self._new[start:end])

    def _added_marks(self, edit: DiffEdit) -> list[tuple[int, ElisionMark]]:
        """New lines that stand for others, if there are more of them than the old lines have."""
        found = [
            (at, mark)
            for at in range(edit.new_start, edit.new_end)
            if (mark := self._find_mark(at)) is not None and not self._is_meant(at, mark)
        ]
        had = sum(find_elision_mark(line) is not None for line in self._old[edit.old_start : edit.old_end])
        return sorted(found, key=lambda each: -each[1])[: max(len(found) - had, 0)]

    def _find_mark(self, at: int) -> ElisionMark | None:
        mark = find_elision_mark(self._new[at])
        if mark is None and self._suffix in _PROSE_SUFFIXES and is_bare_statement(self._new[at]):
            return ElisionMark.BARE
        if mark is not ElisionMark.BARE or self._suffix in _PROSE_SUFFIXES:
            return mark
        # No language has `…` as code, and no statement stands beside `...`.
        is_amid = self._suffix in _STUB_SUFFIXES and not self._is_body(at) and not self._is_item(at)
        return ElisionMark.CERTAIN if "…" in self._new[at] or is_amid else mark

    def _count_lost(self, edit: DiffEdit, gone: "Counter[str]", mark: ElisionMark) -> int:
        """Count the removed lines that the new text lacks. If the mark is uncertain, changed lines are not lost."""
        removed = [line for line in self._old[edit.old_start : edit.old_end] if gone[line_key(line)]]
        if mark is ElisionMark.CERTAIN:
            return sum(any(map(str.isalnum, line)) for line in removed)
        removed = [line for line in removed if not _TRIVIAL.fullmatch(line_key(line))]
        added = self._new[edit.new_start : edit.new_end]
        if all(map(is_comment, removed)) and sum(map(is_comment, added)) >= len(removed):
            return 0  # A comment was reworded.
        added = [line for line in added if find_elision_mark(line) is None]
        pairs = pair_similar_lines(removed, added)
        return len(removed) - sum(_share_words(removed[left], added[right]) for left, right in pairs)

    def _min_lost_lines(self, mark: ElisionMark) -> int:
        """Number of lost lines from which on the mark stands for them."""
        return 2 if mark is ElisionMark.BARE and self._suffix in _STUB_SUFFIXES | _PROSE_SUFFIXES else 1

    # --- marks that are meant literally ---

    def _is_meant(self, at: int, mark: ElisionMark) -> bool:
        line, above = self._new[at], self._new[at - 1] if at else ""
        is_example = line.lstrip().startswith("...") and self._is_in_doctest(at)
        if is_example or continues_sentence(line, above):
            return True
        if mark is ElisionMark.STATEMENT:
            # A heading of prose.
            return self._suffix in _PROSE_SUFFIXES and line.startswith("#")
        return (
            "..." in line
            and mark is ElisionMark.BARE
            and (
                self._suffix == ".pyi"
                or (self._suffix in _YAML_SUFFIXES and not indent_of(line))
                or (self._suffix in _VARIADIC_SUFFIXES and self._is_last_argument(at))
                or (self._suffix in _STUB_SUFFIXES | _PROSE_SUFFIXES and self._is_stub_body(at))
            )
        )

    def _is_in_doctest(self, at: int) -> bool:
        """Check whether the dots go on with the lines of an example, or stand in its output."""
        above = takewhile(str.strip, self._lines_above(at))
        return any(_DOCTEST.match(line) for line in islice(above, _CONTEXT_LINES))

    def _is_last_argument(self, at: int) -> bool:
        above, below = self._nonblank_around(at)
        return above.rstrip().endswith((",", "(")) and below.lstrip().startswith(")")

    def _is_stub_body(self, at: int) -> bool:
        """Check for the whole body of a new block, or of a function that is abstract, an overload or in a protocol.

        In new brackets, dots may be an item.
        """
        is_body = self._is_body(at)
        heads = list(self._enclosing_heads(at)) if is_body or self._is_item(at) else []
        is_new = bool(heads) and self._is_new_block(heads[0])
        return is_new or (is_body and any(_STUB_HEAD.match(self._new[head]) for head in heads))

    def _is_body(self, at: int) -> bool:
        """Check for the only statement of a block, behind a docstring or alone."""
        (above, below), depth = self._nonblank_around(at), len(indent_of(self._new[at]))
        return above.rstrip().endswith((":", '"""', "'''")) and (not below or len(indent_of(below)) < depth)

    def _is_item(self, at: int) -> bool:
        above, _ = self._nonblank_around(at)
        return above.rstrip().endswith(("[", "(", ","))

    def _is_new_block(self, head: int) -> bool:
        """Check that a block is added and replaces no other, whose body could be omitted."""
        line = self._new[head]
        names = {name for gone in self._removed for name in find_defined_names(gone)}
        is_known = head not in self._added or not names.isdisjoint(find_defined_names(line))
        return not is_known and not any(_share_words(gone, line) for gone in self._removed)

    def _enclosing_heads(self, at: int) -> Iterator[int]:
        """Lines that begin the blocks around a line, innermost first, and their decorators."""
        depth = len(indent_of(self._new[at]))
        for index in range(at - 1, -1, -1):
            line = self._new[index]
            indent = len(indent_of(line))
            if line.strip() and (indent < depth or (indent == depth and line.lstrip().startswith("@"))):
                depth = indent
                yield index
            elif not depth:
                return

    def _lines_above(self, at: int) -> Iterator[str]:
        return (self._new[index] for index in range(at - 1, -1, -1))

    def _nonblank_around(self, at: int) -> tuple[str, str]:
        below = (self._new[index] for index in range(at + 1, len(self._new)))
        return next(filter(str.strip, self._lines_above(at)), ""), next(filter(str.strip, below), "")


def _compute_edits(old: Sequence[str], new: Sequence[str]) -> list[DiffEdit]:
    """Compute the edits, without regard to white space."""
    shorter = min(len(old), len(new))
    front = common_prefix(old, new, limit=shorter)
    back = common_suffix(old, new, limit=shorter - front)
    keys = ([line_key(line) for line in lines[front : len(lines) - back]] for lines in (old, new))
    return [
        DiffEdit(edit.old_start + front, edit.old_end + front, edit.new_start + front, edit.new_end + front)
        for edit in compute_line_edits(*keys)
    ]


def _share_words(left: str, right: str) -> bool:
    """Check that at least half of the words, and not only signs, are the same."""
    one, other = Counter(_WORD.findall(left)), Counter(_WORD.findall(right))
    return 2 * (one & other).total() >= max(one.total(), other.total())
