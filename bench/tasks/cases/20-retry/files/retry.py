"""Retry calls that fail.

`call(work, clock=..., attempts=4, base=0.5, cap=8.0, deadline=None, jitter=lambda: 1.0)` calls `work()` until it
succeeds, and returns its result. It makes at most `attempts` calls, the first one included.

Only `Transient` errors are tried again; any other error is raised at once. When no attempt is left, the last error is
raised itself, not wrapped, and without a wait before.

Before the second call it waits `base` seconds, and twice as long before each further one, but never more than `cap`.
Each of these waits is multiplied by a fresh value of `jitter()`, after the cap. If the error says `retry_after`, that
is the least time to wait: neither cap nor jitter make it shorter. A `retry_after` of 0 is the same as none.

With a `deadline`, in seconds since the first call began, no wait is started that would end after it: the error is
raised instead. A wait that ends exactly then is fine. `attempts` less than 1 is a ValueError, before any call.
"""

from clock import Clock


class Transient(Exception):
    def __init__(self, message="", retry_after=None):
        super().__init__(message)
        self.retry_after = retry_after


def call(work, clock=None, attempts=4, base=0.5, cap=8.0, deadline=None, jitter=lambda: 1.0):
    clock = clock or Clock()
    error = None
    for attempt in range(attempts + 1):
        try:
            return work()
        except Exception as caught:
            error = caught
        wait = min(cap, base * 2 ** (attempt + 1) * jitter())
        if error.retry_after:
            wait = error.retry_after
        if deadline and clock.now() + wait > deadline:
            raise error
        clock.sleep(wait)
    raise RuntimeError("no attempt is left") from error
