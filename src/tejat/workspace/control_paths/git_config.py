"""Paths in a work tree that the configuration of its repository names: its hooks, and files that it includes."""

import os
import re

from tejat.core.text.paths import is_beneath
from tejat.workspace.control_paths.names import GIT_DIRECTORY
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 256 * 1024
_SETTING = re.compile(rb"(?:^|\])[ \t]*(hookspath|path)[ \t]*=(.*)$", re.IGNORECASE | re.MULTILINE)
_VALUE_PART = re.compile(rb'"((?:[^"\\]|\\.)*)"|\\(.)|([^"\\#;]+)|(?:[#;].*)')


def configured_paths(git_directory: str) -> tuple[str, ...]:
    """Return the existing paths in the work tree that git runs or obeys because its configuration says so.

    Paths outside the work tree are left out, and so is one that contains the repository. Raises nothing.
    """
    try:
        with open(f"{git_directory}/config", "rb", buffering=0, opener=regular_file_opener) as file:
            text = file.read(_MAX_BYTES)
    except OSError:
        return ()
    is_bare = os.path.basename(git_directory) != GIT_DIRECTORY
    work_tree = git_directory if is_bare else os.path.dirname(git_directory)
    found: dict[str, None] = {}
    for match in _SETTING.finditer(text or b""):
        base = work_tree if match[1].lower() == b"hookspath" else git_directory
        path = os.path.normpath(os.path.join(base, os.path.expanduser(os.fsdecode(_value(match[2])))))
        if is_beneath(path, work_tree) and not is_beneath(git_directory, path) and os.path.lexists(path):
            found[path] = None
    return tuple(found)


def _value(text: bytes) -> bytes:
    """Return the value of a setting without quotes, escapes and a comment."""
    parts: list[bytes] = []
    for match in _VALUE_PART.finditer(text.strip()):
        quoted, escaped, plain = match.groups()
        if quoted is not None:
            parts.append(re.sub(rb"\\(.)", rb"\1", quoted))
        elif escaped is not None:
            parts.append(escaped)
        elif plain is not None:
            parts.append(plain)
        else:
            break
    return b"".join(parts).strip()
