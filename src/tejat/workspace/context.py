"""The workspace of a session: its directories, and the files seen in them."""

from typing import TYPE_CHECKING

from tejat.core.agent.editor import EditorBuffers
from tejat.core.text.one_or_many import OnePathOrMany
from tejat.workspace.files.read_tracker import ReadTracker
from tejat.workspace.files.roots import Location, RootDirectory, Roots
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions, IgnoreRules

if TYPE_CHECKING:
    from tejat.workspace.files.editor.buffers import Buffers


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
        self.read_tracker = ReadTracker()
        self.buffers = None if editor is None else _open_buffers(editor)
        self._ignore = ignore

    def __repr__(self) -> str:
        return f"Workspace({', '.join(repr(root.real_path) for root in self.roots.directories)})"

    def ignore_rules(self, root: RootDirectory, *, git: bool | None = None, gemini: bool | None = None) -> IgnoreRules:
        """Return the current ignore rules of a root. Arguments override the workspace's settings."""
        return IgnoreRules(
            root.real_path,
            git=self._ignore.git if git is None else git,
            gemini=self._ignore.gemini if gemini is None else gemini,
            files=self._ignore.files,
        )

    def buffers_for(self, location: Location) -> "Buffers | None":
        """The buffers of the editor if it may be asked about a file, None if the file on disk counts."""
        is_covered = self.buffers is not None and self.buffers.covers(self.roots, location)
        return self.buffers if is_covered else None

    def close(self) -> None:
        """Close the directories. A second call does nothing."""
        self.roots.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_buffers(editor: EditorBuffers) -> "Buffers":
    from tejat.workspace.files.editor.buffers import Buffers

    return Buffers(editor)
