"""Storage of API keys."""

import os

from tejat.config.credentials import API_KEY_NAMES, read_api_keys
from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.paths import AppPaths
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.workspace.files.private_files import write_private_file

_LOCK_TIMEOUT = 10.0


def save_api_key(paths: AppPaths, name: str, key: str) -> str:
    """Store a key, replacing one with the same name, and return the path of the file.

    An empty key removes it. Raises UsageError, and leaves the file unchanged, if it cannot be stored.
    """
    if name not in API_KEY_NAMES or not key.isprintable() or not key.isascii() or "'" in key:
        raise UsageError(lazy("Not a valid API key: it contains invalid characters."))
    path = paths.credentials
    make_private_directory(os.path.dirname(path))
    with file_lock(f"{path}.lock", timeout=_LOCK_TIMEOUT):
        kept = {**read_api_keys(paths), name: key}
        text = "".join(f"{each}='{kept[each]}'\n" for each in sorted(kept) if kept[each])
        try:
            write_private_file(path, text)
        except OSError as error:
            raise UsageError(lazy("Could not save the key to {path}: {why}.", path=path, why=error.strerror)) from error
    return path
