"""Pins of the files of an extension: what was agreed to, by content.

The declared files are what a session reads: the manifest, hooks, commands, skills, agents, rules and context files.
The code is everything else. A file whose device, inode, size and times are unchanged is not read again: no process of
the user can set back the time of its last status change.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from tejat.config.extensions.active import SETTINGS_FILE
from tejat.config.extensions.install_record import INSTALL_RECORD
from tejat.config.extensions.manifest import MANIFEST
from tejat.config.files.real_paths import RealPaths
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.workspace.files.regular_file import regular_file_opener

MAX_FILES = 50_000
MAX_BYTES = 2 * 2**30
MAX_DECLARED_FILES = 5_000
HOOKS_FILE = "hooks/hooks.json"

_UNPINNED = frozenset({".git", INSTALL_RECORD, SETTINGS_FILE})
_TREES = {"commands": "", "skills": "", "agents": ".md", "policies": ".toml"}
"""The directories of declared files: everything below them, or the files in them with a suffix."""
_LINK = "link:"
_PIECE = 2**20


class FileIdentity(NamedTuple):
    """Changes whenever the content of a file may have changed."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Pin(NamedTuple):
    """A file as it was agreed to: SHA-256 of its content in hex, or `link:` and the target of a link.

    An empty digest means that only the identity is known yet: the file is unchanged as long as that is.
    """

    digest: str
    is_executable: bool
    identity: FileIdentity

    @property
    def is_link(self) -> bool:
        return self.digest.startswith(_LINK)


class PinCheck(Frozen):
    """The result of a comparison: changed, new and missing files by relative path, and pins with a newer identity.

    `renewed` are unchanged files whose identity or digest should be stored, so that they need not be read again.
    """

    changed: tuple[str, ...] = ()
    renewed: Mapping[str, Pin] = field(default_factory=dict[str, Pin])


class UnpinnableExtension(ConfigurationError):
    """The files of an extension cannot be pinned: a link leads out of it, or there are too many."""


def pin_declared(
    directory: str, context_files: Sequence[str], keep: Callable[[str, bytes], None] | None = None
) -> dict[str, Pin]:
    """Pin the declared files below a directory. `keep` is given the content of each.

    Raises UnpinnableExtension, and ConfigurationError for a file that cannot be read.
    """
    root = os.path.realpath(directory)
    files = _DeclaredFiles(root).find(context_files)
    return {relative: _pin(root, relative, status, keep) for relative, status in files.items()}


def check_declared(
    directory: str, context_files: Sequence[str], pins: Mapping[str, Pin], real_paths: RealPaths | None = None
) -> PinCheck:
    """Compare the declared files below a directory with their pins. Raises as `pin_declared` does."""
    root = (real_paths or RealPaths()).find(directory)
    return _compare(root, _DeclaredFiles(root).find(context_files), pins)


def pin_code(directory: str, declared: Collection[str], *, hashes: bool = True) -> dict[str, Pin]:
    """Pin all files but the `declared` ones. Without `hashes` only their identities: nothing is read.

    Raises as `pin_declared` does.
    """
    root = os.path.realpath(directory)
    files = {relative: status for relative, status in _walk(root) if relative not in declared}
    if hashes:
        return {relative: _pin(root, relative, status) for relative, status in files.items()}
    return {
        relative: Pin(_link_digest(root, relative, status) or "", _is_executable(status), _identity(status))
        for relative, status in files.items()
    }


def check_code(directory: str, declared: Collection[str], pins: Mapping[str, Pin]) -> PinCheck:
    """Compare all files but the declared ones with their pins. Files without a digest are hashed.

    Raises as `pin_declared` does.
    """
    root = os.path.realpath(directory)
    files = {relative: status for relative, status in _walk(root) if relative not in declared}
    return _compare(root, files, pins)


def find_foreign_writer(directory: str) -> str:
    """The first path in a directory that another user owns or everybody may write to, empty if there is none.

    Raises UnpinnableExtension for a tree that is too large.
    """
    root = os.path.realpath(directory)
    if _is_open_to_others(os.stat(root)):
        return root
    found = (relative for relative, status in _walk(root, with_directories=True) if _is_open_to_others(status))
    first = next(found, None)
    return "" if first is None else os.path.join(root, first)


def digest_content(content: bytes) -> str:
    return sha256(content).hexdigest()


def is_unchanged(pin: Pin, status: os.stat_result) -> bool:
    """Whether a file has the identity that was pinned. Then it need not be read."""
    # A plain tuple: this is done for thousands of files.
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return pin.identity == identity and pin.is_executable == _is_executable(status)


