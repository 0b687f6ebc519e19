"""Mutations of lines that are remembered by their sense: other order, other words, other indentation."""

import re
from dataclasses import replace
from random import Random

from bench.edit.ambiguity import tokens
from bench.edit.draft import Draft, indent_of, widen
from bench.edit.mutations.whitespace import change_trailing_whitespace

COMMENT = re.compile(r"^(?P<mark>\s*(?:#|//|\*|--|;|%)\s+)[A-Za-z]\w*(?:\s+\S+){2,}\s*$")
_TRAILING_COMMENT = re.compile(r"^(?P<mark>\s*[^#\"'/\s][^#\"'/]*\s(?:#|//)\s+)[A-Za-z]\w*(?:\s+\S+){2,}\s*$")
_SYNONYMS = {
    "the": "a",
    "a": "the",
    "get": "fetch",
    "gets": "fetches",
    "return": "give back",
    "returns": "gives back",
    "list": "sequence",
    "check": "verify",
    "if": "when",
    "when": "if",
    "make": "create",
    "create": "build",
    "use": "apply",
    "all": "every",
    "is": "should be",
    "are": "should be",
    "for": "to handle",
    "not": "never",
    "file": "document",
    "this": "it",
    "that": "which",
    "we": "you",
    "value": "content",
    "because": "since",
    "must": "has to",
    "can": "may",
}
_FILLERS = (
    *(
        "simply",
        "here",
        "also",
        "properly",
        "first",
        "now",
        "internally",
        "given",
        "needed",
        "handle",
        "provide",
        "support",
    ),
    *(
        "ensure",
        "code",
        "result",
        "current",
        "possible",
        "default",
        "only",
        "with",
        "from",
        "into",
        "them",
        "whole",
        "set",
    ),
)
_WORD = re.compile(r"[A-Za-z]+")


def reorder_lines(draft: Draft, rng: Random) -> Draft | None:
    """Swap neighboring kept lines, or move one of them a little, in the old text or in both."""
    draft = widen(draft, rng.randint(0, 3), rng.randint(0, 3))
    rows = list(draft.rows)
    reach = rng.choice((1, 1, 1, 2, 3))
    runs = [
        start for start in range(len(rows) - reach) if all(row.is_untouched for row in rows[start : start + reach + 1])
    ]
    runs = [start for start in runs if len({tokens(row.old or "") for row in rows[start : start + reach + 1]}) > reach]
    if not runs:
        return None
    start = rng.choice(runs)
    lines = [row.old for row in rows[start : start + reach + 1]]
    moved = [*lines[1:], lines[0]] if rng.random() < 0.5 else [lines[-1], *lines[:-1]]
    only_old = rng.random() < 0.4
    for index, line in enumerate(moved, start):
        rows[index] = replace(rows[index], old=line, new=rows[index].new if only_old else line)
    return draft.with_rows(rows, f"{reach + 1} lines in another order in {'old' if only_old else 'both'}")


def reword_comment(draft: Draft, rng: Random) -> Draft | None:
    """Reword one or two kept comments, in the old text or in both."""
    rows = list(draft.rows)
    usable = [index for index, row in enumerate(rows) if row.is_untouched and _find_comment(row.old or "")]
    # The place has to be told by something else.
    if not usable or len([row for row in rows if (row.old or "").strip()]) < 2:
        return None
    only_old = rng.random() < 0.4
    count = rng.choice((1, 1, 1, 2))
    if len(rows) <= 2 * count:
        count = 1
    done: list[str] = []
    for index in rng.sample(usable, min(count, len(usable))):
        line = rows[index].old or ""
        wrong = _reword(line, _find_comment(line), rng)
        if tokens(wrong) == tokens(line):
            return None
        rows[index] = replace(rows[index], old=wrong, new=rows[index].new if only_old else wrong)
        done.append(wrong.strip())
    return draft.with_rows(rows, f"{done} in {'old' if only_old else 'both'}")


def _find_comment(line: str) -> int:
    """Where the text of a comment begins, 0 if there is none."""
    found = COMMENT.match(line) or _TRAILING_COMMENT.match(line)
    return found.end("mark") if found else 0


def unindent_new(draft: Draft, rng: Random) -> Draft | None:
    """Shift the new text to the left margin, beside an old text with a slip and the indentation of the file."""
    mutated = change_trailing_whitespace(draft, rng)
    if mutated is None:
        return None
    old, new = ([line for line in mutated.lines(side) if line.strip()] for side in ("old", "new"))
    common = min((indent_of(line) for line in new), key=len, default="")
    # The first line that both have tells that the new text is shifted.
    if not common or len(new) < 2 or indent_of(old[0]) != indent_of(new[0]) or not mutated.rows[0].is_kept:
        return None
    rows = [
        replace(row, new=row.new.removeprefix(common) if row.new is not None and row.new.strip() else row.new)
        for row in mutated.rows
    ]
    return mutated.with_rows(rows, f"new shifted by {-len(common)}")


def _reword(line: str, at: int, rng: Random) -> str:
    """Replace, drop and add words of a comment that begins at `at`; some of them stay."""
    start = line[:at]
    words = line[len(start) :].split()
    share = rng.uniform(0.2, 0.75)
    kept = set(rng.sample(range(len(words)), max(2, round(len(words) * (1 - share)))))
    made: list[str] = []
    for index, word in enumerate(words):
        # Numbers and names are not reworded.
        if index in kept or not _WORD.fullmatch(word.strip(".,:;")):
            made.append(word)
        elif word.lower() in _SYNONYMS:
            made.append(_SYNONYMS[word.lower()])
        elif rng.random() < 0.6:
            made.append(rng.choice(_FILLERS))
    return start + " ".join(made)
