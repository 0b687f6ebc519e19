"""Settings of a repository that make git run programs even for commands that only read."""

import os
import re
from collections.abc import Iterator

from tejat.workspace.files.regular_file import regular_file_opener
from tejat.workspace.paths.git_repository import git_directories

_MAX_CONFIG_BYTES = 1024 * 1024
_MAX_INDEX_BYTES = 256 * 1024 * 1024
_MAX_REPOSITORIES = 100
# The text of a key cannot be escaped or continued, so a search finds it however the file is written.
_KEY = rb"(?:^|\])[ \t]*(%s)[ \t]*(?:=|$)"
_RUNS = re.compile(_KEY % rb"clean|command|external|process|program|textconv|path", re.IGNORECASE | re.MULTILINE)
_ELSEWHERE = re.compile(_KEY % rb"worktree", re.IGNORECASE | re.MULTILINE)
# Objects of a partial clone are fetched when they are read.
_FETCHES = re.compile(_KEY % rb"promisor|partialclone", re.IGNORECASE | re.MULTILINE)
_RUNS_TO_FETCH = re.compile(rb"sshcommand|gitproxy|uploadpack|vcs|helper|ext::", re.IGNORECASE)
_SUBMODULE_MODE = b"\x00\x00\xe0\x00"
_PATH_AFTER_MODE = 38


def find_git_programs(directory: str) -> tuple[str, ...]:
    """Return the keys of such settings in the repository of a directory and in its submodules, empty without any.

    Settings of the user and of the system are not looked at: they are the user's own. `core.fsmonitor` and hooks are
    not among the keys; the environment of commands switches them off.
    """
    found: dict[str, None] = {}
    waiting = [directory]
    seen: set[str] = set()
    while waiting:
        directories = git_directories(waiting.pop())
        if directories is None or directories[0] in seen:
            continue
        top, own, common = directories
        seen.add(top)
        if len(seen) > _MAX_REPOSITORIES:
            found["submodule"] = None
            break
        for path in (os.path.join(common, "config"), os.path.join(own, "config.worktree")):
            found |= dict.fromkeys(_keys(path, is_submodule=len(seen) > 1))
        waiting += [path for path in _submodules(own, top) if os.path.lexists(os.path.join(path, ".git"))]
    return tuple(found)


def _keys(path: str, *, is_submodule: bool) -> Iterator[str]:
    text = _read(path, _MAX_CONFIG_BYTES)
    if text is None:
        yield "config"
        return
    yield from (match[1].decode().lower() for match in _RUNS.finditer(text))
    if not is_submodule and _ELSEWHERE.search(text):
        yield "worktree"
    if _FETCHES.search(text):
        yield from (match[0].decode().lower() for match in _RUNS_TO_FETCH.finditer(text))


def _submodules(git_directory: str, top: str) -> Iterator[str]:
    """Yield the directories of submodules in the index."""
    content = _read(os.path.join(git_directory, "index"), _MAX_INDEX_BYTES) or b""
    at = content.find(_SUBMODULE_MODE)
    while at >= 0:
        start = at + _PATH_AFTER_MODE
        name = content[start : content.find(b"\0", start)]
        yield os.path.join(top, os.fsdecode(name))
        at = content.find(_SUBMODULE_MODE, at + 1)


def _read(path: str, max_bytes: int) -> bytes | None:
    """Return the content of a file, empty if there is none, None if it is too large."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(max_bytes + 1)
    except OSError:
        return b""
    return None if len(content) > max_bytes else content
