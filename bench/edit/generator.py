"""Generator of benchmark cases, deterministic for a seed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from bench.edit.ambiguity import is_unambiguous, literal_count, literal_match_is_target
from bench.edit.case import Call, Case
from bench.edit.draft import Draft, Mutation
from bench.edit.file_formats import CaseWriter, apply_format, random_format
from bench.edit.final_newline import generate_final_newline
from bench.edit.multiple_places import generate_multiple_places
from bench.edit.mutations import characters, elisions, listing_marks, paraphrase, recall, refusals, whitespace
from bench.edit.reference_edits import make_true_edit

_ATTEMPTS = 3_000

_ESCAPE = re.compile(r"""\\[nt"'\\u]""")
_LINED_UP = re.compile(r"\S {2,}\S|\S\t+\S|\w, \w")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#39);")
_COMMENTED = (".py", ".js", ".ts", ".toml", ".yml", ".sh")
_COMMENT = re.compile(r"^\s*(?:#|//) \w+ \w+ \w+ \w+ \w+")


@dataclass(frozen=True, slots=True)
class MutationKind:
    """A kind of mutation. Only one of a group is used in a case; a lower `rank` is applied first.

    `suffixes` are files in which it is frequent, `seek` matches such lines. `alone` is the share of cases without a
    second mutation.
    """

    name: str
    mutate: Mutation
    group: str
    rank: int
    suffixes: tuple[str, ...] = ()
    seek: re.Pattern[str] | None = None
    alone: float = 0.6


KINDS: tuple[MutationKind, ...] = (
    MutationKind("trailing white space", whitespace.change_trailing_whitespace, "trailing", 1),
    MutationKind("tabs and spaces", whitespace.swap_tabs_and_spaces, "indentation", 0),
    MutationKind("inner white space", whitespace.change_inner_whitespace, "inner", 1, seek=_LINED_UP),
    MutationKind("indentation shifted", whitespace.shift_indentation, "indentation", 1),
    MutationKind("blank lines", whitespace.change_blank_lines, "blank", 1),
    MutationKind("line cut short", recall.truncate_line, "cut", 1, alone=0.2),
    MutationKind("too much escaping", characters.add_escapes, "text", 5),
    MutationKind("too little escaping", characters.remove_escapes, "text", 2, (".py", ".js", ".json", ".c"), _ESCAPE),
    MutationKind("look-alikes", characters.swap_confusables, "glyphs", 2),
    MutationKind("normal forms", characters.swap_normal_form, "glyphs", 0),
    MutationKind("line numbers", listing_marks.add_line_numbers, "listing", 3),
    MutationKind("diff signs", listing_marks.add_diff_signs, "listing", 3),
    MutationKind("quote marks", listing_marks.add_quote_marks, "listing", 3),
    MutationKind("code fence", listing_marks.add_code_fence, "listing", 4),
    MutationKind("too many entities", characters.add_entities, "text", 5),
    MutationKind("too few entities", characters.remove_entities, "text", 2, (".html", ".md", ".js"), _ENTITY),
    MutationKind("lines left out", recall.elide_lines, "gap", 0),
    MutationKind("comment cut", recall.truncate_comment, "gap", 1, _COMMENTED, _COMMENT),
    MutationKind("misremembered", recall.misremember_word, "memory", 1),
    MutationKind("out of date", recall.use_stale_lines, "memory", 0),
    MutationKind("line ends", characters.use_crlf, "ends", 6),
    MutationKind("lines reordered", paraphrase.reorder_lines, "order", 0),
    MutationKind("comment reworded", paraphrase.reword_comment, "gap", 1, _COMMENTED, paraphrase.COMMENT),
    MutationKind("new text unindented", paraphrase.unindent_new, "trailing", 1, (".py", ".js", ".ts"), alone=1.0),
)
TOO_LITTLE_CONTEXT = "too little context"
EXACT = "exact"
LITERAL_DOTS = "dots that are meant"
FINAL_NEWLINE = "final newline"
MULTIPLE_PLACES = "several places"
MUST_REFUSE: Mapping[str, Mutation] = {
    "two places": refusals.duplicate_lines,
    "not there": refusals.use_absent_text,
    "meaning changed": refusals.change_meaning,
    "placeholder": refusals.insert_placeholder,
    "elided code": elisions.elide_in_new,
    "wrong count": refusals.expect_wrong_count,
    "done already": refusals.apply_already,
    "no change": refusals.change_nothing,
}
_VISIBLE_ALONE = frozenset({"line cut short", "line ends"})
"""Kinds that may leave the text in the file; others that do so have changed nothing."""

_SAFE_FOR_DUPLICATES = (
    "trailing white space",
    "indentation shifted",
    "look-alikes",
    "too much escaping",
    "blank lines",
)
"""Mutations of duplicated text that do not tell the two places apart."""

_CASE_KINDS: tuple[str, ...] = (
    EXACT,
    LITERAL_DOTS,
    FINAL_NEWLINE,
    *(kind.name for kind in KINDS),
    TOO_LITTLE_CONTEXT,
    MULTIPLE_PLACES,
    *(kind.name for kind in KINDS),
    *MUST_REFUSE,
)
ALL_KINDS = tuple(dict.fromkeys(_CASE_KINDS))
_BY_NAME = {kind.name: kind for kind in KINDS}


