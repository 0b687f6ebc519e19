"""The directories that tools may touch, and what this session has seen in them."""

import os
from collections.abc import Sequence
from types import TracebackType

from tejat.workspace.files.read_tracker import ReadTracker
from tejat.workspace.files.roots import RootDirectory, Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules


class Workspace:
    """Opened once, closed at the end; safe to use from several threads.

    Files in the directories `for_reading` can be read by their whole path, and nothing else.

    Raises UsageError when a directory is missing.
    """

    def __init__(
        self,
        directories: Sequence[str | os.PathLike[str]] = (".",),
        *,
        for_reading: Sequence[str | os.PathLike[str]] = (),
        respect_git_ignore: bool = True,
        respect_gemini_ignore: bool = True,
    ) -> None:
        self.roots = Roots(directories, for_reading=for_reading)
        self.read_tracker = ReadTracker()
        self._respect_git_ignore = respect_git_ignore
        self._respect_gemini_ignore = respect_gemini_ignore

    def ignore_rules(self, root: RootDirectory, *, git: bool | None = None, gemini: bool | None = None) -> IgnoreRules:
        """The ignore files as they are now. A parameter that is given wins over the workspace's own setting."""
        return IgnoreRules(
            root.real_path,
            git=self._respect_git_ignore if git is None else git,
            gemini=self._respect_gemini_ignore if gemini is None else gemini,
        )

    def close(self) -> None:
        self.roots.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
