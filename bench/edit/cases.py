"""The cases of a seed: the same ones whenever and however many are asked for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from bench.edit import listing, memory, refusals, spelling, white_space
from bench.edit.case import Call, Case
from bench.edit.clear import is_clear, literal_count, literal_is_meant
from bench.edit.draft import Disturbance, Draft
from bench.edit.forms import Writer, any_form, dressed
from bench.edit.several import several_places
from bench.edit.truth import true_edit

_ATTEMPTS = 3_000

_ESCAPE = re.compile(r"""\\[nt"'\\u]""")
_LINED_UP = re.compile(r"\S {2,}\S|\S\t+\S|\w, \w")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#39);")
_COMMENT = re.compile(r"^\s*(?:#|//) \w+ \w+ \w+ \w+ \w+")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of disturbance. Of one group at most one is met with in a case; a lower `rank` is done first.

    `suffixes` are the files where it is found more than elsewhere, `seek` the lines. `alone` is the share of cases
    without a second.
    """

    name: str
    disturb: Disturbance
    group: str
    rank: int
    suffixes: tuple[str, ...] = ()
    seek: re.Pattern[str] | None = None
    alone: float = 0.6


KINDS: tuple[Kind, ...] = (
    Kind("trailing white space", white_space.trailing_white_space, "trailing", 1),
    Kind("tabs and spaces", white_space.tabs_and_spaces, "indentation", 0),
    Kind("inner white space", white_space.inner_white_space, "inner", 1, seek=_LINED_UP),
    Kind("indentation shifted", white_space.shifted_indentation, "indentation", 1),
    Kind("blank lines", white_space.blank_lines, "blank", 1),
    Kind("line cut short", memory.cut_short, "cut", 1, alone=0.2),
    Kind("too much escaping", spelling.too_much_escaping, "text", 5),
    Kind("too little escaping", spelling.too_little_escaping, "text", 2, (".py", ".js", ".json", ".c"), _ESCAPE),
    Kind("look-alikes", spelling.look_alikes, "glyphs", 2),
    Kind("normal forms", spelling.normal_forms, "glyphs", 0),
    Kind("line numbers", listing.line_numbers, "listing", 3),
    Kind("diff signs", listing.diff_signs, "listing", 3),
    Kind("quote marks", listing.quote_marks, "listing", 3),
    Kind("code fence", listing.code_fence, "listing", 4),
    Kind("too many entities", spelling.too_many_entities, "text", 5),
    Kind("too few entities", spelling.too_few_entities, "text", 2, (".html", ".md", ".js"), _ENTITY),
    Kind("lines left out", memory.left_out, "gap", 0),
    Kind("comment cut", memory.comment_cut, "gap", 1, (".py", ".js", ".ts", ".toml", ".yml", ".sh"), _COMMENT),
    Kind("misremembered", memory.misremembered, "memory", 1),
    Kind("out of date", memory.out_of_date, "memory", 0),
    Kind("line ends", spelling.line_ends, "ends", 6),
)
TOO_LITTLE_CONTEXT = "too little context"
EXACT = "exact"
SEVERAL = "several places"
MUST_REFUSE: Mapping[str, Disturbance] = {
    "two places": refusals.two_places,
    "not there": refusals.not_there,
    "meaning changed": refusals.meaning_changed,
    "placeholder": refusals.placeholder,
    "wrong count": refusals.wrong_count,
    "done already": refusals.already_done,
    "no change": refusals.no_change,
}
_VISIBLE_ALONE = frozenset({"line cut short", "line ends"})
"""Kinds that may leave text that still stands in the file; where others do, they have disturbed nothing."""

_DISTURBED_TWICE = ("trailing white space", "indentation shifted", "look-alikes", "too much escaping", "blank lines")
"""What may be done to text that stands in two places, without telling which is meant."""

_TURNS: tuple[str, ...] = (
    EXACT,
    *(kind.name for kind in KINDS),
    TOO_LITTLE_CONTEXT,
    SEVERAL,
    *(kind.name for kind in KINDS),
    *MUST_REFUSE,
)
ALL_KINDS = tuple(dict.fromkeys(_TURNS))
_BY_NAME = {kind.name: kind for kind in KINDS}


def cases(seed: int, count: int) -> Iterator[Case]:
    """Each kind in its turn. A case depends on the seed and its number alone."""
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        turn = _TURNS[number % len(_TURNS)]
        yield _case(f"{seed}-{number:05}", turn, rng)


def _case(name: str, turn: str, rng: Random) -> Case:
    for _ in range(_ATTEMPTS):
        made = _attempt(name, turn, rng)
        if made is not None:
            return made
    raise AssertionError(f"no case of {turn!r} could be made of what is installed here")


def _attempt(name: str, turn: str, rng: Random) -> Case | None:
    kind = _BY_NAME.get(turn)
    draft = true_edit(rng, kind.suffixes, kind.seek) if kind and rng.random() < 0.7 else true_edit(rng)
    if draft is None:
        return None
    form = any_form(rng)
    draft = dressed(draft, form, rng)
    if draft is None or not _is_exact(draft):
        return None
    if turn in MUST_REFUSE:
        return _refused(name, turn, draft, form, rng)
    if turn == SEVERAL:
        return several_places(name, turn, draft, form, rng)
    if turn == TOO_LITTLE_CONTEXT:
        made = memory.too_little_context(draft, rng)
        return None if made is None or literal_count(made) < 2 else _finished(name, (turn,), made, form, rng)
    if turn == EXACT:
        return _finished(name, (turn,), draft, form, rng)
    return _disturbed(name, _BY_NAME[turn], draft, form, rng)


def _disturbed(name: str, kind: Kind, draft: Draft, form: str, rng: Random) -> Case | None:
    chosen = [kind]
    if rng.random() > kind.alone:
        chosen.append(rng.choice([other for other in KINDS if other.group != kind.group]))
    for one in sorted(chosen, key=lambda one: one.rank):
        made = one.disturb(draft, rng)
        # What cannot be seen in the old text cannot be told of the new one.
        if made is None or (made.argument("old") == draft.argument("old") and made.before() == draft.before()):
            return None
        draft = made
    names = tuple(one.name for one in chosen)
    if not is_clear(draft) or (not _VISIBLE_ALONE.intersection(names) and literal_count(draft)):
        return None
    return _finished(name, names, draft, form, rng)


def _refused(name: str, turn: str, draft: Draft, form: str, rng: Random) -> Case | None:
    if turn == "two places" and rng.random() < 0.6:
        kind = rng.choice([kind for kind in KINDS if kind.name in _DISTURBED_TWICE])
        disturbed = kind.disturb(draft, rng)
        if disturbed is None:
            return None
        draft = disturbed
    made = MUST_REFUSE[turn](draft, rng)
    return None if made is None else _finished(name, (turn,), made, form, rng, refuse=True)


def _finished(
    name: str, kinds: tuple[str, ...], draft: Draft, form: str, rng: Random, *, refuse: bool = False
) -> Case | None:
    old, new = draft.argument("old"), draft.argument("new")
    writer = Writer(draft, form, rng)
    try:
        first, before, after = writer.first(), writer.before(), writer.after()
        (old + new).encode()
    except UnicodeEncodeError:
        return None
    earlier = _earlier(draft)
    if earlier is None or (not refuse and (before == after or old == new)):
        return None
    return Case(
        name=name,
        kinds=kinds,
        notes=draft.notes,
        form=form,
        file_name=f"{name}{draft.suffix_of_name}",
        before=first if earlier else before,
        between=before,
        earlier=earlier,
        call=Call(old, new, draft.expected, draft.allow_multiple),
        after=None if refuse else after,
    )


def _earlier(draft: Draft) -> tuple[Call, ...] | None:
    """The exact edit that has brought the file to where it is, given with enough around it; None if it cannot be."""
    late = [index for index, row in enumerate(draft.rows) if row.is_late]
    if not late:
        return ()
    text = "\n".join(draft.first()) + "\n"
    for around in range(1, 12):
        start, end = max(0, late[0] - around), late[-1] + 1 + around
        rows = draft.rows[start:end]
        was = [line for row in rows if (line := row.was if row.is_late else row.true_old) is not None]
        became = [row.true_old for row in rows if row.true_old is not None]
        if text.count("\n".join(was)) == 1 and was and became:
            return (Call("\n".join(was), "\n".join(became)),)
    return None


def _is_exact(draft: Draft) -> bool:
    """Whether the true edit, given exactly, stands in the file once; dressing it may have changed that."""
    return literal_count(draft) == 1 and literal_is_meant(draft)
