"""The workspace of a session: its directories, and the files seen in them."""

from tejat.core.text.one_or_many import OnePathOrMany
from tejat.workspace.files.read_tracker import ReadTracker
from tejat.workspace.files.roots import RootDirectory, Roots
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions, IgnoreRules


class Workspace:
    """The directories that tools may access: one path or several. Thread-safe.

    Files in the directories `for_reading` can only be read, by absolute path. Raises UsageError if a directory is
    missing.
    """

    def __init__(
        self,
        directories: OnePathOrMany = ".",
        *,
        for_reading: OnePathOrMany = (),
        ignore: IgnoreOptions = DEFAULT_IGNORE,
    ) -> None:
        self.roots = Roots(directories, for_reading=for_reading)
        self.read_tracker = ReadTracker()
        self._ignore = ignore

    def ignore_rules(self, root: RootDirectory, *, git: bool | None = None, gemini: bool | None = None) -> IgnoreRules:
        """Return the current ignore rules of a root. Arguments override the workspace's settings."""
        return IgnoreRules(
            root.real_path,
            git=self._ignore.git if git is None else git,
            gemini=self._ignore.gemini if gemini is None else gemini,
            files=self._ignore.files,
        )

    def close(self) -> None:
        self.roots.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
