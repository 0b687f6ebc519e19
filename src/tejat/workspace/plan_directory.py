"""The directory of plan files: the one place that can be written in plan mode."""

import errno
import os
import stat
from collections.abc import Callable, Iterable

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.i18n import lazy
from tejat.workspace.files.handles.created_directories import CreatedDirectories, make_directories
from tejat.workspace.files.openat import RootDirectory

_SUFFIX = ".md"
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class PlanDirectory:
    """A directory held open. Its plan files are the regular `.md` files directly in it that have no other link.

    Every plan file is opened by its name in the open directory, and no link is followed, so that nothing that happens
    meanwhile to the path of the directory can lead to another file. `is_planning` says whether plan mode is on. With
    `is_in_workspace` the ordinary rules hold outside of plan mode; otherwise plan files can only be read then. Files
    with `reserved_names` are no plan files: they are instructions for agents.
    """

    __slots__ = ("_is_planning", "_reserved_names", "is_in_workspace", "root")

    def __init__(
        self,
        path: str,
        *,
        is_planning: Callable[[], bool],
        is_in_workspace: bool = False,
        reserved_names: Iterable[str] = (),
    ) -> None:
        """Open the directory. Raises OSError if it is missing or not a directory."""
        self.root = RootDirectory(os.path.abspath(path))
        self._is_planning = is_planning
        self.is_in_workspace = is_in_workspace
        self._reserved_names = frozenset(map(str.casefold, reserved_names))

    @property
    def path(self) -> str:
        """The real path of the directory."""
        return self.root.real_path

    @property
    def is_writable(self) -> bool:
        return self.is_in_workspace or self._is_planning()

    def file_name(self, path: str) -> str | None:
        """The name of the plan file that a normalised absolute path means by its text, None if it means none."""
        directory, name = os.path.split(path)
        return name if directory in (self.root.path, self.root.real_path) and self._is_plan_name(name) else None

    def names_file(self, text: str) -> bool:
        """Whether a relative path means a plan file in plan mode if it exists nowhere else."""
        return self._is_plan_name(text) and self._is_planning()

    def open_file(self, name: str) -> tuple[int, os.stat_result]:
        """Open a plan file for reading. Raises OSError: EXDEV for a link, which may lead out."""
        try:
            descriptor = os.open(name, _OPEN_FILE, dir_fd=self.root.fd)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV)) from error
            raise
        return descriptor, os.fstat(descriptor)

    def open_for_writing(self, name: str) -> CreatedDirectories:
        """Open the directory in order to write a plan file. Raises WorkspaceError."""
        path = os.path.join(self.root.path, name)
        try:
            status = os.stat(name, dir_fd=self.root.fd, follow_symlinks=False)
        except FileNotFoundError:
            status = None
        except OSError as error:
            raise WorkspaceError(f"{error.strerror}: {path}", ErrorType.FILE_WRITE_FAILURE, path=path) from error
        if status is not None and (not stat.S_ISREG(status.st_mode) or status.st_nlink != 1):
            message = lazy("Not a plan file: {path}. A plan file is a regular file without links.", path=path)
            is_directory = stat.S_ISDIR(status.st_mode)
            error_type = ErrorType.TARGET_IS_DIRECTORY if is_directory else ErrorType.PATH_NOT_IN_WORKSPACE
            raise WorkspaceError(message, error_type, path=path)
        try:
            return make_directories(self.root.fd, ())
        except OSError as error:
            raise WorkspaceError(f"{error.strerror}: {path}", ErrorType.FILE_WRITE_FAILURE, path=path) from error

    def names(self) -> list[str]:
        """The names of the plan files, sorted. Raises OSError."""
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.root.fd)
        try:
            with os.scandir(descriptor) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if self._is_plan_name(entry.name) and entry.is_file(follow_symlinks=False)
                )
        finally:
            os.close(descriptor)

    def modified_at(self, name: str) -> int:
        """When a plan file was last changed, in nanoseconds since 1970; 0 if it is gone."""
        try:
            return os.stat(name, dir_fd=self.root.fd, follow_symlinks=False).st_mtime_ns
        except OSError:
            return 0

    def close(self) -> None:
        """Close the descriptor. A second call does nothing."""
        self.root.close()

    def _is_plan_name(self, name: str) -> bool:
        """Whether a plan file can have this name: `NAME.md`, without a directory, not hidden, not reserved."""
        is_plain = not name.startswith(".") and "/" not in name and "\0" not in name
        return is_plain and name.endswith(_SUFFIX) and name.casefold() not in self._reserved_names
