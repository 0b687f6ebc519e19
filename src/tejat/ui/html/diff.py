"""Diffs as tables: unified and side by side, with line numbers, signs, marked words and syntax colours.

Both tables are in the markup; the class `split-diffs` on an ancestor shows the second one where there is room.
"""

from collections.abc import Iterator, Sequence
from html import escape

from tejat.core.i18n import _, ngettext
from tejat.ui.html.code import role_markup
from tejat.ui.html.markup import escape_text, scroll_box
from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import (
    DiffRow,
    DiffRowKind,
    build_diff_rows,
    clip_label,
    clip_rows,
    count_changes,
    gap_label,
    strip_blank_context,
)
from tejat.ui.shared.diff.syntax import diff_tokens
from tejat.ui.shared.diff.word_marks import split_at_marks
from tejat.ui.shared.text.code_tokens import CodeLine, CodeRole

MAX_DIFF_ROWS = 2_000
"""Most rows of a diff. Those in the middle are left out of a longer one, and a row says how many."""
_MAX_PATCH_CHARS = 2_000_000
_MAX_LINE_CHARS = 2_000
_SIDE_COLUMNS = '<col class="number-column"><col class="sign-column"><col>'
_WHOLE_LINES = (DiffRowKind.FILE, DiffRowKind.GAP, DiffRowKind.NOTE)


def render_diff(patch: str, *, file_name: str = "", with_files: bool = True, with_split: bool = True) -> str:
    """Render a unified diff of one or more files; `file_name` gives the language of a diff that names no file.

    Without files their headings are left out. Without split only the unified table is made.
    """
    rows = strip_blank_context(build_diff_rows(patch[:_MAX_PATCH_CHARS], with_files=with_files))
    note = ""
    if len(patch) > _MAX_PATCH_CHARS:
        missing = len(patch) - _MAX_PATCH_CHARS
        label = ngettext("{count} more character", "{count} more characters", missing)
        note = f'<p class="note">{escape_text(label)}</p>'
    return render_diff_rows(rows, file_name=file_name, with_split=with_split) + note


def render_diff_rows(rows: Sequence[DiffRow], *, file_name: str = "", with_split: bool = True) -> str:
    """Render rows of a diff."""
    shown = clip_rows(fit_rows(rows, MAX_DIFF_ROWS), _MAX_LINE_CHARS)
    if not shown:
        return ""
    lines = [_line_markup(row, tokens) for row, tokens in zip(shown, diff_tokens(shown, file_name), strict=True)]
    added, removed = count_changes(shown)
    label = _("Changes: {added} added, {removed} removed", added=added, removed=removed)
    content = _unified_table(shown, lines, label)
    if with_split:
        content += _split_table(shown, lines, label)
    return scroll_box("div", content, class_="diff", label=label)


def _unified_table(rows: Sequence[DiffRow], lines: Sequence[str], label: str) -> str:
    head = _head(_("Line"), _("Change"), _("Text"))
    body = "".join(_unified_row(row, line) for row, line in zip(rows, lines, strict=True))
    return f'<table class="unified"><caption>{escape_text(label)}</caption>{head}<tbody>{body}</tbody></table>'


def _unified_row(row: DiffRow, line: str) -> str:
    if row.kind in _WHOLE_LINES:
        return _whole_row(row, columns=3)
    return f'<tr class="{row.kind.value}">{_number_cell(row.number)}{_sign_cell(row)}<td class="text">{line}</td></tr>'


def _split_table(rows: Sequence[DiffRow], lines: Sequence[str], label: str) -> str:
    head = _head(_("Old line"), _("Change"), _("Old text"), _("New line"), _("Change"), _("New text"))
    body = "".join(_split_rows(rows, lines))
    columns = f"<colgroup>{_SIDE_COLUMNS * 2}</colgroup>"
    return f'<table class="split"><caption>{escape_text(label)}</caption>{columns}{head}<tbody>{body}</tbody></table>'


