"""Mutations from copying out of a listing: line numbers, diff signs, quote marks, code fences."""

from dataclasses import replace
from random import Random

from bench.edit.draft import Draft, Row

_NUMBERED = ("{}: {}", "{}\t{}", "{:>6}\t{}", "{:>5}→{}", "{:>4} | {}", "{}| {}", "L{}: {}")
_LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".md": "markdown", ".sh": "bash"}


def add_line_numbers(draft: Draft, rng: Random) -> Draft | None:
    """Number the lines, as in the file or from one."""
    if _has_broken_lines(draft):
        return None
    form = rng.choice(_NUMBERED)
    start = len(draft.head) + 1 if rng.random() < 0.8 else 1
    only_old = rng.random() < 0.4
    rows: list[Row] = []
    old_number = new_number = start
    for row in draft.rows:
        old = None if row.old is None else _with_mark(form.format(old_number, row.old), row.old)
        new = None if row.new is None else _with_mark(form.format(new_number, row.new), row.new)
        rows.append(replace(row, old=old, new=row.new if only_old else new))
        old_number += row.old is not None
        new_number += row.new is not None
    return draft.with_rows(rows, f"numbered as {form!r} in {'old' if only_old else 'both'}")


def add_diff_signs(draft: Draft, rng: Random) -> Draft | None:
    """Add diff signs to the old lines, or to both texts."""
    if _has_broken_lines(draft):
        return None
    only_old = rng.random() < 0.4
    kept = rng.choice((" ", " ", ""))
    if all(row.is_kept or row.old is None for row in draft.rows) and (only_old or not kept):
        return None
    rows: list[Row] = []
    for row in draft.rows:
        same = row.true_old == row.true_new
        old = None if row.old is None else (kept if same else "-") + row.old
        new = None if row.new is None else (kept if same else "+") + row.new
        rows.append(replace(row, old=old, new=row.new if only_old else new))
    return draft.with_rows(rows, f"diff signs in {'old' if only_old else 'both'}, {kept!r} before kept lines")


def add_quote_marks(draft: Draft, rng: Random) -> Draft | None:
    if _has_broken_lines(draft):
        return None
    only_old = rng.random() < 0.4

    def quoted(line: str | None) -> str | None:
        return None if line is None else _with_mark(f"> {line}", line)

    rows = [replace(row, old=quoted(row.old), new=row.new if only_old else quoted(row.new)) for row in draft.rows]
    return draft.with_rows(rows, f"quoted in {'old' if only_old else 'both'}")


def add_code_fence(draft: Draft, rng: Random) -> Draft | None:
    if any("```" in line for side in ("old", "new") for line in draft.lines(side)):
        return None
    # A fence hides whether only one of the texts ends with a blank line.
    if not draft.ends_with_newline and len({draft.argument(side).endswith("\n") for side in ("old", "new")}) > 1:
        return None
    only_old = rng.random() < 0.3
    opening = "```" + rng.choice(("", _LANGUAGES.get(draft.suffix, "text")))
    end = rng.choice(("", "\n"))

    def fenced(text: str, side: str) -> str:
        if only_old and side == "new":
            return text
        return f"{opening}\n{text}{'' if text.endswith(chr(10)) else chr(10)}```{end}"

    return draft.with_wrapper(fenced, f"fenced in {'old' if only_old else 'both'}")


def _with_mark(line: str, bare: str) -> str:
    """Strip trailing spaces of the mark before a blank line."""
    return line if bare else line.rstrip(" ")


def _has_broken_lines(draft: Draft) -> bool:
    return any("\n" in line for side in ("old", "new") for line in draft.lines(side))