class _DeclaredFiles:
    """Finds the declared files below a real path. Links are followed inside of it; what they lead to is declared."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._found: dict[str, os.stat_result] = {}
        self._walked: set[str] = set()

    def find(self, context_files: Sequence[str]) -> dict[str, os.stat_result]:
        here = {entry.name: entry for entry in _entries(self._root, must_exist=True)}
        for relative in (MANIFEST, *context_files):
            if relative.partition("/")[0] in here:
                self._add(relative)
        if "hooks" in here:
            self._add(HOOKS_FILE)
        for name, suffix in _TREES.items():
            if (entry := here.get(name)) is None:
                continue
            if entry.is_symlink():
                self._add_status(name, entry.stat(follow_symlinks=False))
            else:
                self._add_directory(name, suffix)
        return self._found

    def _add(self, relative: str) -> None:
        """Add a file, and the links on its way."""
        parts = relative.split("/")
        for count in range(1, len(parts)):
            outer = "/".join(parts[:count])
            if os.path.islink(os.path.join(self._root, outer)):
                self._add_status(outer, os.lstat(os.path.join(self._root, outer)))
        try:
            status = os.lstat(os.path.join(self._root, relative))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _unreadable(self._root, relative, error) from error
        self._add_status(relative, status)

    def _add_directory(self, relative: str, suffix: str = "") -> None:
        """Add the files of a directory that is no link: those in it with the suffix, or without one all below it."""
        if relative in self._walked:
            return
        self._walked.add(relative)
        for entry in _entries(f"{self._root}/{relative}"):
            inner = f"{relative}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not suffix and entry.name != ".git":
                    self._add_directory(inner)
            elif entry.name.endswith(suffix):
                self._add_status(inner, entry.stat(follow_symlinks=False))

    def _add_status(self, relative: str, status: os.stat_result) -> None:
        if relative in self._found:
            return
        if stat.S_ISLNK(status.st_mode):
            self._found[relative] = status
            self._follow(relative)
        elif stat.S_ISREG(status.st_mode):
            self._found[relative] = status
        if len(self._found) > MAX_DECLARED_FILES:
            raise UnpinnableExtension(
                lazy("more than {most} commands, skills and other declared files", most=MAX_DECLARED_FILES)
            )

    def _follow(self, relative: str) -> None:
        target = _link_target(self._root, relative)
        if os.path.isdir(os.path.join(self._root, target)):
            self._add_directory(target)
        else:
            self._add(target)


def _compare(root: str, files: Mapping[str, os.stat_result], pins: Mapping[str, Pin]) -> PinCheck:
    changed = [relative for relative in pins if relative not in files]
    renewed: dict[str, Pin] = {}
    for relative, status in files.items():
        pin = pins.get(relative)
        if pin is None:
            changed.append(relative)
            continue
        if pin.digest and is_unchanged(pin, status):
            continue
        present = _pin(root, relative, status)
        # Without a digest only an unchanged identity tells that the content is the one that was seen.
        if present[:2] == pin[:2] if pin.digest else present[1:] == pin[1:]:
            renewed[relative] = present
        else:
            changed.append(relative)
    return PinCheck(tuple(sorted(changed)), renewed)


def _pin(root: str, relative: str, status: os.stat_result, keep: Callable[[str, bytes], None] | None = None) -> Pin:
    link = _link_digest(root, relative, status)
    if link is not None:
        return Pin(link, is_executable=False, identity=_identity(status))
    digest, pieces = sha256(), list[bytes]()
    try:
        with open(os.path.join(root, relative), "rb", opener=regular_file_opener) as file:
            status = os.fstat(file.fileno())
            while piece := file.read(_PIECE):
                digest.update(piece)
                if keep is not None:
                    pieces.append(piece)
    except OSError as error:
        raise _unreadable(root, relative, error) from error
    if keep is not None:
        keep(relative, b"".join(pieces))
    return Pin(digest.hexdigest(), _is_executable(status), _identity(status))


def _walk(root: str, *, with_directories: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """All files and links below a real path but those that are never pinned. Links are not followed."""
    waiting, count, size = [""], 0, 0
    while waiting:
        here = waiting.pop()
        for entry in _entries(os.path.join(root, here) if here else root):
            if not here and entry.name in _UNPINNED:
                continue
            relative = f"{here}/{entry.name}" if here else entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed since it was listed
            if stat.S_ISDIR(status.st_mode):
                waiting.append(relative)
                if with_directories:
                    yield relative, status
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                count, size = count + 1, size + status.st_size
                _check_limits(count, size)
                yield relative, status


def _check_limits(count: int, size: int) -> None:
    if count > MAX_FILES:
        raise UnpinnableExtension(lazy("more than {most} files", most=MAX_FILES))
    if size > MAX_BYTES:
        raise UnpinnableExtension(lazy("more than {most} GiB of files", most=MAX_BYTES // 2**30))


def _entries(path: str, *, must_exist: bool = False) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError as error:
        if not must_exist and isinstance(error, FileNotFoundError | NotADirectoryError):
            return []
        raise _unreadable(path, "", error) from error


def _link_digest(root: str, relative: str, status: os.stat_result) -> str | None:
    if not stat.S_ISLNK(status.st_mode):
        return None
    _link_target(root, relative)
    return _LINK + os.readlink(os.path.join(root, relative))


def _link_target(root: str, relative: str) -> str:
    """The path that a link leads to, relative to the root. Raises UnpinnableExtension if it leads out."""
    real = os.path.realpath(os.path.join(root, relative))
    if not real.startswith(f"{root.rstrip('/')}/"):
        raise UnpinnableExtension(lazy("{link} is a link that leads out of the extension", link=relative))
    return os.path.relpath(real, root)


def _identity(status: os.stat_result) -> FileIdentity:
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_executable(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & stat.S_IXUSR)


def _is_open_to_others(status: os.stat_result) -> bool:
    if status.st_uid not in (0, os.geteuid()):
        return True
    return bool(status.st_mode & stat.S_IWOTH) and not stat.S_ISLNK(status.st_mode)


def _unreadable(root: str, relative: str, error: OSError) -> ConfigurationError:
    path = os.path.join(root, relative) if relative else root
    return ConfigurationError(lazy("Could not read {path}: {why}.", path=path, why=error.strerror), path=path)
