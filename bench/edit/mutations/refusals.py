"""Mutations after which the edit must be refused, because any result would be a guess."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher
from random import Random

from bench.edit.ambiguity import has_any_match, literal_count, min_distance_elsewhere, tokens
from bench.edit.draft import Draft, Row, build_rows
from bench.edit.reference_edits import NUMBER
from bench.edit.sources import random_source

_NAME = re.compile(r"\b[A-Za-z_]{4,}\b")
_OPERATORS = {"<": ">=", ">": "<=", "==": "!=", "!=": "==", "+": "-", " and ": " or ", " or ": " and ", "&&": "||"}
_PLACEHOLDERS = (
    "// rest of code ...",
    "rest of methods ...",
    "// (rest of method ...)",
    "unchanged code ...",
    "// unchanged methods...",
    "(rest of code...)",
)
_FOREIGN = 0.6
"""Share of tokens by which a text must differ from every window of a file to count as absent."""


def duplicate_lines(draft: Draft, rng: Random) -> Draft | None:
    """Duplicate the lines elsewhere, with nothing in the arguments to tell the places apart."""
    copy = [row.true_old for row in draft.rows if row.true_old is not None]
    if len(draft.tail) < 8 or sum(len(tokens(line)) for line in copy) < 3:
        return None
    at = rng.randrange(4, len(draft.tail))
    tail = (*draft.tail[:at], *copy, *draft.tail[at:])
    twice = replace(draft, tail=tail)
    return None if literal_count(twice) == 1 else twice.with_rows(twice.rows, "the same lines twice")


def use_absent_text(draft: Draft, rng: Random) -> Draft | None:
    """Use text of another file, or text that is gone."""
    given = Counter(token for line in draft.lines("old") for token in tokens(line))
    if given.total() < 5:
        return None
    if rng.random() < 0.5:
        other = random_source(rng, (draft.suffix,))
        lines, note = other.lines, "of another file"
    else:
        lines, note = (*draft.head, *draft.tail), "gone"
    kept = [line for line in lines if line.strip()]
    size = sum(1 for line in draft.lines("old") if line.strip())
    most = int(_FOREIGN * given.total())
    if len(kept) < 3 or min_distance_elsewhere(kept, given, size, (0, 0), most=most) <= most:
        return None
    rows = [Row(None, None, row.old, row.new) for row in draft.rows]
    changed = replace(draft, head=tuple(lines), tail=()).with_rows(rows, note)
    return None if literal_count(changed) else changed


def change_meaning(draft: Draft, rng: Random) -> Draft | None:
    """Change the file in the words to be replaced or in a line to be deleted.

    A different number counts anywhere in such a line.
    """
    rows = list(draft.rows)
    again = {(row.true_new or "").strip() for row in rows}
    touched = [
        index
        for index, row in enumerate(rows)
        if row.true_old is not None and not row.is_kept and row.true_old.strip() and row.true_old.strip() not in again
    ]
    if not touched:
        return None
    index = rng.choice(touched)
    row = rows[index]
    old, new = row.true_old or "", row.true_new
    if _may_continue_elsewhere(old, [each.true_new for each in rows if each is not row and not each.is_kept]):
        return None
    other = rng.choice((_other_number, _other_name, _other_operator))(rng, draft, old, new)
    if other is None or other in {old, new}:
        return None
    rows[index] = replace(row, true_old=other)
    changed = draft.with_rows(rows, f"{other.strip()!r} by now")
    return None if literal_count(changed) or has_any_match(changed) else changed


def insert_placeholder(draft: Draft, rng: Random) -> Draft | None:
    """Insert an omission placeholder into the new text."""
    mark = rng.choice(_PLACEHOLDERS)
    rows = list(draft.rows)
    at = rng.randrange(len(rows) + 1)
    rows.insert(at, Row(None, None, None, mark))
    return draft.with_rows(rows, f"{mark!r} in new")


def expect_wrong_count(draft: Draft, rng: Random) -> Draft | None:
    """Expect a different number of occurrences."""
    lines = draft.before()
    counts = Counter(line for line in lines if len(line.strip()) >= 6)
    several = sorted(line for line, count in counts.items() if count > 1)
    text = "\n".join(lines) + "\n"
    usable = several if several and rng.random() < 0.8 else sorted(counts)
    line = rng.choice(usable) if usable else ""
    count = text.count(line) if line else 0
    expected = rng.choice([number for number in (1, 2, 3, count + 1) if number != count])
    names = _NAME.findall(line)
    if not count or not names:
        return None
    name = rng.choice(names)
    row = Row(None, None, line, line.replace(name, f"{name}_too"))
    mutated = replace(
        draft,
        head=tuple(lines),
        rows=(),
        tail=(),
        ends_with_newline=False,
        expected=None if expected == 1 else expected,
    )
    return mutated.with_rows([row], f"{count} places, {expected} expected")


def apply_already(draft: Draft, _rng: Random) -> Draft | None:
    """Apply the edit to the file beforehand."""
    rows = [replace(row, true_old=row.true_new) for row in draft.rows]
    done = draft.with_rows(rows, "done already")
    small = sum(len(tokens(line)) for line in draft.lines("new")) < 5
    return None if small or literal_count(done) or has_any_match(done) else done


def change_nothing(draft: Draft, rng: Random) -> Draft | None:
    """Request no change, or the creation of an existing file."""
    lines = draft.lines("old")
    if rng.random() < 0.5:
        return draft.with_rows(build_rows(lines, lines), "old is new")
    rows = [replace(row, old=None) for row in draft.rows]
    return replace(draft, ends_with_newline=False).with_rows(rows, "empty old_string")


def _may_continue_elsewhere(old: str, lines: Iterable[str | None]) -> bool:
    """Check whether a removed or changed line may have become one of these."""
    return any(line and SequenceMatcher(None, old.strip(), line.strip()).ratio() > 0.5 for line in lines)


def _other_number(rng: Random, _draft: Draft, old: str, _new: str | None) -> str | None:
    found = list(NUMBER.finditer(old))
    if not found:
        return None
    place = rng.choice(found)
    number = int(place[0])
    return old[: place.start()] + str(rng.choice((number + 1, number * 2 + 3, number + 20))) + old[place.end() :]


def _other_name(rng: Random, draft: Draft, old: str, new: str | None) -> str | None:
    here = [found for found in _NAME.finditer(old) if new is None or _is_replaced(found.span(), old, new)]
    if not here:
        return None
    place = rng.choice(here)
    others = {name for line in draft.before() for name in _NAME.findall(line)} - set(_NAME.findall(f"{old} {new}"))
    far = sorted(name for name in others if SequenceMatcher(None, name, place[0]).ratio() < 0.4)
    return old[: place.start()] + rng.choice(far) + old[place.end() :] if far else None


def _other_operator(rng: Random, _draft: Draft, old: str, new: str | None) -> str | None:
    here = [
        (at, sign)
        for sign in _OPERATORS
        if (at := old.find(sign)) > 0 and (new is None or _is_replaced((at, at + len(sign)), old, new))
    ]
    if not here:
        return None
    at, sign = rng.choice(here)
    return old[:at] + _OPERATORS[sign] + old[at + len(sign) :]


def _is_replaced(span: tuple[int, int], old: str, new: str) -> bool:
    """Check whether the change removes these characters."""
    words = re.compile(r"\w+|\s+|[^\w\s]")
    before, after = words.findall(old), words.findall(new)
    at = 0
    gone: list[tuple[int, int]] = []
    for tag, i, j, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        size = len("".join(before[i:j]))
        if tag in {"replace", "delete"}:
            gone.append((at, at + size))
        at += size
    return any(start <= span[0] and span[1] <= end for start, end in gone)
