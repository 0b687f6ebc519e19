"""Signing in with a password, for pages that other machines can reach."""

import asyncio
import hashlib
import hmac
import os
import time
from collections.abc import Callable

from tejat.core.i18n import _
from tejat.workspace.http.server import HttpError
from tejat.workspace.threads.daemon import run_in_daemon

_N, _R, _P = 2**14, 8, 1
_FREE_ATTEMPTS = 5
_MAX_WAIT_SECONDS = 60.0


class PasswordCheck:
    """Compares passwords with the one given at the start, of which only a scrypt hash is kept.

    After a few wrong ones the wait grows, for everybody: an address is easy to change.
    """

    def __init__(self, password: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._salt = os.urandom(16)
        self._hash = _hash(password, self._salt)
        self._clock = clock
        self._failures = 0
        self._next_attempt = float("-inf")
        self._lock = asyncio.Lock()

    async def check(self, password: str) -> None:
        """Raises HttpError for a wrong password, and for any before the wait is over."""
        async with self._lock:
            wait = self._next_attempt - self._clock()
            if wait > 0:
                seconds = int(wait) + 1
                message = _("Too many wrong passwords. Try again in {seconds} s.", seconds=seconds)
                raise HttpError(429, message, (("retry-after", str(seconds)),))
            given = await run_in_daemon(lambda: _hash(password, self._salt))
            if hmac.compare_digest(given, self._hash):
                self._failures = 0
                return
            self._failures += 1
            late = self._failures - _FREE_ATTEMPTS
            if late >= 0:
                self._next_attempt = self._clock() + min(2.0**late, _MAX_WAIT_SECONDS)
            raise HttpError(401, _("Wrong password."))


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "replace"), salt=salt, n=_N, r=_R, p=_P)
