"""Cases with several equal places that are all meant."""

from collections import Counter
from dataclasses import replace
from random import Random

from bench.edit.ambiguity import leftovers_are_clear, literal_count, min_distance_elsewhere, tokens
from bench.edit.case import Call, Case
from bench.edit.draft import Draft
from bench.edit.file_formats import CaseWriter
from bench.edit.mutations.whitespace import change_trailing_whitespace, shift_indentation


def generate_multiple_places(name: str, kind: str, draft: Draft, form: str, rng: Random) -> Case | None:
    """Repeat the lines once or twice, and expect as many replacements or allow any number."""
    if form == "mixed line ends" or len(draft.tail) < 12:
        return None
    old = [row.true_old for row in draft.rows if row.true_old is not None]
    if sum(len(tokens(line)) for line in old) < 4:
        return None
    copies = rng.choice((1, 2))
    at = rng.randrange(3, len(draft.tail))
    mutated = draft
    if rng.random() < 0.4:
        changed = rng.choice((change_trailing_whitespace, shift_indentation))(draft, rng)
        if changed is None or literal_count(changed) or not leftovers_are_clear(changed):
            return None
        mutated = changed
    old = [row.true_old for row in mutated.rows if row.true_old is not None]
    new = [row.true_new for row in mutated.rows if row.true_new is not None]
    before = replace(mutated, tail=_with_copies(draft.tail, at, old, copies))
    after = replace(mutated, tail=_with_copies(draft.tail, at, new, copies))
    if mutated is draft and literal_count(before) != 1 + copies:
        return None
    if mutated is not draft and not _is_nothing_else_similar(draft, old):
        return None
    seed = rng.random()
    try:
        raw, intended = CaseWriter(before, form, Random(seed)).before(), CaseWriter(after, form, Random(seed)).after()
    except UnicodeEncodeError:
        return None
    any_number = rng.random() < 0.4
    call = Call(
        before.argument("old"), before.argument("new"), None if any_number else 1 + copies, allow_multiple=any_number
    )
    notes = (*before.notes, f"{1 + copies} places")
    return Case(name, (kind,), notes, form, f"{name}{draft.suffix}", raw, raw, (), call, intended)


def _with_copies(tail: tuple[str, ...], at: int, lines: list[str], copies: int) -> tuple[str, ...]:
    for _ in range(copies):
        tail = (*tail[:at], *lines, *tail[at:])
        at = max(3, at // 2)
    return tail


def _is_nothing_else_similar(draft: Draft, old: list[str]) -> bool:
    """Check that nothing else in the file is similar."""
    given = Counter(token for line in old for token in tokens(line))
    lines = [line for line in (*draft.head, "", *draft.tail) if line.strip()]
    size = sum(1 for line in old if line.strip())
    return min_distance_elsewhere(lines, given, size, (0, 0), most=3) > 3
