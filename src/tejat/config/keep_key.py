"""Keeps the key of a service for the person."""

import os

from tejat.config.keys import KEY_NAMES, keys_path, read_keys
from tejat.config.lock import locked
from tejat.config.places import Places, private_directory
from tejat.config.write_own_file import write_own_file
from tejat.core.errors import UsageError
from tejat.core.words import phrase

_PATIENCE = 10.0


def keep_key(places: Places, name: str, key: str) -> str:
    """Keep a key from now on, in the place of one with the same name, and return the file it is in.

    An empty key is one to forget. Raises UsageError where it cannot be kept; what was there is still there then.
    """
    if name not in KEY_NAMES or not key.isprintable() or not key.isascii() or "'" in key:
        raise UsageError(phrase("This is not a key that could be kept: it holds characters that no key has."))
    path = keys_path(places)
    private_directory(os.path.dirname(path))
    with locked(f"{path}.lock", patience=_PATIENCE):
        kept = {**read_keys(places), name: key}
        text = "".join(f"{each}='{kept[each]}'\n" for each in sorted(kept) if kept[each])
        try:
            write_own_file(path, text)
        except OSError as error:
            raise UsageError(
                phrase("The key could not be kept in {path}: {why}.", path=path, why=error.strerror)
            ) from error
    return path
