"""How often one host may be asked in a while."""

import time
from collections import deque
from collections.abc import Callable


class Pace:
    """At most `most` requests to a host within `seconds`."""

    def __init__(self, *, most: int = 10, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._asked: dict[str, deque[float]] = {}

    def allows(self, host: str) -> bool:
        """Whether the host may be asked now. A yes counts as a request."""
        now = self._clock()
        self._forget(now - self._seconds)
        asked = self._asked.setdefault(host, deque())
        if len(asked) >= self._most:
            return False
        asked.append(now)
        return True

    def _forget(self, until: float) -> None:
        for host, asked in list(self._asked.items()):
            while asked and asked[0] <= until:
                asked.popleft()
            if not asked:
                del self._asked[host]
