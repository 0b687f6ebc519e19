"""Word-by-word merge of a change into a similar line."""

import re
from collections.abc import Sequence

from tejat.tools.edit.match.line_comparer import is_similar
from tejat.tools.edit.match.normalize import find_numbers, find_operators, line_key, strip_escapes
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_WORD = re.compile(r"(\s*)(\w+|[^\w\s])")


def merge_line(old: str, found: str, new: str) -> str | None:
    """Apply the change from `old` to `new` to `found`; None if uncertain. All lines are without indents.

    Unchanged parts, including white space, are taken from `found`.
    """
    if old == found:
        return new
    if new == old or line_key(new) == line_key(found):
        return found
    if line_key(old) == line_key(found) and _is_spaced_like_file(_Words(found), _Words(old), _Words(new)):
        return new
    is_escaped = strip_escapes(line_key(old)) == strip_escapes(line_key(found)) and line_key(old) != line_key(found)
    if is_escaped and any(old.count(sign) != new.count(sign) for sign in escaped_signs(old, found)):
        return None  # It is unknown which of them are to be escaped.
    words = _merge_words(_Words(old), _Words(found), _Words(new), is_escaped=is_escaped)
    return None if words is None else words + _merge_trailing(old, found, new)


class _Words:
    """Words and punctuation of a line with the white space before each."""

    def __init__(self, line: str) -> None:
        # Trailing blanks precede no word, and matching each of them is slow.
        found = _WORD.findall(line.rstrip())
        self.spaces = [space for space, _ in found]
        self.words = [word for _, word in found]
        self.keys = [line_key(word) for word in self.words]

    def text(self, start: int, end: int) -> str:
        return "".join(self.spaces[index] + self.words[index] for index in range(start, end))


def _is_spaced_like_file(found: _Words, old: _Words, new: _Words) -> bool:
    """Check whether the new words have the spacing of the file, because they were written over its line."""
    return found.words == old.words and _count_equal_spacing(found, new) > _count_equal_spacing(old, new)


def _count_equal_spacing(words: _Words, new: _Words) -> int:
    """Count the kept words with equal spacing; spacing after a change may belong to the change."""
    alike = done = new_done = 0
    for edit in [*compute_line_edits(words.words, new.words), None]:
        end = edit.old_start if edit else len(words.words)
        pairs = zip(words.spaces[done + 1 : end], new.spaces[new_done + 1 :], strict=False)
        alike += sum(left == right for left, right in pairs)
        if edit:
            done, new_done = edit.old_end, edit.new_end
    return alike


def _merge_trailing(old: str, found: str, new: str) -> str:
    """Trailing white space of the result."""
    theirs = _trailing_whitespace(new)
    return _trailing_whitespace(found) if theirs == _trailing_whitespace(old) else theirs


def _trailing_whitespace(line: str) -> str:
    return line[len(line.rstrip()) :]


def escaped_signs(old: str, found: str) -> set[str]:
    """Find the characters that are bare on one side and escaped on the other."""
    return {sign for sign in _SIGNS if _count_forms(sign, old) != _count_forms(sign, found)}


def _count_forms(sign: str, line: str) -> tuple[int, int]:
    return line.count(sign), line.count(f"\\{sign}")


_SIGNS = "\"'`<>&\\"


def _merge_words(old: _Words, found: _Words, new: _Words, *, is_escaped: bool) -> str | None:
    places = _word_positions(old.keys, found.keys)
    if not is_escaped and not _has_same_meaning(old, found, places):
        return None
    parts: list[str] = []
    done = old_done = new_done = 0
    for edit in [*compute_line_edits(old.words, new.words), None]:
        old_end = edit.old_start if edit else len(old.words)
        span = _edit_span(places, edit, len(found.words)) if edit else (len(found.words), len(found.words))
        if span is None:
            return None
        start, end = span
        respaced = _changed_spacing(old, new, old_done, new_done, old_end - old_done, places)
        parts += [respaced.get(index, found.spaces[index]) + found.words[index] for index in range(done, start)]
        if edit is None:
            break
        was, there = old.keys[edit.old_start : edit.old_end], found.keys[start:end]
        if there == new.keys[edit.new_start : edit.new_end]:
            parts.append(found.text(start, end))
        elif there == was or is_similar(" ".join(was), " ".join(there)):
            parts.append(_write_new_words(old, found, new, edit, start))
        else:
            return None
        done, old_done, new_done = end, edit.old_end, edit.new_end
    return "".join(parts)


def _write_new_words(old: _Words, found: _Words, new: _Words, edit: DiffEdit, start: int) -> str:
    """New words; the first one keeps the file's white space unless the change touches it."""
    text = new.text(edit.new_start, edit.new_end)
    if edit.new_start < edit.new_end and edit.old_start < edit.old_end and start < len(found.words):
        space = new.spaces[edit.new_start]
        if space == old.spaces[edit.old_start]:
            return found.spaces[start] + text[len(space) :]
    return text


def _changed_spacing(
    old: _Words, new: _Words, old_start: int, new_start: int, count: int, places: "list[int | None]"
) -> dict[int, str]:
    """White space that the change itself modifies before kept words."""
    changed: dict[int, str] = {}
    for step in range(count):
        place = places[old_start + step]
        if place is not None and old.spaces[old_start + step] != new.spaces[new_start + step]:
            changed[place] = new.spaces[new_start + step]
    return changed


def _has_same_meaning(old: _Words, found: _Words, places: "list[int | None]") -> bool:
    """Check that numbers and operators are equal; else the line means something else.

    Text before and after the given part may be anything, because the line was cut.
    """
    known = [place for place in places if place is not None]
    if not known:
        return False
    there = " ".join(found.keys[known[0] : known[-1] + 1])
    given = " ".join(old.keys)
    if find_operators(there) == find_operators(given) and find_numbers(there) == find_numbers(given):
        return True
    whole = " ".join(found.keys)
    return find_operators(whole) == find_operators(given) and find_numbers(whole) == find_numbers(given)


def _word_positions(old: Sequence[str], found: Sequence[str]) -> "list[int | None]":
    """Position of each old word in `found`; None for words in ranges of different length."""
    places: list[int | None] = []
    shift = 0
    for edit in compute_line_edits(old, found):
        places += range(len(places) + shift, edit.new_start)
        count = edit.old_end - edit.old_start
        is_alike = count == edit.new_end - edit.new_start
        places += range(edit.new_start, edit.new_end) if is_alike else [None] * count
        shift = edit.new_end - edit.old_end
    places += range(len(places) + shift, len(found))
    return places[: len(old)]


def _edit_span(places: "list[int | None]", edit: DiffEdit, found_end: int) -> tuple[int, int] | None:
    """Range of an edit in `found`; None if something is missing or unexpected there."""
    start, end = edit.old_start, edit.old_end
    if start < end:
        first = places[start]
        if first is None or places[start:end] != list(range(first, first + end - start)):
            return None
        return first, first + end - start
    before = places[start - 1] if start else -1
    behind = places[start] if start < len(places) else found_end
    return (behind, behind) if before is not None and behind is not None and before + 1 == behind else None
