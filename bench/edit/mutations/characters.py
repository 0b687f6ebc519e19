"""Mutations of single characters: escapes, entities, look-alikes, line ends.

If both arguments are mutated alike, the mutation can be recognized from the file and undone in the new text. If only
the old text is, the new text is meant literally. Changed and added lines contain only what is unambiguous then.
"""

import html
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from bench.edit.draft import Draft, Row, Wrapper, indent_of

_SEQUENCES: Mapping[str, str] = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ENTITIES: Mapping[str, str] = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}
_LOOK_ALIKES: tuple[tuple[str, str], ...] = (
    ("'", "’"),
    ("-", "‑"),
    (" - ", " – "),
    ("--", "—"),
    ("...", "…"),
    ("(", "（"),
    (")", "）"),
    (":", "："),
    (",", "，"),
    (" ", "\u00a0"),
)
_PROSE = (
    "Größe und Höhe müssen übereinstimmen, sonst schlägt die Prüfung fehl",
    "Vérifie que la clé a été créée avant d'être utilisée à nouveau",
    "El tamaño está en píxeles; año y día según la configuración",
    "Ändert sich die Größe, wird über die Änderung später entschieden",
)
_COMMENTS: Mapping[str, tuple[str, str]] = {
    ".py": ("# ", ""),
    ".pyi": ("# ", ""),
    ".sh": ("# ", ""),
    ".toml": ("# ", ""),
    ".yml": ("# ", ""),
    ".js": ("// ", ""),
    ".ts": ("// ", ""),
    ".c": ("/* ", " */"),
    ".h": ("/* ", " */"),
    ".css": ("/* ", " */"),
    ".html": ("<!-- ", " -->"),
    ".md": ("", ""),
}


def make_comment(suffix: str, text: str) -> str | None:
    """Format a comment for a file type; None if it has no comments."""
    marks = _COMMENTS.get(suffix)
    return None if marks is None else marks[0] + text + marks[1]


def add_escapes(draft: Draft, rng: Random) -> Draft | None:
    """Add one level of escaping, for all characters or one kind."""
    only_old = rng.random() < 0.4
    how = rng.choice(("json", "json", "quotes", "backslashes"))
    changed = [row.true_new for row in draft.rows if not row.is_kept and row.true_new is not None]
    if how == "quotes" and any("\\" in line for line in changed):
        return None
    if only_old and any("\\" in line for line in changed) and not _is_shown(draft, "\\"):
        return None
    quote = rng.choice("\"'")
    keeps_letters = rng.random() < 0.7

    def escaped(text: str) -> str:
        match how:
            case "json":
                return json.dumps(text, ensure_ascii=not keeps_letters)[1:-1]
            case "quotes":
                return text.replace(quote, f"\\{quote}")
            case _:
                return text.replace("\\", "\\\\")

    return draft.with_wrapper(
        _wrapper_for(escaped, only_old=only_old), f"too much escaping ({how}) in {_side_name(only_old)}"
    )


def remove_escapes(draft: Draft, rng: Random) -> Draft | None:
    """Replace escapes of the file by their characters."""
    present = [name for name in _SEQUENCES if any(name in line for line in draft.lines("old"))]
    if any(_UNICODE.search(line) for line in draft.lines("old")):
        present.append("\\u")
    if not present:
        return None
    sequence = rng.choice(present)
    if sequence != "\\\\" and any(f"\\{sequence}" in line for line in draft.lines("old")):
        return None
    only_old = rng.random() < 0.4

    def plain(line: str) -> str:
        if sequence == "\\u":
            return _UNICODE.sub(lambda found: chr(int(found[1], 16)), line)
        return line.replace(sequence, _SEQUENCES[sequence])

    return _decode_sequence(
        draft, plain, sequence, f"{sequence} not escaped in {_side_name(only_old)}", only_old=only_old
    )


def add_entities(draft: Draft, rng: Random) -> Draft | None:
    only_old = rng.random() < 0.4
    quotes = rng.random() < 0.5
    changed = [row.true_new for row in draft.rows if not row.is_kept and row.true_new is not None]
    if only_old and any("&" in line and ";" in line for line in changed) and not _is_shown(draft, "&"):
        return None

    def escaped(text: str) -> str:
        return html.escape(text, quote=quotes).replace("&#x27;", "&#39;")

    return draft.with_wrapper(_wrapper_for(escaped, only_old=only_old), f"entities in {_side_name(only_old)}")


def remove_entities(draft: Draft, rng: Random) -> Draft | None:
    """Replace entities of the file by their characters; the file has some, or becomes the HTML source of another."""
    if rng.random() < 0.5:
        draft = _as_html_source(draft)
    present = [name for name in _ENTITIES if any(name in line for line in draft.lines("old"))]
    if not present:
        return None
    entity = rng.choice(present)
    if entity == "&amp;" and len(present) > 1:
        # Without ampersands it is unclear which of the others were entities.
        return None
    only_old = rng.random() < 0.4
    note = f"{entity} as a character in {_side_name(only_old)}"
    return _decode_sequence(
        draft, lambda line: line.replace(entity, _ENTITIES[entity]), entity, note, only_old=only_old
    )


def _as_html_source(draft: Draft) -> Draft:
    def shown(line: str) -> str:
        return html.escape(line, quote=False)

    def shown_if(line: str | None) -> str | None:
        return None if line is None else shown(line)

    rows = [
        Row(shown_if(row.true_old), shown_if(row.true_new), shown_if(row.old), shown_if(row.new)) for row in draft.rows
    ]
    return replace(
        draft,
        suffix=".html",
        head=tuple(map(shown, draft.head)),
        rows=tuple(rows),
        tail=tuple(map(shown, draft.tail)),
    )


