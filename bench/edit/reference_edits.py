"""Intended edits, before any mutation."""

import re
from collections.abc import Callable, Sequence
from random import Random

from bench.edit.draft import Draft, build_rows, indent_of
from bench.edit.sources import Source, random_hunk, random_source

WORD = re.compile(r"[A-Za-z_][A-Za-z_]{3,}")
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")

_MOST_ROWS = 30


def make_true_edit(rng: Random, suffixes: tuple[str, ...] = (), seek: re.Pattern[str] | None = None) -> Draft | None:
    """Pick a change of the history or make one up in a real file; None if the pick is unusable.

    `suffixes` are the file types, `seek` matches lines near the change. The exact old text occurs once in the file.
    """
    if not suffixes and not seek and rng.random() < 0.45:
        hunk = random_hunk(rng)
        if hunk is None:
            return None
        return _with_context(rng, hunk.source, hunk.start, hunk.end, hunk.new)
    source = random_source(rng, suffixes)
    size = rng.choice((1, 1, 2, 3, 4, 6, 8))
    near = range(len(source.lines))
    if seek is not None:
        near = [index for index in near if seek.search(source.lines[index])]
    if not near:
        return None
    start = max(0, rng.choice(near) - rng.randrange(size + 1))
    block = source.lines[start : start + size]
    changed = rng.choice(_CHANGES)(rng, source, block)
    if changed is None or changed == list(block):
        return None
    return _with_context(rng, source, start, start + len(block), tuple(changed))


def _with_context(rng: Random, source: Source, start: int, end: int, new: Sequence[str]) -> Draft | None:
    """Add context lines until the place is unique."""
    lines = source.lines
    text = "\n".join(lines) + "\n"
    above, below = (rng.choice((0, 1, 1, 2, 3, 3, 5)) for _ in range(2))
    for _ in range(8):
        first, last = max(0, start - above), min(len(lines), end + below)
        old = [*lines[first:last]]
        changed = [*lines[first:start], *new, *lines[end:last]]
        if not any(map(str.strip, old)) or not any(map(str.strip, changed)):
            above, below = above + 1, below + 1
        elif text.count("\n".join(old)) == 1:
            break
        elif rng.random() < 0.5:
            above += 1
        else:
            below += 1
    else:
        return None
    if max(len(old), len(changed)) > _MOST_ROWS or old == changed:
        return None
    at_end = last == len(lines)
    return Draft(
        suffix=source.suffix,
        head=lines[:first],
        rows=build_rows(old, changed),
        tail=lines[last:],
        ends_with_newline=rng.random() < 0.3 and not at_end and bool(changed[-1]),
        final_newline=source.final_newline,
    )


def _rename(rng: Random, source: Source, block: Sequence[str]) -> list[str] | None:
    names = sorted(set(WORD.findall("\n".join(block))))
    if not names:
        return None
    name = rng.choice(names)
    others = sorted(set(WORD.findall("\n".join(source.lines))) - set(names))
    other = rng.choice(
        [f"{name}_{rng.choice(('now', 'base', 'list'))}", f"new_{name}", *rng.sample(others, min(1, len(others)))]
    )
    return [re.sub(rf"\b{name}\b", other, line) for line in block]


def _renumber(rng: Random, _source: Source, block: Sequence[str]) -> list[str] | None:
    places = [index for index, line in enumerate(block) if NUMBER.search(line)]
    if not places:
        return None
    at = rng.choice(places)
    return [
        NUMBER.sub(lambda found: str(int(found[0]) + 7), line, count=1) if index == at else line
        for index, line in enumerate(block)
    ]


def _insert(rng: Random, source: Source, block: Sequence[str]) -> list[str] | None:
    at = rng.randrange(len(block) + 1)
    beside = block[max(0, at - 1)]
    return [*block[:at], *_lines_from_elsewhere(rng, source, indent_of(beside), rng.choice((1, 1, 2, 3))), *block[at:]]


def _delete(rng: Random, _source: Source, block: Sequence[str]) -> list[str] | None:
    if len(block) < 2:
        return None
    at = rng.randrange(len(block))
    gone = rng.choice((1, 1, 2))
    return [*block[:at], *block[at + gone :]]


def _rewrite(rng: Random, source: Source, block: Sequence[str]) -> list[str] | None:
    at = rng.randrange(len(block))
    gone = rng.choice((1, 2, 3))
    lines = _lines_from_elsewhere(rng, source, indent_of(block[at]), rng.choice((1, 2, 4)))
    return [*block[:at], *lines, *block[at + gone :]]


def _wrap(rng: Random, source: Source, block: Sequence[str]) -> list[str] | None:
    if source.suffix not in {".py", ".js", ".ts", ".c", ".h"} or not all(map(str.strip, block)):
        return None
    name = rng.choice(WORD.findall("\n".join(source.lines)) or ["ready"])
    indent = min((indent_of(line) for line in block), key=len)
    unit = "\t" if "\t" in indent else "    " if source.suffix == ".py" else "  "
    deeper = [unit + line for line in block]
    if source.suffix == ".py":
        return [f"{indent}if {name}:", *deeper]
    return [f"{indent}if ({name}) {{", *deeper, f"{indent}}}"]


def _lines_from_elsewhere(rng: Random, source: Source, indent: str, count: int) -> list[str]:
    """Lines of a file of the same type, moved to this indentation."""
    other = random_source(rng, (source.suffix,))
    start = rng.randrange(len(other.lines))
    lines = [line for line in other.lines[start : start + count] if line.strip()] or ["value"]
    least = min(len(indent_of(line)) for line in lines)
    return [indent + line[least:].rstrip() for line in lines]


_CHANGES: tuple[Callable[[Random, Source, Sequence[str]], list[str] | None], ...] = (
    _rename,
    _renumber,
    _insert,
    _delete,
    _rewrite,
    _wrap,
)
