"""Threads that meet in the loader, in an order that the loader decides."""

import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from cache import LoadingCache

SECONDS = 20


class Loader:
    """A loader that waits for `release`, and counts its calls."""

    def __init__(self) -> None:
        self.calls = list[str]()
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()
        self.failure: Exception | None = None

    def __call__(self, key: str) -> object:
        self.calls.append(key)
        number = len(self.calls)
        self.entered.release()
        assert self.release.wait(SECONDS)
        if self.failure is not None:
            raise self.failure
        return None if key == "none" else f"{key} {number}"


class CacheTest(unittest.TestCase):
    def setUp(self) -> None:
        self.loader = Loader()
        self.cache = LoadingCache(self.loader)
        self.pool = ThreadPoolExecutor(16)
        self.addCleanup(self.pool.shutdown)
        self.addCleanup(self.loader.release.set)

    def start(self, key: str, count: int) -> "list[Future[object]]":
        """Start threads that want a key, and wait until the first one is in the loader and the others had a chance."""
        entered = threading.Semaphore(0)

        def want() -> object:
            entered.release()
            return self.cache.get(key)

        found = [self.pool.submit(want) for _ in range(count)]
        for _ in range(count):
            self.assertTrue(entered.acquire(timeout=SECONDS))
        self.assertTrue(self.loader.entered.acquire(timeout=SECONDS))
        time.sleep(0.1)
        return found

    def test_one_call_for_a_key(self) -> None:
        found = self.start("a", 8)
        self.loader.release.set()
        self.assertEqual([each.result(SECONDS) for each in found], ["a 1"] * 8)
        self.assertEqual(self.loader.calls, ["a"])
        self.assertEqual((self.cache.get("a"), len(self.cache)), ("a 1", 1))

    def test_none_is_a_value(self) -> None:
        self.loader.release.set()
        self.assertEqual([self.cache.get("none"), self.cache.get("none")], [None, None])
        self.assertEqual(self.loader.calls, ["none"])

    def test_keys_do_not_wait_for_each_other(self) -> None:
        first = self.start("a", 1)
        second = self.start("b", 1)
        self.assertEqual(len(self.cache), 0)
        self.loader.release.set()
        self.assertEqual([each.result(SECONDS) for each in (*first, *second)], ["a 1", "b 2"])

    def test_failures_are_shared_and_not_kept(self) -> None:
        self.loader.failure = OSError("down")
        found = self.start("a", 4)
        self.loader.release.set()
        for each in found:
            self.assertRaisesRegex(OSError, "down", _result(each))
        self.assertEqual((self.loader.calls, len(self.cache)), (["a"], 0))
        self.loader.failure = None
        self.assertEqual(self.cache.get("a"), "a 2")

    def test_invalidated_while_loading(self) -> None:
        found = self.start("a", 2)
        self.cache.invalidate("a")
        self.loader.release.set()
        for each in found:
            each.result(SECONDS)
        calls = len(self.loader.calls)
        self.assertEqual(self.cache.get("a"), f"a {calls + 1}")
        self.assertEqual(len(self.cache), 1)

    def test_a_get_after_invalidation_does_not_share_the_old_call(self) -> None:
        old = self.start("a", 1)
        self.cache.invalidate("a")
        new = self.pool.submit(self.cache.get, "a")
        self.assertTrue(self.loader.entered.acquire(timeout=SECONDS))
        self.loader.release.set()
        old[0].result(SECONDS)
        self.assertEqual(new.result(SECONDS), "a 2")
        self.assertEqual(self.cache.get("a"), "a 2")


def _result(future: "Future[object]") -> Callable[[], object]:
    return lambda: future.result(SECONDS)
