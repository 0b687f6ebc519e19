"""Rate limit per host."""

import time
from collections import deque
from collections.abc import Callable


class RateLimiter:
    """Allows `limit` requests to a host within `seconds`."""

    def __init__(self, *, limit: int = 10, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._requests: dict[str, deque[float]] = {}

    def try_acquire(self, host: str) -> bool:
        """Whether a request to the host is allowed now; if so, it is counted."""
        now = self._clock()
        self._expire(now - self._seconds)
        asked = self._requests.setdefault(host, deque())
        if len(asked) >= self._limit:
            return False
        asked.append(now)
        return True

    def _expire(self, until: float) -> None:
        for host, asked in list(self._requests.items()):
            while asked and asked[0] <= until:
                asked.popleft()
            if not asked:
                del self._requests[host]
