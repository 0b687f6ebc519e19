"""Mutations of white space: at line ends, in indentation, in blank lines.

The white space of changed and added lines must follow from other lines, so it is mutated only together with the whole
block.
"""

import re
from dataclasses import replace
from math import gcd
from random import Random

from bench.edit.draft import Draft, Row, indent_of

_RUN = re.compile(r"(?<=\S)(?: {2,}|\t+)(?=\S)")


def change_trailing_whitespace(draft: Draft, rng: Random) -> Draft | None:
    """Add trailing blanks to the arguments or to the file."""
    where = rng.choice(("old", "both", "file"))
    rows = list(draft.rows)
    usable = [
        index
        for index, row in enumerate(rows)
        if row.is_untouched or (where == "old" and row.old is not None and row.old.strip())
    ]
    usable = [index for index in usable if not (rows[index].old or "").endswith((" ", "\t"))]
    if not usable:
        return None
    for index in rng.sample(usable, rng.randint(1, min(3, len(usable)))):
        blanks = rng.choice((" ", "  ", "    ", "\t"))
        row = rows[index]
        if where == "file":
            true = f"{row.true_old}{blanks}"
            rows[index] = replace(row, true_old=true, true_new=true)
        else:
            rows[index] = replace(
                row, old=f"{row.old}{blanks}", new=f"{row.new}{blanks}" if where == "both" else row.new
            )
    return draft.with_rows(rows, f"trailing blanks in {where}")


def swap_tabs_and_spaces(draft: Draft, rng: Random) -> Draft | None:
    """Indent by something else than the file does."""
    unit = _indent_unit(draft)
    if unit is None:
        return None
    if unit != "\t" and rng.random() < 0.5:
        draft = _with_tabs(draft, unit)
        given, unit = unit, "\t"
    else:
        given = rng.choice([other for other in ("\t", "  ", "    ") if other != unit])
    only_old = rng.random() < 0.35
    levels = {level for line in draft.lines("old") if line.strip() and (level := _indent_level(line, unit)) is not None}
    changed = [
        _indent_level(row.true_new, unit) for row in draft.rows if not row.is_kept and (row.true_new or "").strip()
    ]
    if None in changed or not any(levels):
        return None
    # A single pair of widths does not tell a factor from a shift.
    if len(levels) < 2 and not set(changed) <= levels and "\t" not in (unit, given):
        return None
    if only_old and (
        _moves_lines(draft) or not any(row.is_untouched and indent_of(row.old or "") for row in draft.rows)
    ):
        return None
    rows = [
        replace(row, old=_reindent(row.old, unit, given), new=row.new if only_old else _reindent(row.new, unit, given))
        for row in draft.rows
    ]
    side = "old" if only_old else "both"
    return draft.with_rows(rows, f"indented by {given!r} in {side}, the file by {unit!r}")


