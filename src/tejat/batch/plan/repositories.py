"""The repositories that a glob pattern matches."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch

from tejat.batch.plan.fields import readable_id, show_value
from tejat.batch.plan.repository import check_path, is_repository
from tejat.batch.plan.types import InvalidTask, RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError
from tejat.core.i18n import _

_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"


def read_repositories(pattern: str) -> list[TaskRecord | RejectedTask]:
    """A record for each directory that matches, sorted by path. Raises UsageError if there is none.

    The id is the name of the directory, with as many parents as it takes to be unique.
    """
    root, parts = _split_pattern(pattern)
    paths = sorted(set(_expand(root, parts))) if pattern.strip() else []
    if parts[-1:] == [_ANY_DEPTH] or parts[-2:] == [_ANY_DEPTH, "*"]:  # it matches all directories
        paths = [path for path in paths if is_repository(path)]
        if not paths:
            raise UsageError(_("No git repository matches {pattern}.", pattern=show_value(pattern)))
    if not paths:
        raise UsageError(_("No directory matches {pattern}.", pattern=show_value(pattern)))
    ids = _unique_ids(paths)
    return [
        _record(path, each, f"repository-{at}", pattern)
        for at, (path, each) in enumerate(zip(paths, ids, strict=True), 1)
    ]


def _split_pattern(pattern: str) -> tuple[str, list[str]]:
    """The directory to search from, whose name is no pattern, and the parts of the pattern below it."""
    root, rest = "/" if pattern.startswith("/") else os.getcwd(), pattern
    if pattern.startswith("~"):
        home, _slash, rest = pattern.partition("/")
        root = os.path.join(root, os.path.expanduser(home))
    return root, [part for part in rest.split("/") if part not in ("", ".")]


def _expand(directory: str, parts: Sequence[str]) -> Iterator[str]:
    """The directories that the parts match. Never raises: what cannot be read matches nothing."""
    if not parts:
        yield directory
        return
    part, rest = parts[0], parts[1:]
    if part == _ANY_DEPTH:
        yield from _expand(directory, rest)
        for inner in _subdirectories(directory, follows_links=False):
            below = os.path.join(directory, inner)
            if inner.startswith("."):
                continue
            if not is_repository(below):
                yield from _expand(below, parts)
            elif not rest:
                yield below
    elif _MAGIC.search(part):
        for inner in _subdirectories(directory, follows_links=True):
            if fnmatch(inner, part) and (part.startswith(".") or not inner.startswith(".")):
                yield from _expand(os.path.join(directory, inner), rest)
    elif os.path.isdir(path := os.path.normpath(os.path.join(directory, part))):
        yield from _expand(path, rest)


def _subdirectories(directory: str, *, follows_links: bool) -> list[str]:
    with suppress(OSError), os.scandir(directory) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=follows_links))
    return []


def _unique_ids(paths: Sequence[str]) -> list[str]:
    parts = [path.strip("/").split("/") for path in paths]
    depths = [1] * len(paths)
    while True:
        ids = ["/".join(each[-depth:]) for each, depth in zip(parts, depths, strict=True)]
        counts = Counter(ids)
        deeper = [at for at, each in enumerate(ids) if counts[each] > 1 and depths[at] < len(parts[at])]
        if not deeper:
            return ids
        for at in deeper:
            depths[at] += 1


def _record(path: str, given_id: str, fallback_id: str, pattern: str) -> TaskRecord | RejectedTask:
    task_id = readable_id({"id": given_id}) or fallback_id
    try:
        check_path(path)
        if not is_repository(path):
            raise InvalidTask(_("{path} is not a git repository.", path=path), TaskFailure.REPOSITORY)
    except InvalidTask as error:
        return RejectedTask(task_id, error.failure, str(error), pattern)
    return TaskRecord({"id": task_id, "repo": path}, fallback_id, pattern)
