"""The file of saved memories (`GEMINI.md`): location, locking, and adding a fact."""

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from tejat.core.errors import ErrorType, UsageError, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.context import Workspace
from tejat.workspace.files.file_lock import LockTimeout, acquire_lock
from tejat.workspace.files.private_files import make_missing_directories
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.files.roots import Location

DEFAULT_NAME = "GEMINI.md"
HEADING = "## Gemini Added Memories"

_LOCK_TIMEOUT_SECONDS = 10.0


class MemoryFile(Frozen):
    """A file in the user's own directory, which need not exist. A symbolic link there is followed.

    Raises UsageError for a name that leads out of the directory.
    """

    directory: str
    name: str = DEFAULT_NAME

    def __post_init__(self) -> None:
        parts = self.name.split("/")
        if not self.name.strip("./") or self.name.startswith("/") or ".." in parts or "\0" in self.name:
            raise UsageError(
                lazy(
                    "The memory file name must be inside {directory}: {name!r}",
                    directory=self.directory,
                    name=self.name,
                )
            )

    @property
    def path(self) -> str:
        return os.path.join(self.directory, self.name)

    @property
    def short_path(self) -> str:
        """The path with `~` for the home directory, for display."""
        home = os.path.expanduser("~")
        return f"~{self.path.removeprefix(home)}" if self.path.startswith(f"{home.rstrip('/')}/") else self.path

    @contextmanager
    def open_workspace(self) -> Generator[tuple[Workspace, Location]]:
        """Open a workspace for this file alone, and its location in it. Changes nothing. Raises UsageError."""
        real_path = os.path.realpath(self.path)
        with Workspace([_nearest_existing_directory(real_path)]) as workspace:
            yield workspace, workspace.roots.locate(real_path)

    @contextmanager
    def lock(self, stop: Callable[[], None]) -> Generator[None]:
        """Hold the lock of the file's directory, across processes.

        A missing directory is created with mode 0700, and removed again if the block fails. `stop` is called while
        waiting. Raises OSError, and WorkspaceError if the wait is too long.
        """
        directory = os.path.dirname(os.path.realpath(self.path))
        created = make_missing_directories(directory)
        try:
            with open_fd(directory, os.O_RDONLY | os.O_DIRECTORY) as fd:
                self._acquire(fd, stop)
                yield
        except BaseException:
            with suppress(OSError):
                for path in reversed(created):
                    os.rmdir(path)
            raise

    def _acquire(self, fd: int, stop: Callable[[], None]) -> None:
        try:
            acquire_lock(fd, timeout=_LOCK_TIMEOUT_SECONDS, stop=stop)
        except LockTimeout as error:
            message = f"Another program has been holding the memory file for too long: {self.path}"
            raise WorkspaceError(message, ErrorType.FILE_WRITE_FAILURE, path=self.path) from error
        except OSError as error:
            if error.errno is None:
                raise  # raised by `stop`
            # The file system has no locks. A file that changed meanwhile is still noticed when it is replaced.


def add_memory(content: str, fact: str) -> str:
    """Return the text with one more entry at the end of the memories section, which is added if missing.

    Lines end with LF in the argument and the result; the result ends with one.
    """
    entry = f"- {format_fact(fact)}"
    lines = content.split("\n")
    fenced = _fenced_lines(lines)
    heading = next((at for at, line in enumerate(lines) if line.rstrip() == HEADING and at not in fenced), None)
    if heading is None:
        before = _strip_blank_end(lines)
        return _join_lines([*before, "", HEADING, entry] if before else [HEADING, entry])
    outside = (at for at in range(heading + 1, len(lines)) if at not in fenced)
    end = next((at for at in outside if lines[at].startswith(("# ", "## "))), None)
    section = _strip_blank_end(lines[:end])
    if end is None:
        return _join_lines([*section, entry])
    gap = lines[len(section) : end] or [""]
    return _join_lines(_strip_blank_end([*section, entry, *gap, *lines[end:]]))


def format_fact(fact: str) -> str:
    """Format a fact for its list entry: one line, no leading hyphens, never a heading."""
    flat = _LINE_ENDS.sub(" ", fact).strip()
    bare = _LEADING_HYPHENS.sub("", flat)
    return f"\\{bare}" if _HEADING_MARK.match(bare) else bare


def _nearest_existing_directory(path: str) -> str:
    """Return the innermost existing directory on the way to a path."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def _fenced_lines(lines: list[str]) -> set[int]:
    """Return the indexes of lines in code blocks. An unclosed fence makes none: it would swallow what is added."""
    found: set[int] = set()
    start, opening = 0, ""
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if not opening:
            start, opening = at, fence[1]
        elif fence[1].startswith(opening) and line.strip() == fence[1]:
            found.update(range(start, at + 1))
            opening = ""
    return found


def _strip_blank_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _join_lines(lines: list[str]) -> str:
    return "\n".join([*lines, ""])


_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_LEADING_HYPHENS = re.compile(r"\A[-\s]+")
_HEADING_MARK = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
