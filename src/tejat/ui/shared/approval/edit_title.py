"""Headings of file changes: the file, and how many lines change."""

from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.i18n import _
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.diff.hunks import HUNK_HEADING, strip_file_header
from tejat.ui.shared.path_labels import shorten_path


def edit_heading(change: EditConfirmation, *, folder: str) -> str:
    """Return a sanitized heading such as `Edit src/price.py`, with the path relative to `folder`."""
    path = escape_line(shorten_path(change.file_path, folder=folder))
    return _("Create {path}", path=path) if change.is_new_file else _("Edit {path}", path=path)


def unchanged_note(change: EditConfirmation) -> str:
    """Return why no line changes, empty if lines do or if that is unknown."""
    if change.original_content is not None and change.original_content == change.new_content:
        return _("The file already has this content.")
    return _("The new file is empty.") if change.new_content == "" and change.is_new_file else ""


def edit_counts(change: EditConfirmation) -> tuple[str, ...]:
    """Return the numbers of added and removed lines as `+2` and `-1`, empty if they are unknown."""
    counts = count_changed_lines(change)
    if counts is None:
        return ()
    added, removed = counts
    return (f"+{added}",) if change.is_new_file else (f"+{added}", f"-{removed}")


def count_changed_lines(change: EditConfirmation) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines, None if unknown."""
    hunks = list(strip_file_header(change.file_diff))
    if any(HUNK_HEADING.match(line) for line in hunks):
        return sum(line[:1] == "+" for line in hunks), sum(line[:1] == "-" for line in hunks)
    stat = change.diff_stat
    return None if stat is None else (stat.model_added_lines, stat.model_removed_lines)
