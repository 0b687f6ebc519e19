"""The workspace of a session: its directories, and the files seen in them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.text.one_or_many import OnePathOrMany
from tejat.workspace.files.handles.cached_files import Storage
from tejat.workspace.files.roots import Location, RootDirectory, Roots
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions, IgnoreRules

if TYPE_CHECKING:
    from tejat.core.agent.editor import EditorBuffers
    from tejat.workspace.files.editor.buffers import Buffers
    from tejat.workspace.files.read_tracker import ReadTracker

_SETTLED_NANOSECONDS = 100_000_000
_Identities: TypeAlias = tuple[tuple[int, int, int, int, int] | None, ...]


class Workspace:
    """The directories that tools may access: one path or several. Thread-safe.

    Files in the directories `for_reading` can only be read, by absolute path. `editor` has the unsaved changes of
    files. Raises UsageError if a directory is missing.
    """

    def __init__(
        self,
        directories: OnePathOrMany = ".",
        *,
        for_reading: OnePathOrMany = (),
        ignore: IgnoreOptions = DEFAULT_IGNORE,
        editor: EditorBuffers | None = None,
    ) -> None:
        self.roots = Roots(directories, for_reading=for_reading)
        self._read_tracker: ReadTracker | None = None
        self._lock = Lock()
        self.buffers = None if editor is None else _open_buffers(editor)
        self._ignore = ignore
        self._own_rules: dict[RootDirectory, tuple[_Identities, IgnoreRules]] = {}

    def __repr__(self) -> str:
        return f"Workspace({', '.join(repr(root.real_path) for root in self.roots.directories)})"

    @property
    def read_tracker(self) -> ReadTracker:
        """The files that the model has read."""
        with self._lock:
            if self._read_tracker is None:
                from tejat.workspace.files.read_tracker import ReadTracker

                self._read_tracker = ReadTracker()
            return self._read_tracker

    def ignore_rules(self, root: RootDirectory, *, git: bool | None = None, gemini: bool | None = None) -> IgnoreRules:
        """Return the current ignore rules of a root. Arguments override the workspace's settings."""
        return IgnoreRules(
            root.real_path,
            git=self._ignore.git if git is None else git,
            gemini=self._ignore.gemini if gemini is None else gemini,
            files=self._ignore.files,
        )

    def own_ignore_rules(self, root: RootDirectory) -> IgnoreRules:
        """Return the rules of a root without those of git, which are read again when their files have changed."""
        identities = self._identify_own_rules(root)
        known = self._own_rules.get(root)
        if known is not None and known[0] == identities:
            return known[1]
        rules = self.ignore_rules(root, git=False)
        # Another change at the same moment would not be noticed.
        newest = max((identity[-1] for identity in identities if identity is not None), default=0)
        if time.time_ns() - newest > _SETTLED_NANOSECONDS:
            self._own_rules[root] = identities, rules
        return rules

    def find_current_rules(self) -> Mapping[RootDirectory, IgnoreRules] | None:
        """The rules of `own_ignore_rules` for every root, if nothing has to be waited for; None otherwise.

        They are known then, and the files that say whether they have changed are on this machine.
        """
        if self._ignore.files:  # anywhere
            return None
        rules: dict[RootDirectory, IgnoreRules] = {}
        for root in self.roots.directories:
            known = self._own_rules.get(root)
            if root.storage is Storage.ELSEWHERE or known is None or known[0] != self._identify_own_rules(root):
                return None
            rules[root] = known[1]
        return rules

    def _identify_own_rules(self, root: RootDirectory) -> _Identities:
        files = (*self._ignore.files, os.path.join(root.real_path, ".geminiignore"))
        return tuple(map(_identify, files))

    def buffers_for(self, location: Location) -> Buffers | None:
        """The buffers of the editor if it may be asked about a file, None if the file on disk counts."""
        is_covered = self.buffers is not None and self.buffers.covers(self.roots, location)
        return self.buffers if is_covered else None

    def close(self) -> None:
        """Close the directories. A second call does nothing."""
        self.roots.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _identify(path: str) -> tuple[int, int, int, int, int] | None:
    """What changes with every change of a file, None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    from tejat.workspace.files.read_tracker import stat_identity

    return stat_identity(status)


def _open_buffers(editor: EditorBuffers) -> Buffers:
    from tejat.workspace.files.editor.buffers import Buffers

    return Buffers(editor)