def swap_confusables(draft: Draft, rng: Random) -> Draft | None:
    """Swap plain and typographic, no-break or full-width characters, in the arguments or in the file."""
    only_old = rng.random() < 0.35
    if rng.random() < 0.4:
        return _swap_confusables_in_file(draft, rng, only_old=only_old)
    quotes = rng.random() < 0.5
    pairs = [] if quotes else [rng.choice(_LOOK_ALIKES)]

    def dressed(line: str | None) -> str | None:
        return None if line is None else _swap_characters(line, pairs, quotes=quotes)

    plain = ['"', "'"] if quotes else [pair[0] for pair in pairs]
    if not only_old:
        shown = {mark for mark in plain if any(mark in line for line in draft.lines("old"))}
        added = [row.true_new for row in draft.rows if not row.is_kept and row.true_new is not None]
        if any(mark in line for line in added for mark in plain if mark not in shown):
            return None
    rows = [replace(row, old=dressed(row.old), new=row.new if only_old else dressed(row.new)) for row in draft.rows]
    return draft.with_rows(rows, f"look-alikes of {plain} in {_side_name(only_old)}")


def _swap_confusables_in_file(draft: Draft, rng: Random, *, only_old: bool) -> Draft | None:
    """Mutate only unchanged prose: the intended quotes of a changed line would be unknown."""
    marks = _COMMENTS.get(draft.suffix)
    if marks is None:
        return None
    pairs = rng.sample([("'", "’"), (" - ", " – "), ("--", "—"), ("...", "…"), (" ", "\u00a0")], 2)
    rows: list[Row] = []
    for row in draft.rows:
        text = row.true_old or ""
        if not row.is_untouched or (marks[0] and not text.lstrip().startswith(marks[0].strip())):
            rows.append(row)
            continue
        start = len(indent_of(text)) + len(marks[0])
        dressed = text[:start] + _swap_characters(text[start:], pairs, quotes=True)
        rows.append(replace(row, true_old=dressed, true_new=dressed, new=dressed if only_old else row.new))
    return draft.with_rows(rows, f"look-alikes in the file, none in {_side_name(only_old)}")


def swap_normal_form(draft: Draft, rng: Random) -> Draft | None:
    """Add a comment in one Unicode normal form to the file and in the other to the arguments."""
    words = make_comment(draft.suffix, rng.choice(_PROSE))
    between = [
        index
        for index in range(1, len(draft.rows))
        if draft.rows[index - 1].is_untouched and draft.rows[index].is_untouched
    ]
    if words is None or not between:
        return None
    at = rng.choice(between)
    line = indent_of(draft.rows[at].old or "") + words
    short, long = unicodedata.normalize("NFC", line), unicodedata.normalize("NFD", line)
    true, given = (short, long) if rng.random() < 0.7 else (long, short)
    only_old = rng.random() < 0.4
    row = Row(true, true, given, true if only_old else given)
    rows = [*draft.rows[:at], row, *draft.rows[at:]]
    return draft.with_rows(rows, f"another normal form in {_side_name(only_old)}")


def use_crlf(draft: Draft, rng: Random) -> Draft | None:
    """Use CRLF in the arguments. The opposite is a file format."""
    only_old = rng.random() < 0.4
    return draft.with_wrapper(
        _wrapper_for(lambda text: text.replace("\n", "\r\n"), only_old=only_old), f"CRLF in {_side_name(only_old)}"
    )


def _decode_sequence(
    draft: Draft, plain: Callable[[str], str], sequence: str, note: str, *, only_old: bool
) -> Draft | None:
    """Replace a sequence of the file by what it stands for.

    A changed line must contain the sequence as often as before, and an added line not at all, else the meaning is
    ambiguous. Nor may they contain what it stands for, unless the new text is literal.
    """
    for row in draft.rows:
        if not row.is_kept and (row.true_old or "").count(sequence) != (row.true_new or "").count(sequence):
            return None
        if not row.is_kept and not only_old and plain(sequence) in (row.true_new or "").replace(sequence, ""):
            return None
    rows = [
        replace(
            row,
            old=None if row.old is None else plain(row.old),
            new=row.new if only_old or row.new is None else plain(row.new),
        )
        for row in draft.rows
    ]
    return draft.with_rows(rows, note)


def _swap_characters(line: str, pairs: list[tuple[str, str]], *, quotes: bool) -> str:
    for plain, other in pairs:
        if plain == " ":
            body = len(indent_of(line))
            line = line[:body] + line[body:].replace(" ", other)
        else:
            line = line.replace(plain, other)
    if not quotes:
        return line
    opening = True
    dressed: list[str] = []
    for character in line:
        if character == '"':
            dressed.append("“" if opening else "”")
            opening = not opening
        else:
            dressed.append("’" if character == "'" else character)
    return "".join(dressed)


def _is_shown(draft: Draft, mark: str) -> bool:
    """Check whether a kept line shows how the mark is meant in the new text."""
    return any(row.is_untouched and mark in (row.old or "") for row in draft.rows)


def _wrapper_for(change: Callable[[str], str], *, only_old: bool) -> Wrapper:
    return lambda text, side: text if only_old and side == "new" else change(text)


def _side_name(only_old: bool) -> str:
    return "old" if only_old else "both"
