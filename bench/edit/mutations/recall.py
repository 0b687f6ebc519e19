"""Mutations of recall: typos, stale lines, elisions, truncated lines, missing context."""

import re
from dataclasses import replace
from random import Random

from bench.edit.ambiguity import tokens
from bench.edit.draft import Draft, Row, indent_of, widen
from bench.edit.mutations.characters import make_comment
from bench.edit.reference_edits import NUMBER, WORD

_LETTERS = re.compile(r"(?<![\w\\])[A-Za-z]{6,}(?!\w)")


def misremember_word(draft: Draft, rng: Random) -> Draft | None:
    """Insert a typo, or in a kept line a different word.

    In a changed line only typos are forgivable, and only in words that the change keeps.
    """
    rows = list(draft.rows)
    known_words = {token for line in draft.before() for token in tokens(line)}
    index = rng.randrange(len(rows))
    row = rows[index]
    old = row.old or ""
    words = [found for found in _LETTERS.finditer(old) if row.new is None or _is_kept_word(found[0], old, row.new)]
    if row.old is None or not words:
        return None
    word = rng.choice(words)[0]
    another = row.is_untouched and len(rows) >= 4 and len(tokens(old)) >= 4 and rng.random() < 0.4
    wrong = _random_other_word(rng, draft, word) if another else _make_typo(rng, word)
    if wrong is None or (wrong in known_words and not another):
        return None
    only_old = rng.random() < 0.4 or row.new is None
    new = row.new if only_old or row.new is None else re.sub(rf"\b{word}\b", wrong, row.new)
    rows[index] = replace(row, old=re.sub(rf"\b{word}\b", wrong, old), new=new)
    return draft.with_rows(rows, f"{wrong} for {word} in {'old' if only_old else 'both'}")


def use_stale_lines(draft: Draft, rng: Random) -> Draft | None:
    """Apply a prior edit to lines that the edit does not touch, nor their neighbors."""
    draft = widen(draft, rng.randint(1, 4), rng.randint(1, 4))
    rows = list(draft.rows)
    apart = [
        index
        for index in range(len(rows))
        if all(rows[near].is_kept for near in range(max(0, index - 1), min(len(rows), index + 2)))
        and rows[index].is_untouched
        and 0 < index < len(rows) - 1
    ]
    if len([row for row in rows if row.is_untouched]) < 4 or not apart:
        return None
    done: list[str] = []
    for index in sorted(rng.sample(apart, rng.randint(1, min(2, len(apart)))), reverse=True):
        what = rng.choice(("changed", "changed", "added", "gone"))
        changed = _apply_prior_edit(rng, draft, rows, index, what)
        if changed is None:
            return None
        rows[index : index + 1] = changed
        done.append(what)
    # A deleted line can be known only within the same session.
    is_in_session = "gone" in done or rng.random() < 0.5
    if not is_in_session:
        rows = [replace(row, original=None, has_prior_edit=False) for row in rows]
    return draft.with_rows(
        rows, f"{' and '.join(done)} since, {'in the same session' if is_in_session else 'before it'}"
    )


def elide_lines(draft: Draft, rng: Random) -> Draft | None:
    """Elide kept lines as `...` in both arguments. The lines next to the gap must identify it."""
    draft = widen(draft, rng.randint(0, 12), rng.randint(0, 12))
    rows = list(draft.rows)
    runs = [
        (start, end)
        for start in range(1, len(rows) - 3)
        for end in range(start + 2, min(start + 15, len(rows) - 1))
        if all(row.is_kept for row in rows[start - 1 : end + 1])
    ]
    runs = [run for run in runs if _is_delimited(rows, *run)]
    if not runs:
        return None
    start, end = rng.choice(runs)
    indent = indent_of(next(row.old for row in rows[start:end] if row.old and row.old.strip()))
    texts = ["...", "... existing code ...", "..."]
    mark = rng.choice([make_comment(draft.suffix, text) or "..." for text in texts] + ["..."])
    hidden = [replace(row, old=None, new=None) for row in rows[start:end]]
    rows[start:end] = [Row(None, None, indent + mark, indent + mark), *hidden]
    return draft.with_rows(rows, f"{end - start} lines as {mark!r} in both")


def truncate_comment(draft: Draft, rng: Random) -> Draft | None:
    """Truncate a kept comment with `...`."""
    opening = (make_comment(draft.suffix, "") or "").split(" ")[0]
    rows = list(draft.rows)
    usable = [
        index
        for index, row in enumerate(rows)
        if row.is_untouched
        and opening
        and (row.old or "").lstrip().startswith(opening)
        and len((row.old or "").split()) > 5
    ]
    if not usable:
        return None
    index = rng.choice(usable)
    line = rows[index].old or ""
    words = list(re.finditer(r"\S+", line))
    cut = line[: words[rng.randint(3, len(words) - 2)].end()] + rng.choice(("...", " ..."))
    only_old = rng.random() < 0.5
    rows[index] = replace(rows[index], old=cut, new=line if only_old else cut)
    return draft.with_rows(rows, f"comment cut in {'old' if only_old else 'both'}")