def _split_rows(rows: Sequence[DiffRow], lines: Sequence[str]) -> Iterator[str]:
    """Yield rows with both sides: removed lines stand beside the added lines that follow them."""
    old, new = list[int](), list[int]()
    for at, row in enumerate(rows):
        if row.kind is DiffRowKind.REMOVED and not new:
            old.append(at)
            continue
        if row.kind is DiffRowKind.ADDED:
            new.append(at)
            continue
        yield from _pairs(rows, lines, old, new)
        old, new = list[int](), list[int]()
        if row.kind is DiffRowKind.REMOVED:
            old.append(at)
        elif row.kind in _WHOLE_LINES:
            yield _whole_row(row, columns=6)
        else:
            text = f'<td class="text">{lines[at]}</td>'
            sign = '<td class="sign"></td>'
            sides = f"{_number_cell(row.old_number)}{sign}{text}{_number_cell(row.new_number)}{sign}{text}"
            yield f'<tr class="context">{sides}</tr>'
    yield from _pairs(rows, lines, old, new)


def _pairs(rows: Sequence[DiffRow], lines: Sequence[str], old: Sequence[int], new: Sequence[int]) -> Iterator[str]:
    for place in range(max(len(old), len(new))):
        left = _side(rows, lines, old[place] if place < len(old) else None)
        right = _side(rows, lines, new[place] if place < len(new) else None)
        yield f"<tr>{left}{right}</tr>"


def _side(rows: Sequence[DiffRow], lines: Sequence[str], at: int | None) -> str:
    if at is None:
        return '<td class="number none"></td><td class="sign none"></td><td class="text none"></td>'
    row, kind = rows[at], rows[at].kind.value
    return f'{_number_cell(row.number, kind)}{_sign_cell(row, kind)}<td class="text {kind}">{lines[at]}</td>'


def _whole_row(row: DiffRow, *, columns: int) -> str:
    match row.kind:
        case DiffRowKind.FILE:
            counts = f' <span class="added">+{row.added}</span> <span class="removed">-{row.removed}</span>'
            has_counts = row.added or row.removed
            text = f"<strong>{escape_text(row.text)}</strong>{counts if has_counts else ''}"
        case DiffRowKind.GAP:
            text = f"… {escape_text(' · '.join(filter(None, (gap_label(row), row.text.strip()))))}"
        case _:
            text = escape_text(row.text)
    kind = f"{row.kind.value} hides-changes" if row.kind is DiffRowKind.GAP and row.added + row.removed else row.kind
    return f'<tr class="{kind}"><td colspan="{columns}">{text}</td></tr>'


def _head(*columns: str) -> str:
    cells = "".join(f'<th scope="col">{escape_text(name)}</th>' for name in columns)
    return f"<thead><tr>{cells}</tr></thead>"


def _number_cell(number: int | None, kind: str = "") -> str:
    return f'<td class="number{f" {kind}" if kind else ""}">{number or ""}</td>'


def _sign_cell(row: DiffRow, kind: str = "") -> str:
    class_ = f"sign {kind}".rstrip()
    match row.kind:
        case DiffRowKind.ADDED:
            return f'<td class="{class_}" aria-label="{escape_text(_("added"))}">+</td>'
        case DiffRowKind.REMOVED:
            return f'<td class="{class_}" aria-label="{escape_text(_("removed"))}">-</td>'
        case _:
            return f'<td class="{class_}"></td>'


def _line_markup(row: DiffRow, tokens: CodeLine) -> str:
    """Return the text of a line with its colours, changed words and trailing blanks marked."""
    if row.kind in _WHOLE_LINES:
        return ""
    end = len(row.text.rstrip(" \t")) if row.is_change else len(row.text)
    parts = [_piece_markup(*piece) for piece in split_at_marks(tokens, row.marks, end)]
    if blanks := row.text[end:]:
        parts.append(f'<mark class="blank">{escape(blanks)}</mark>')
    if row.hidden:
        parts.append(f' <span class="clipped">… {escape_text(clip_label(row))}</span>')
    return "".join(parts)


def _piece_markup(text: str, role: CodeRole | None, is_marked: bool) -> str:
    content = escape(text) if role is None else role_markup(text, role)
    return f"<mark>{content}</mark>" if is_marked else content
