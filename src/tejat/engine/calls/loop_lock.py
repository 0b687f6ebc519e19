"""A lock for the tasks of one event loop at a time."""

import asyncio
import threading
from contextvars import ContextVar

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy


class LoopLock:
    """An `asyncio.Lock` that refuses to be used in two event loops at once, or by the task that holds it.

    One after the other, loops may use it, also in other threads: as when each call has its own `asyncio.run`.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._users = 0

    def hold(self) -> "_Hold":
        """Wait for the lock and hold it, with `async with`.

        Raises UsageError if that could never end, or in another loop than others.
        """
        return _Hold(self)

    def share(self) -> "_Share":
        """Run beside those who hold the lock, with `async with`. Raises UsageError in another loop than theirs."""
        return _Share(self)

    def enter_loop(self) -> asyncio.Lock:
        """Count a user in the running loop. Raises UsageError if another loop has users."""
        loop = asyncio.get_running_loop()
        with self._guard:
            if self._loop is not loop:
                if self._users and self._loop is not None and not self._loop.is_closed():
                    raise UsageError(
                        lazy(
                            "These tools are in use in another event loop. Use SyncTools to call them from several "
                            "threads."
                        )
                    )
                # A loop that was closed during a call has left its lock locked.
                self._loop, self._lock, self._users = loop, asyncio.Lock(), 0
            self._users += 1
            return self._lock

    def leave_loop(self, lock: asyncio.Lock | None) -> None:
        """Uncount a user, unless another loop has taken over."""
        with self._guard:
            if lock is self._lock:
                self._users -= 1


class _Share:
    """Uses the loop of a lock."""

    __slots__ = ("lock", "owner")

    def __init__(self, owner: LoopLock) -> None:
        self.owner = owner
        self.lock: asyncio.Lock | None = None

    async def __aenter__(self) -> None:
        self.lock = self.owner.enter_loop()

    async def __aexit__(self, *_: object) -> None:
        self.owner.leave_loop(self.lock)


class _Hold(_Share):
    """Holds a lock. Tasks that outlive this know that it is over."""

    __slots__ = ("is_over", "outer")

    def __init__(self, owner: LoopLock) -> None:
        super().__init__(owner)
        self.is_over = False
        self.outer: tuple[_Hold, ...] = ()

    async def __aenter__(self) -> None:
        lock = self.lock = self.owner.enter_loop()
        self.outer = _held.get()
        try:
            if any(each.lock is lock and not each.is_over for each in self.outer):
                raise UsageError(
                    lazy("These tools are busy with the call that this code runs in. It can only call tools that read.")
                )
            await lock.acquire()
        except BaseException:
            self.owner.leave_loop(lock)
            raise
        _held.set((*self.outer, self))

    async def __aexit__(self, *_: object) -> None:
        self.is_over = True
        _held.set(self.outer)
        assert self.lock is not None
        self.lock.release()
        self.owner.leave_loop(self.lock)


_held: ContextVar[tuple[_Hold, ...]] = ContextVar("held", default=())
