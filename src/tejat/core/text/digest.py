"""SHA-256 without OpenSSL for small data."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _hashlib import HASH

_BUILTIN_MODULES = ("_sha2", "_sha256")
"""Since Python 3.12, and before."""
_LARGE_SIZE = 200_000
"""OpenSSL is loaded in the time in which this many bytes are hashed without it."""


def sha256(*pieces: bytes | memoryview) -> "HASH":
    """The SHA-256 hash of these pieces, one after the other.

    `hashlib` always loads OpenSSL, which takes longer than to hash small data without it.
    """
    is_large = sum(map(len, pieces)) > _LARGE_SIZE
    state = _openssl_hash() if is_large else _builtin_hash()()
    for piece in pieces:
        state.update(piece)
    return state


@cache
def _builtin_hash() -> "Callable[[], HASH]":
    for name in _BUILTIN_MODULES:
        try:
            function: Callable[[], HASH] = __import__(name).sha256
        except ImportError:
            continue  # another Python, or one that was built without it
        return function
    return _openssl_hash


def _openssl_hash() -> "HASH":
    import hashlib

    return hashlib.sha256()
