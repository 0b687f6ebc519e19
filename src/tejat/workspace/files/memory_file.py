"""The file of remembered facts: where it is, how it is opened and held, and how a fact is added to its text."""

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from tejat.core.errors import ErrorType, UsageError, WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy
from tejat.workspace.context import Workspace
from tejat.workspace.files.file_lock import LockTimeout, acquire_lock
from tejat.workspace.files.roots import Location

DEFAULT_NAME = "GEMINI.md"
HEADING = "## Gemini Added Memories"

_LOCK_TIMEOUT_SECONDS = 10.0


@frozen
class MemoryFile:
    """A file in the user's own directory, which need not exist yet. A link there is the user's and is followed.

    Raises UsageError for a name that leads out of the directory.
    """

    directory: str
    name: str = DEFAULT_NAME

    def __post_init__(self) -> None:
        parts = self.name.split("/")
        if not self.name.strip("./") or self.name.startswith("/") or ".." in parts or "\0" in self.name:
            raise UsageError(
                gettext_lazy(
                    "The memory file needs a name inside {directory}, which this is not: {name!r}",
                    directory=self.directory,
                    name=self.name,
                )
            )

    @property
    def path(self) -> str:
        return os.path.join(self.directory, self.name)

    @property
    def short_path(self) -> str:
        """For people: `~` stands for the home directory."""
        home = os.path.expanduser("~")
        return f"~{self.path.removeprefix(home)}" if self.path.startswith(f"{home.rstrip('/')}/") else self.path

    @contextmanager
    def open_workspace(self) -> Generator[tuple[Workspace, Location]]:
        """A workspace that holds nothing else, and the place of the file in it. Changes nothing. Raises UsageError."""
        real_path = os.path.realpath(self.path)
        with Workspace([_nearest_existing_directory(real_path)]) as workspace:
            yield workspace, workspace.roots.locate(real_path)

    @contextmanager
    def lock(self, stop: Callable[[], None]) -> Generator[None]:
        """Whoever else wants to save waits meanwhile, in other processes too.

        A directory that is missing is made, for this user alone, and removed again if the work in it fails. `stop` is
        called while waiting; what it raises is passed on. Raises OSError, and WorkspaceError when the wait is too long.
        """
        directory = os.path.dirname(os.path.realpath(self.path))
        made = _make_private_directories(directory)
        try:
            fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._acquire(fd, stop)
                yield
            finally:
                os.close(fd)
        except BaseException:
            with suppress(OSError):
                for path in reversed(made):
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
    """The text with one more entry at the end of the section of memories, which is added where it is missing.

    Lines end with LF in what is given and what comes back; the text ends with one of them.
    """
    entry = f"- {format_fact(fact)}"
    lines = content.split("\n")
    fenced = _fenced_lines(lines)
    heading = next((at for at, line in enumerate(lines) if line.rstrip() == HEADING and at not in fenced), None)
    if heading is None:
        before = _strip_blank_end(lines)
        return _join_lines([*before, "", HEADING, entry] if before else [HEADING, entry])
    end = next((at for at in range(heading + 1, len(lines)) if _ends_section(lines[at]) and at not in fenced), None)
    section = _strip_blank_end(lines[:end])
    if end is None:
        return _join_lines([*section, entry])
    gap = lines[len(section) : end] or [""]
    return _join_lines(_strip_blank_end([*section, entry, *gap, *lines[end:]]))


def format_fact(fact: str) -> str:
    """A fact as it stands behind the hyphen of its entry: on one line, without hyphens of its own, never a heading."""
    flat = _LINE_ENDS.sub(" ", fact).strip()
    bare = _LEADING_HYPHENS.sub("", flat)
    return f"\\{bare}" if _HEADING_MARK.match(bare) else bare


def _nearest_existing_directory(path: str) -> str:
    """The innermost directory on the way to a path that exists."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def _make_private_directories(directory: str) -> list[str]:
    """Make a directory and what is missing on the way to it; return what was made, outermost first."""
    missing: list[str] = []
    while not os.path.isdir(directory):
        missing.insert(0, directory)
        directory = os.path.dirname(directory)
    made: list[str] = []
    for path in missing:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            made.append(path)
            os.chmod(path, 0o700)  # whatever the umask took away
    return made


def _fenced_lines(lines: list[str]) -> set[int]:
    """The lines of code blocks. A fence that is never closed makes none: it would swallow what is added."""
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


def _ends_section(line: str) -> bool:
    return line.startswith(("# ", "## "))


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
