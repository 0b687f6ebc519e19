"""All files beneath a directory, and those of them that match a pattern and are not ignored."""

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tejat.workspace.glob_pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.ignore import IgnoreRules
from tejat.workspace.ripgrep import running

_PLAIN_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_ENTRIES_BETWEEN_STOPS = 4096
_PATHS_BETWEEN_STOPS = 8192
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Listing:
    """Files beneath a directory, in no particular order, relative to it."""

    paths: list[bytes]
    complete: bool
    """False when there were more files than the limit."""
    errors: int
    """How many directories could not be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """Files that match and are not ignored, in no particular order, relative to the directory."""

    paths: list[bytes]
    git_ignored: int
    gemini_ignored: int
    complete: bool
    errors: int


def find_files(
    directory_fd: int,
    *,
    patterns: Sequence[GlobPattern],
    excluded: Sequence[GlobPattern] = (),
    exclude_directories: frozenset[bytes],
    rules: IgnoreRules | None,
    within: bytes = b"",
    limit: int,
    stop: Callable[[], None],
    ripgrep: str | None,
) -> Found:
    """The files beneath a directory that match one of the patterns, none of the excluded ones, and are not ignored.

    `within` is the path of the directory from the root that the rules are for. The counts are of files that match but
    are ignored. `limit` bounds the files looked at. What `stop` raises goes through.
    """
    paths: list[bytes] = []
    complete = True
    errors = 0
    for start in _starting_points(directory_fd, patterns):
        if not exclude_directories.isdisjoint(start.split(b"/")):
            continue
        listing = _list_beneath(
            directory_fd,
            start,
            exclude_directories=exclude_directories,
            limit=limit - len(paths),
            stop=stop,
            ripgrep=ripgrep,
        )
        paths += listing.paths
        complete = complete and listing.complete
        errors += listing.errors
    kept: list[bytes] = []
    git_ignored = gemini_ignored = 0
    for beginning in range(0, len(paths), _PATHS_BETWEEN_STOPS):
        stop()
        matching = _matching(paths[beginning : beginning + _PATHS_BETWEEN_STOPS], patterns, excluded)
        if rules is None:
            kept += matching
            continue
        passed, by_git, by_gemini = rules.filter(matching, within=within)
        kept += passed
        git_ignored += by_git
        gemini_ignored += by_gemini
    return Found(kept, git_ignored, gemini_ignored, complete, errors)


def list_files(
    directory_fd: int,
    *,
    exclude_directories: frozenset[bytes],
    limit: int,
    stop: Callable[[], None],
    ripgrep: str | None,
) -> Listing:
    """All regular files beneath a directory, hidden ones too.

    Symbolic links are neither followed nor listed. Directories whose base name is in `exclude_directories` are not
    entered. `ripgrep` is the path of rg; without it, or where it fails, the same list is made more slowly. `stop` is
    called all the while; what it raises goes through.
    """
    if ripgrep is not None and all(_PLAIN_NAME.issuperset(name) for name in exclude_directories):
        listing = _list_by_ripgrep(directory_fd, exclude_directories, limit, stop, ripgrep)
        if listing is not None:
            return listing
    return _list_by_scanning(directory_fd, exclude_directories, limit, stop)


def ignored_entries(paths: Iterable[bytes], *, kept: Iterable[bytes]) -> list[bytes]:
    """The topmost entries that cover exactly those of the paths that are not kept; directories end with a slash."""
    kept = frozenset(kept)
    holding = {path.rpartition(b"/")[0] for path in kept}
    holding.update([above for directory in holding for above in _directories_above(directory)])
    entries: set[bytes] = set()
    covered: dict[bytes, bytes | None] = {}
    for path in paths:
        if path in kept:
            continue
        directory = path.rpartition(b"/")[0]
        if directory not in covered:
            covered[directory] = _topmost_outside(directory, holding)
        entries.add(covered[directory] or path)
    return sorted(entries)


def _topmost_outside(directory: bytes, holding: set[bytes]) -> bytes | None:
    end = directory.find(b"/")
    while directory:
        top = directory if end < 0 else directory[:end]
        if top not in holding:
            return top + b"/"
        if end < 0:
            return None
        end = directory.find(b"/", end + 1)
    return None


def _starting_points(directory_fd: int, patterns: Sequence[GlobPattern]) -> list[bytes]:
    """Directories that together hold every match, none beneath another. They are not opened through links."""
    starts: set[bytes] = set()
    for pattern in patterns:
        starts |= _existing(directory_fd, pattern.literal_prefix, case_sensitive=pattern.case_sensitive)
    return [start for start in sorted(starts) if not any(above in starts for above in _directories_above(start))]


def _existing(directory_fd: int, prefix: str, *, case_sensitive: bool) -> set[bytes]:
    found = {b""}
    for part in prefix.split("/") if prefix else ():
        # A name that can be spelled in other ways is compared with every name that is there.
        wanted = None if case_sensitive else compile_glob(escape_glob(part), case_sensitive=False)
        name = os.fsencode(part)
        found = {
            directory + b"/" + child if directory else child
            for directory in found
            for child in ((name,) if wanted is None else filter(wanted.matches, _names(directory_fd, directory)))
        }
    return found


def _names(directory_fd: int, path: bytes) -> list[bytes]:
    try:
        with _opened(directory_fd, path) as opened:
            return list(map(os.fsencode, os.listdir(opened)))
    except OSError:
        return []


@contextmanager
def _opened(directory_fd: int, path: bytes) -> Generator[int]:
    """The directory at a path beneath another. Raises OSError when it is none, or when a part of the path is a link."""
    opened = os.dup(directory_fd)
    try:
        for part in path.split(b"/") if path else ():
            below = os.open(part, _DIRECTORY_FLAGS, dir_fd=opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


def _directories_above(path: bytes) -> list[bytes]:
    """The directory itself left out, the topmost (empty) one last."""
    above: list[bytes] = []
    while path:
        path = path.rpartition(b"/")[0]
        above.append(path)
    return above


def _list_beneath(
    directory_fd: int,
    start: bytes,
    *,
    exclude_directories: frozenset[bytes],
    limit: int,
    stop: Callable[[], None],
    ripgrep: str | None,
) -> Listing:
    try:
        with _opened(directory_fd, start) as opened:
            listing = list_files(
                opened, exclude_directories=exclude_directories, limit=limit, stop=stop, ripgrep=ripgrep
            )
    except (FileNotFoundError, NotADirectoryError):
        return Listing([], complete=True, errors=0)
    if not start:
        return listing
    return Listing([start + b"/" + path for path in listing.paths], listing.complete, listing.errors)


def _matching(paths: list[bytes], patterns: Sequence[GlobPattern], excluded: Sequence[GlobPattern]) -> list[bytes]:
    if not paths:
        return []
    # One decoding for all of them is faster than one for each.
    texts = b"\0".join(paths).decode("utf-8", "surrogateescape").split("\0")
    pairs = list(zip(paths, texts, strict=True))
    if len(patterns) == 1:
        pairs = [pair for pair in pairs if patterns[0].matches(pair[1])]
    else:
        pairs = [pair for pair in pairs if any(pattern.matches(pair[1]) for pattern in patterns)]
    return [path for path, text in pairs if not any(pattern.matches(text) for pattern in excluded)]


def _list_by_ripgrep(
    directory_fd: int,
    exclude_directories: frozenset[bytes],
    limit: int,
    stop: Callable[[], None],
    ripgrep: str,
) -> Listing | None:
    argv = [ripgrep, "--no-config", "--files", "--null", "--hidden", "--no-ignore", "--no-follow", "--color=never"]
    argv += [f"--glob=!{name.decode()}/" for name in sorted(exclude_directories)]
    blocks: list[bytes] = []
    count = 0
    try:
        with running(argv, directory_fd=directory_fd) as child:
            while block := child.read(stop):
                blocks.append(block)
                count += block.count(b"\0")
                if count > limit:
                    break
            else:
                if child.exit_code(stop) not in (0, 1, 2):
                    return None
            vanished = child.stderr.count(b"(os error 2)\n")
            errors = child.error_lines - vanished
    except OSError:
        return None
    paths = b"".join(blocks).split(b"\0")
    paths.pop()
    return Listing(paths[:limit], count <= limit, errors)


def _list_by_scanning(
    directory_fd: int, exclude_directories: frozenset[bytes], limit: int, stop: Callable[[], None]
) -> Listing:
    paths: list[bytes] = []
    errors = 0
    pending = [b"."]
    while pending:
        stop()
        directory = pending.pop()
        prefix = b"" if directory == b"." else directory + b"/"
        try:
            opened = os.open(directory, _DIRECTORY_FLAGS, dir_fd=directory_fd)
        except FileNotFoundError:
            continue
        except OSError:
            errors += 1
            continue
        try:
            with os.scandir(opened) as entries:
                for seen, entry in enumerate(entries):
                    if seen % _ENTRIES_BETWEEN_STOPS == 0:
                        stop()
                    name = os.fsencode(entry.name)
                    if entry.is_file(follow_symlinks=False):
                        if len(paths) == limit:
                            return Listing(paths, False, errors)
                        paths.append(prefix + name)
                    elif entry.is_dir(follow_symlinks=False) and name not in exclude_directories:
                        pending.append(prefix + name)
        except OSError:
            errors += 1
        finally:
            os.close(opened)
    return Listing(paths, True, errors)
