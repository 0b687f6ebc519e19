"""Undo entries in words, and the choice of those to offer, for slash commands and the command line."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.text.paths import is_beneath
from tejat.core.undo import ChangeKind, ForeignChange, PathProblem, UndoEntry

MAX_PATHS = 20
"""Paths that are listed before the rest is counted."""

_MAX_SUMMARY = 100
_BY_PRODUCT_DIRECTORIES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".gradle", ".parcel-cache", ".cache"}
)
_BY_PRODUCT_FILES = frozenset({".DS_Store", "Thumbs.db", ".coverage", ".eslintcache"})
_BY_PRODUCT_SUFFIXES = (".pyc", ".pyo", ".class", ".tsbuildinfo")


def undoable_entries(entries: Iterable[UndoEntry]) -> list[UndoEntry]:
    """Return the entries of calls that were not undone yet."""
    return [entry for entry in entries if entry.undone_by is None and entry.undoes is None and entry.tool != "undo"]


def latest_entries(undoable: Sequence[UndoEntry], count: int) -> list[UndoEntry]:
    """Return the newest entries that matter: not those of caches only, nor those that cannot be undone.

    If there are no others, even those.
    """
    significant = [entry for entry in undoable if _is_significant(entry)]
    return (significant or list(undoable))[:count]


def summary_text(entry: UndoEntry, folder: str = "") -> str:
    """Return what the call did, in a short line. A path below `folder` is shown relative to it."""
    text = sanitize_summary(relative_path(entry.summary, folder))
    text = text if len(text) <= _MAX_SUMMARY else f"{text[:_MAX_SUMMARY]}…"
    if not entry.parts:
        return text
    return ngettext("{agent} ({count} call)", "{agent} ({count} calls)", len(entry.parts), agent=text)


def relative_path(path: str, folder: str) -> str:
    """Return an absolute path below `folder` relative to it, and any other text as it is."""
    return path[len(folder.rstrip("/")) + 1 :] if folder and path != folder and is_beneath(path, folder) else path


def change_counts(entry: UndoEntry) -> str:
    kinds = [change.kind for change in entry.own_changes]
    counts = [_count_text(kind, kinds.count(kind)) for kind in ChangeKind if kind in kinds]
    if entry.foreign:
        counts.append(ngettext("{count} by other programs", "{count} by other programs", len(entry.foreign)))
    return ", ".join(counts) or _("nothing that can be undone")


def undo_action(kind: ChangeKind) -> str:
    """Return what undoing a change does, to be followed by the path."""
    return translate(_UNDO_ACTIONS[kind])


def remark_text(remark: PathProblem | ForeignChange) -> str:
    return f"{sanitize_text(remark.path)}: {sanitize_text(translate(remark.reason))}"


def more_text(count: int) -> str:
    """Return how many of so many paths are not listed."""
    return _("… and {count} more", count=f"{count - MAX_PATHS:,}")


def _is_significant(entry: UndoEntry) -> bool:
    return any(not is_by_product(change.path) for change in entry.own_changes)


def is_by_product(path: str) -> bool:
    """Whether a path belongs to a cache or the like, which tools write on the way."""
    *directories, name = path.split("/")
    if not _BY_PRODUCT_DIRECTORIES.isdisjoint((*directories, name)):
        return True
    return name in _BY_PRODUCT_FILES or name.endswith(_BY_PRODUCT_SUFFIXES)


def _count_text(kind: ChangeKind, count: int) -> str:
    match kind:
        case ChangeKind.CREATED:
            return ngettext("{count} created", "{count} created", count)
        case ChangeKind.REMOVED:
            return ngettext("{count} removed", "{count} removed", count)
        case ChangeKind.CHANGED:
            return ngettext("{count} changed", "{count} changed", count)
        case ChangeKind.PERMISSIONS:
            return ngettext("{count} permissions changed", "{count} permissions changed", count)
        case _:
            assert_never(kind)


_UNDO_ACTIONS = {
    ChangeKind.CREATED: lazy("delete"),
    ChangeKind.REMOVED: lazy("restore"),
    ChangeKind.CHANGED: lazy("revert"),
    ChangeKind.PERMISSIONS: lazy("restore permissions of"),
}
