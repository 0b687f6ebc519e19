"""Finds the policy files of a run and reads their text. What cannot be read stops the run: a rule is never skipped."""

import os
from collections.abc import Sequence

from tejat.config.own_file import Writers, list_own_directory, read_own_file
from tejat.config.places import Places, SourceTier
from tejat.core.errors import UsageError
from tejat.core.value import value
from tejat.core.words import phrase

DIRECTORY_NAME = "policies"

_MAX_FILES = 1000
_MAX_CHARACTERS = 8 * 2**20


@value
class PolicyText:
    path: str
    text: str
    tier: SourceTier


def policy_texts(places: Places, roots: Sequence[str]) -> list[PolicyText]:
    """The text of every `*.toml` in the policy directories, those of whoever runs the machine first.

    Raises UsageError that names a file or directory which cannot be read, is too large, is not UTF-8, or (unless it is
    the project's own) which others could have written.
    """
    directories = [
        *((directory, SourceTier.ADMIN) for directory in places.admin),
        (places.gemini, SourceTier.USER),
        (places.config, SourceTier.USER),
        *((os.path.join(root, ".gemini"), SourceTier.WORKSPACE) for root in roots),
    ]
    texts: list[PolicyText] = []
    read: set[tuple[int, int]] = set()
    for directory, tier in directories:
        path = os.path.join(directory, DIRECTORY_NAME)
        identity = _identity(path)
        if identity not in read:
            texts += _texts_in(path, tier)
        if identity:
            read.add(identity)
    return texts


def _identity(path: str) -> tuple[int, int] | None:
    """Tells whether two paths lead to one directory: a project in the home directory has the person's own files."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _texts_in(directory: str, tier: SourceTier) -> list[PolicyText]:
    writers = Writers.ANYBODY if tier is SourceTier.WORKSPACE else Writers.TRUSTED
    # Hidden names are what editors leave beside a file that is open.
    names = [
        name
        for name in list_own_directory(directory, writers=writers)
        if name.endswith(".toml") and not name.startswith(".")
    ]
    if len(names) > _MAX_FILES:
        raise UsageError(
            phrase(
                "Cannot read {directory}: it holds more than {most} policy files.", directory=directory, most=_MAX_FILES
            )
        )
    texts: list[PolicyText] = []
    room = _MAX_CHARACTERS
    for name in names:
        path = os.path.join(directory, name)
        text = read_own_file(path, writers=writers)
        if text is None:
            continue  # removed since it was listed
        room -= len(text)
        if room < 0:
            raise UsageError(
                phrase(
                    "Cannot read {directory}: its policy files are longer than {most} characters.",
                    directory=directory,
                    most=_MAX_CHARACTERS,
                )
            )
        texts.append(PolicyText(path, text, tier))
    return texts
