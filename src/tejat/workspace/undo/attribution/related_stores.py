"""Undo stores of other projects that share files with one: those of its subdirectories, and those that it lies in."""

import os
from collections.abc import Callable, Iterable, Sequence

from tejat.core.undo import UndoEntry
from tejat.workspace.undo.attribution.call_window import CallWindow, read_windows
from tejat.workspace.undo.entry_file import EntryFile
from tejat.workspace.undo.private_directory import PrivateDirectory

_MAX_DIRECTORIES = 2000


class RelatedStores:
    """Finds stores by the directories of changed paths. `store_of` returns where the store of a project would be."""

    def __init__(self, own: PrivateDirectory, store_of: Callable[[str], str]) -> None:
        self._own = own.path
        self._store_of = store_of
        self._files: dict[str, EntryFile] = {}

    def read(self, entries: Sequence[UndoEntry]) -> tuple[list[UndoEntry], list[CallWindow]]:
        """Return the entries, and the calls without one, in stores that share files with these entries."""
        others: list[UndoEntry] = []
        windows: list[CallWindow] = []
        for path in self._find(entries):
            directory = PrivateDirectory(path)
            try:
                others += self._files.setdefault(path, EntryFile(directory)).read()
            except OSError:
                continue
            windows += read_windows(directory)
        return others, windows

    def _find(self, entries: Iterable[UndoEntry]) -> list[str]:
        directories: dict[str, None] = {}
        for entry in entries:
            if entry.started is None or entry.undone_by is not None or "/" in entry.named:
                continue  # nothing of it can be doubtful, or nobody asks
            for change in entry.changes:
                directory = change.full_path.rpartition("/")[0] or "/"
                while directory not in directories and len(directories) < _MAX_DIRECTORIES:
                    directories[directory] = None
                    directory = directory.rpartition("/")[0] or "/"
        stores = dict.fromkeys(map(self._store_of, directories))
        return [store for store in stores if store != self._own and os.path.isdir(store)]