def truncate_line(draft: Draft, rng: Random) -> Draft | None:
    """Cut the first line at its start or the last line at its end; both are kept lines."""
    rows = list(draft.rows)
    at_start = rng.random() < 0.5
    index = 0 if at_start else len(rows) - 1
    row = rows[index]
    line = row.old or ""
    body = line.strip()
    if not row.is_untouched or len(body) < 14:
        return None
    size = rng.randint(6, len(body) - 3)
    place = line.index(body)
    cut = line[place + len(body) - size :] if at_start else line[: place + size]
    only_old = rng.random() < 0.4
    rows[index] = replace(row, old=cut, new=row.new if only_old else cut)
    draft = draft if at_start else replace(draft, ends_with_newline=False)
    return draft.with_rows(rows, f"{'first' if at_start else 'last'} line cut in {'old' if only_old else 'both'}")


def drop_context(draft: Draft, _rng: Random) -> Draft | None:
    """Use old text that occurs several times, with context in the new text that occurs only once."""
    rows = list(draft.rows)
    changed = [index for index, row in enumerate(rows) if not row.is_kept]
    if not changed:
        return None
    first, last = changed[0], changed[-1] + 1
    if not any(row.old for row in rows[first:last]):
        first = max(0, first - 1)
    core = [row.old for row in rows[first:last] if row.old is not None]
    # With a blank line at its edge, it is unclear whether that or just a line end is meant.
    if not core or not core[0].strip() or not core[-1].strip():
        return None
    comes = [row.new for row in rows[first:last] if row.new is not None]
    if comes and not (comes[0].strip() and comes[-1].strip()):
        return None
    # If nothing replaces the text, the context may be meant as its replacement.
    if max((len(line.strip()) for line in core), default=0) < 6 or not any(row.new for row in rows[first:last]):
        return None
    lines = draft.before()
    here = len(draft.head) + sum(row.true_old is not None for row in rows[:first])
    others = [
        at
        for at in range(len(lines) - len(core) + 1)
        if lines[at : at + len(core)] == core and abs(at - here) >= len(core)
    ]
    above = [row.new for row in rows[:first] if row.new is not None]
    below = [row.new for row in rows[last:] if row.new is not None]
    # Inside of other lines it would occur in unexpected places.
    if "\n".join(lines).count("\n".join(core)) != len(others) + 1:
        return None
    if not others or not any(len(line.strip()) >= 8 for line in (*above[-1:], *below[:1])):
        return None
    for at in others:
        behind = lines[at + len(core) : at + len(core) + 1]
        if (above and lines[at - 1 : at] == above[-1:]) or (below and behind == below[:1]):
            return None
    hidden = [replace(row, old=None) if not first <= index < last else row for index, row in enumerate(rows)]
    return replace(draft, ends_with_newline=False).with_rows(hidden, f"stands in {len(others) + 1} places")


def _apply_prior_edit(rng: Random, draft: Draft, rows: list[Row], index: int, what: str) -> list[Row] | None:
    row = rows[index]
    line = row.old or ""
    if what == "gone":
        return [replace(row, true_old=None, true_new=None, original=line, has_prior_edit=True)]
    if what == "added":
        text = rng.choice([other for other in draft.before() if other.strip()]).strip()
        return [row, Row(true := indent_of(line) + text, true, None, None, None, has_prior_edit=True)]
    words = list(WORD.finditer(line))
    numbers = list(NUMBER.finditer(line))
    if not words and not numbers:
        return None
    found = rng.choice([*words, *numbers])
    other = str(int(found[0]) + 3) if found[0].isdigit() else f"{found[0]}_now"
    true = line[: found.start()] + other + line[found.end() :]
    return [replace(row, true_old=true, true_new=true, original=line, has_prior_edit=True)]


def _is_delimited(rows: list[Row], start: int, end: int) -> bool:
    """Check that the lines around the gap do not occur in it."""
    inside = {(row.old or "").strip() for row in rows[start:end]}
    edges = [(rows[at].old or "").strip() for at in (start - 1, end)]
    return any(inside) and all(len(line) >= 4 and line not in inside for line in edges)


def _is_kept_word(word: str, old: str, new: str) -> bool:
    pattern = rf"\b{word}\b"
    return len(re.findall(pattern, old)) == len(re.findall(pattern, new)) == 1


def _random_other_word(rng: Random, draft: Draft, word: str) -> str | None:
    others = {other for line in draft.before() for other in _LETTERS.findall(line)} - {word}
    return rng.choice(sorted(others)) if others else None


def _make_typo(rng: Random, word: str) -> str:
    at = rng.randrange(1, len(word) - 2)
    match rng.randrange(3):
        case 0:
            return word[:at] + word[at + 1 :]
        case 1:
            return word[: at + 1] + word[at:]
        case _:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
