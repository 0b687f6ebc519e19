"""How often one host may be asked in a while."""

import time
from collections import deque
from collections.abc import Callable


class RateLimiter:
    """At most `most` requests to a host within `seconds`."""

    def __init__(self, *, limit: int = 10, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._requests: dict[str, deque[float]] = {}

    def try_acquire(self, host: str) -> bool:
        """Whether the host may be asked now. A yes counts as a request."""
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