def generate_cases(seed: int, count: int) -> Iterator[Case]:
    """Generate cases of all kinds in turn. A case depends only on the seed and its number."""
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        turn = _CASE_KINDS[number % len(_CASE_KINDS)]
        yield _generate_case(f"{seed}-{number:05}", turn, rng)


def _generate_case(name: str, turn: str, rng: Random) -> Case:
    for _ in range(_ATTEMPTS):
        made = _attempt(name, turn, rng)
        if made is not None:
            return made
    raise AssertionError(f"no case of {turn!r} could be made of what is installed here")


def _attempt(name: str, turn: str, rng: Random) -> Case | None:
    kind = _BY_NAME.get(turn)
    draft = make_true_edit(rng, kind.suffixes, kind.seek) if kind and rng.random() < 0.7 else make_true_edit(rng)
    if draft is None:
        return None
    form = random_format(rng)
    draft = apply_format(draft, form, rng)
    if draft is None or not _occurs_once(draft):
        return None
    if turn in MUST_REFUSE:
        return _refusal_case(name, turn, draft, form, rng)
    if turn == MULTIPLE_PLACES:
        return generate_multiple_places(name, turn, draft, form, rng)
    if turn == TOO_LITTLE_CONTEXT:
        made = recall.drop_context(draft, rng)
        return None if made is None or literal_count(made) < 2 else _finish(name, (turn,), made, form, rng)
    if turn == FINAL_NEWLINE:
        return generate_final_newline(name, turn, draft, form, rng)
    if turn == LITERAL_DOTS:
        made = elisions.add_literal_dots(draft, rng)
        return None if made is None else _finish(name, (turn,), made, form, rng)
    if turn == EXACT:
        return _finish(name, (turn,), draft, form, rng)
    return _mutate(name, _BY_NAME[turn], draft, form, rng)


def _mutate(name: str, kind: MutationKind, draft: Draft, form: str, rng: Random) -> Case | None:
    chosen = [kind]
    if rng.random() > kind.alone:
        chosen.append(rng.choice([other for other in KINDS if other.group != kind.group]))
    for one in sorted(chosen, key=lambda one: one.rank):
        made = one.mutate(draft, rng)
        # A mutation that the old text does not show cannot be undone in the new text.
        if made is None or (made.argument("old") == draft.argument("old") and made.before() == draft.before()):
            return None
        draft = made
    names = tuple(one.name for one in chosen)
    if not is_unambiguous(draft) or (not _VISIBLE_ALONE.intersection(names) and literal_count(draft)):
        return None
    return _finish(name, names, draft, form, rng)


def _refusal_case(name: str, turn: str, draft: Draft, form: str, rng: Random) -> Case | None:
    if turn in {"two places", "elided code"} and rng.random() < 0.6:
        kind = rng.choice([kind for kind in KINDS if kind.name in _SAFE_FOR_DUPLICATES])
        mutated = kind.mutate(draft, rng)
        if mutated is None:
            return None
        draft = mutated
    made = MUST_REFUSE[turn](draft, rng)
    return None if made is None else _finish(name, (turn,), made, form, rng, refuse=True)


def _finish(
    name: str, kinds: tuple[str, ...], draft: Draft, form: str, rng: Random, *, refuse: bool = False
) -> Case | None:
    old, new = draft.argument("old"), draft.argument("new")
    writer = CaseWriter(draft, form, rng)
    try:
        first, before, after = writer.original(), writer.before(), writer.after()
        (old + new).encode()
    except UnicodeEncodeError:
        return None
    earlier = _prior_calls(draft)
    if earlier is None or (not refuse and (before == after or old == new)):
        return None
    return Case(
        name=name,
        kinds=kinds,
        notes=draft.notes,
        file_format=form,
        file_name=f"{name}{draft.suffix}",
        before=first if earlier else before,
        start=before,
        prior_calls=earlier,
        call=Call(old, new, draft.expected, draft.allow_multiple),
        after=None if refuse else after,
    )


def _prior_calls(draft: Draft) -> tuple[Call, ...] | None:
    """The exact edit that produced the current file, with enough context; None if there is none."""
    late = [index for index, row in enumerate(draft.rows) if row.has_prior_edit]
    if not late:
        return ()
    text = "\n".join(draft.original()) + "\n"
    for around in range(1, 12):
        start, end = max(0, late[0] - around), late[-1] + 1 + around
        rows = draft.rows[start:end]
        was = [line for row in rows if (line := row.original if row.has_prior_edit else row.true_old) is not None]
        became = [row.true_old for row in rows if row.true_old is not None]
        if text.count("\n".join(was)) == 1 and was and became:
            return (Call("\n".join(was), "\n".join(became)),)
    return None


def _occurs_once(draft: Draft) -> bool:
    """Check that the exact edit still occurs once after the format was applied."""
    return literal_count(draft) == 1 and literal_match_is_target(draft)
