"""SHA-256 without OpenSSL for small data."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _hashlib import HASH

_BUILTIN_MODULE = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
_LARGE_SIZE = 200_000
"""OpenSSL is loaded in the time in which this many bytes are hashed without it."""


def sha256(*pieces: bytes | memoryview) -> "HASH":
    """The SHA-256 hash of these pieces, one after the other.

    `hashlib` always loads OpenSSL, which takes longer than to hash small data without it.
    """
    state = _new_hash(sum(map(len, pieces)))
    for piece in pieces:
        state.update(piece)
    return state


def _new_hash(size: int) -> "HASH":
    if size <= _LARGE_SIZE and "_hashlib" not in sys.modules:
        try:
            builtin: HASH = __import__(_BUILTIN_MODULE).sha256()
        except ImportError:
            pass  # Python was built without it
        else:
            return builtin
    import hashlib

    return hashlib.sha256()
