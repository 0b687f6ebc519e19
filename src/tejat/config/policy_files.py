"""Discovery of policy files. An unreadable file stops the run: no rule is ever skipped."""

import os
from collections.abc import Sequence

from tejat.config.files.reader import AllowedWriters, list_config_directory, read_config_file
from tejat.config.paths import POLICY_DIRECTORY, AppPaths, SourceTier
from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import lazy

_MAX_FILES = 1000
_MAX_CHARACTERS = 8 * 2**20


@frozen
class PolicyFile:
    path: str
    text: str
    tier: SourceTier


def read_policy_files(paths: AppPaths, roots: Sequence[str]) -> list[PolicyFile]:
    """Read every `*.toml` in the policy directories, those of the administrator first.

    Raises UsageError that names a file or directory that cannot be read, is too large, is not UTF-8, or (unless it
    belongs to the project) that others can write.
    """
    directories = [
        *((directory, SourceTier.ADMIN) for directory in paths.admin),
        (paths.gemini, SourceTier.USER),
        (paths.config, SourceTier.USER),
        *((os.path.join(root, ".gemini"), SourceTier.WORKSPACE) for root in roots),
    ]
    texts: list[PolicyFile] = []
    read: set[tuple[int, int]] = set()
    for directory, tier in directories:
        path = os.path.join(directory, POLICY_DIRECTORY)
        identity = _directory_id(path)
        if identity not in read:
            texts += _read_directory(path, tier)
        if identity:
            read.add(identity)
    return texts


def _directory_id(path: str) -> tuple[int, int] | None:
    """Identifies a directory: in the home directory, the project's policies are the user's own."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _read_directory(directory: str, tier: SourceTier) -> list[PolicyFile]:
    writers = AllowedWriters.ANYONE if tier is SourceTier.WORKSPACE else AllowedWriters.TRUSTED
    # Editors create hidden files beside open ones.
    listed = list_config_directory(directory, writers=writers)
    names = [name for name in listed if name.endswith(".toml") and not name.startswith(".")]
    if len(names) > _MAX_FILES:
        raise UsageError(
            lazy(
                "Cannot read {directory}: it holds more than {most} policy files.", directory=directory, most=_MAX_FILES
            )
        )
    texts: list[PolicyFile] = []
    room = _MAX_CHARACTERS
    for name in names:
        path = os.path.join(directory, name)
        text = read_config_file(path, writers=writers)
        if text is None:
            continue  # removed since it was listed
        room -= len(text)
        if room < 0:
            raise UsageError(
                lazy(
                    "Cannot read {directory}: its policy files are longer than {most} characters. "
                    "Remove rules that you do not need.",
                    directory=directory,
                    most=_MAX_CHARACTERS,
                )
            )
        texts.append(PolicyFile(path, text, tier))
    return texts