def shift_indentation(draft: Draft, rng: Random) -> Draft | None:
    """Shift the whole block left or right."""
    lines = [line for side in ("old", "new") for line in draft.lines(side) if line.strip()]
    common = indent_of(min(lines, key=lambda line: len(indent_of(line))))
    if not all(line.startswith(common) for line in lines):
        return None
    only_old = rng.random() < 0.4
    if only_old and (_moves_lines(draft) or not any(row.is_untouched for row in draft.rows)):
        return None
    # A single pair of widths does not tell a factor from a shift.
    widths = {side: {len(indent_of(line)) for line in draft.lines(side) if line.strip()} for side in ("old", "new")}
    if not only_old and len(widths["old"]) < 2 and widths["old"] != widths["new"] and common:
        return None
    more = "\t" if "\t" in common else rng.choice(("  ", "    "))
    fewer = [len(common), len(common) // 2] if common else []
    choice = rng.choice([*fewer, *fewer, -len(more)])
    if choice == 0:
        return None

    def moved(line: str | None) -> str | None:
        if line is None or not line.strip():
            return line
        return line[choice:] if choice > 0 else more + line

    rows = [replace(row, old=moved(row.old), new=row.new if only_old else moved(row.new)) for row in draft.rows]
    return draft.with_rows(rows, f"shifted by {-choice} in {'old' if only_old else 'both'}")


def change_blank_lines(draft: Draft, rng: Random) -> Draft | None:
    """Drop or add blank lines between kept lines; elsewhere their place would be ambiguous."""
    rows = list(draft.rows)
    only_old = rng.random() < 0.4
    missing = [
        index
        for index in range(1, len(rows) - 1)
        if rows[index].is_kept
        and not (rows[index].old or "x").strip()
        and rows[index - 1].is_untouched
        and rows[index + 1].is_untouched
    ]
    between = [index for index in range(1, len(rows)) if rows[index - 1].is_untouched and rows[index].is_untouched]
    what = rng.choice(["missing"] * bool(missing) * 2 + ["extra"] * bool(between) + ["around"])
    if what == "missing":
        for index in rng.sample(missing, rng.randint(1, len(missing))):
            rows[index] = replace(rows[index], old=None, new=rows[index].new if only_old else None)
    elif what == "extra":
        for index in sorted(rng.sample(between, rng.randint(1, min(2, len(between)))), reverse=True):
            rows.insert(index, Row(None, None, "", None if only_old else ""))
    else:
        if not (rows[0].is_untouched and rows[-1].is_untouched) or draft.ends_with_newline:
            return None
        extra = Row(None, None, "", "")
        rows = [extra, *rows] if rng.random() < 0.5 else [*rows, extra, extra]
        only_old = False
    return draft.with_rows(rows, f"blank lines {what} in {'old' if only_old else 'both'}")


def change_inner_whitespace(draft: Draft, rng: Random) -> Draft | None:
    """Change white space inside of kept lines: fewer blanks, a tab, or none after a comma."""
    runs = [index for index, row in enumerate(draft.rows) if row.is_untouched and _RUN.search((row.old or "").strip())]
    commas = [index for index, row in enumerate(draft.rows) if row.is_untouched and ", " in (row.old or "")]
    chosen = runs or commas
    if not chosen:
        return None
    other = rng.choice((" ", " ", "\t")) if runs else ","
    only_old = rng.random() < 0.4
    rows = list(draft.rows)
    for index in rng.sample(chosen, rng.randint(1, len(chosen))):
        line = rows[index].old or ""
        body = len(indent_of(line))
        changed = line[:body] + (_RUN.sub(other, line[body:]) if runs else line[body:].replace(", ", other))
        rows[index] = replace(rows[index], old=changed, new=line if only_old else changed)
    return draft.with_rows(rows, f"inner blanks as {other!r} in {'old' if only_old else 'both'}")


def _moves_lines(draft: Draft) -> bool:
    """Check whether the edit itself changes the indentation of lines; then only both texts together are conclusive."""
    gone = {(row.true_old or "").strip() for row in draft.rows if not row.is_kept}
    come = {(row.true_new or "").strip() for row in draft.rows if not row.is_kept}
    return bool((gone & come) - {""})


def _indent_unit(draft: Draft) -> str | None:
    """Indent unit of the file, None if it is not obvious."""
    indents = [indent for line in draft.before() if line.strip() and (indent := indent_of(line))]
    if not indents:
        return None
    if all(set(indent) == {"\t"} for indent in indents):
        return "\t"
    if any("\t" in indent for indent in indents):
        return None
    widths = [len(indent) for indent in indents]
    even = [width for width in widths if width % 2 == 0]
    width = gcd(*even) if even else 1
    return " " * width if width in {2, 4} and len(even) > 0.9 * len(widths) else None


def _with_tabs(draft: Draft, unit: str) -> Draft:
    """Indent the whole file and the arguments by tabs."""

    def tabbed(line: str) -> str:
        return _reindent(line, unit, "\t") or ""

    rows = [
        replace(
            row,
            true_old=None if row.true_old is None else tabbed(row.true_old),
            true_new=None if row.true_new is None else tabbed(row.true_new),
            old=None if row.old is None else tabbed(row.old),
            new=None if row.new is None else tabbed(row.new),
        )
        for row in draft.rows
    ]
    return replace(draft, head=tuple(map(tabbed, draft.head)), rows=tuple(rows), tail=tuple(map(tabbed, draft.tail)))


def _indent_level(line: str | None, unit: str) -> int | None:
    """Indent level of a line; None if it is not a multiple of the unit."""
    indent = indent_of(line or "")
    count, rest = divmod(len(indent), len(unit))
    return None if rest or indent != unit * count else count


def _reindent(line: str | None, unit: str, other: str) -> str | None:
    if line is None or not line.strip():
        return line
    indent = indent_of(line)
    count = 0
    while indent.startswith(unit, count * len(unit)):
        count += 1
    return other * count + line[count * len(unit) :]
