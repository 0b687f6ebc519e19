"""Dots in the new text: elisions that would delete lines, and dots that are meant literally."""

from random import Random

from bench.edit.draft import Draft, Row, indent_of
from bench.edit.mutations.characters import make_comment

_TEXTS = (
    "...",
    "…",
    "... existing code ...",
    "... (unchanged)",
    "... rest of the code ...",
    "... other lines ...",
    "rest as before",
    "rest unchanged",
    "existing code here",
    "same as before",
    "unchanged",
    "code omitted for brevity",
    "[...]",
    "the remaining lines stay the same",
    "rest of the code...",
)
_FORMS = (
    "// {}",
    "# {}",
    "/* {} */",
    "<!-- {} -->",
    "{{/* {} */}}",
    "-- {}",
    "; {}",
    "% {}",
    '"""{}"""',
    "REM {}",
    "' {}",
    "(* {} *)",
)
_MEANT = {
    ".py": (
        "values = table[..., 0]",
        'print("...")',
        "# Waiting for the server...",
        "def stub(self): ...",
        "*rest, ...",
    ),
    ".pyi": ("def stub(self): ...", "..."),
    ".js": ("...options,", "log('...');", "// Loading more...", "const { a, ...rest } = b;"),
    ".ts": ("...options,", "log('...');", "// Loading more...", "const { a, ...rest } = b;"),
    ".md": ("And so on ...", "Then it stopped...", "...and they lived on."),
    ".html": ("<p>Loading...</p>", "<p>and so on ...</p>"),
    ".c": ("printf(format, ...);", "/* Wait for it... */"),
    ".sh": ('echo "Loading ..."', "# Remove the old ones..."),
}


def elide_in_new(draft: Draft, rng: Random) -> Draft | None:
    """Put a mark in place of lines that stay, in the new text only."""
    rows = list(draft.rows)
    runs = [
        (start, end)
        for start in range(len(rows))
        for end in range(start + 2, min(start + 12, len(rows)) + 1)
        if all(row.is_kept and row.new is not None for row in rows[start:end]) and _has_code(rows[start:end])
    ]
    if not runs:
        return None
    start, end = rng.choice(runs)
    hidden = [row.new for row in rows[start:end] if row.new and row.new.strip()]
    mark = indent_of(hidden[0]) + _random_mark(draft, rng)
    rows[start:end] = [
        Row(None, None, None, mark),
        *(Row(row.true_old, None, row.old, None) for row in rows[start:end]),
    ]
    return draft.with_rows(rows, f"{end - start} lines as {mark.strip()!r} in new")


def add_literal_dots(draft: Draft, rng: Random) -> Draft | None:
    """Add a line with dots that are meant."""
    lines = _MEANT.get(draft.suffix)
    if lines is None:
        return None
    rows = list(draft.rows)
    at = rng.randrange(len(rows) + 1)
    beside = rows[max(at - 1, 0)].true_new or ""
    line = indent_of(beside) + rng.choice(lines)
    rows.insert(at, Row(None, line, None, line))
    return draft.with_rows(rows, f"{line.strip()!r} is meant")


def _random_mark(draft: Draft, rng: Random) -> str:
    text = rng.choice(_TEXTS)
    # Bare dots may be code in these files.
    if draft.suffix not in {".pyi", ".yml", ".md"} and rng.random() < 0.2 and not _has_doctests(draft):
        return rng.choice(("...", "…", "... existing code ..."))
    comment = make_comment(draft.suffix, text)
    return comment if comment is not None and rng.random() < 0.7 else rng.choice(_FORMS).format(text)


def _has_doctests(draft: Draft) -> bool:
    return any(">>>" in line or "Traceback" in line or "@overload" in line for line in draft.before())


def _has_code(rows: list[Row]) -> bool:
    """Check for at least two lines that say something."""
    lines = {(row.true_old or "").strip() for row in rows}
    return sum(sum(map(str.isalnum, line)) >= 4 and line not in {"pass", "..."} for line in lines) >= 2
