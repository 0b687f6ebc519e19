"""The waits of a clock that does not wait."""

import unittest
from collections.abc import Callable
from typing import Any

from retry import Transient, call


class FakeClock:
    """A clock that is advanced by sleeping. Each call of work takes one second."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits = list[float]()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.waits.append(seconds)
        self.time += seconds


class Work:
    def __init__(self, clock: FakeClock, *errors: BaseException) -> None:
        self.clock, self.errors, self.calls = clock, list(errors), 0

    def __call__(self) -> str:
        self.calls += 1
        self.clock.time += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


class RetryTest(unittest.TestCase):
    def run_call(self, *errors: BaseException, **options: Any) -> tuple[object, int, list[float]]:
        clock = FakeClock()
        work = Work(clock, *errors)
        try:
            result: object = call(work, clock=clock, **options)
        except BaseException as error:  # noqa: BLE001 - the error is the result
            result = error
        return result, work.calls, clock.waits

    def test_success(self) -> None:
        self.assertEqual(self.run_call(), ("done", 1, []))
        self.assertEqual(self.run_call(*_failures(3)), ("done", 4, [0.5, 1.0, 2.0]))

    def test_attempts(self) -> None:
        errors = _failures(9)
        self.assertEqual(self.run_call(*errors), (errors[3], 4, [0.5, 1.0, 2.0]))
        self.assertEqual(self.run_call(*errors, attempts=1), (errors[0], 1, []))
        for attempts in (0, -1):
            result, calls, _ = self.run_call(attempts=attempts)
            self.assertIsInstance(result, ValueError)
            self.assertEqual(calls, 0)

    def test_other_errors(self) -> None:
        for error in (ValueError("x"), KeyboardInterrupt(), SystemExit(3)):
            self.assertEqual(self.run_call(Transient(), error), (error, 2, [0.5]))

    def test_cap_and_jitter(self) -> None:
        self.assertEqual(self.run_call(*_failures(6), attempts=7)[2], [0.5, 1.0, 2.0, 4.0, 8.0, 8.0])
        self.assertEqual(self.run_call(*_failures(2), base=20, jitter=_values(0.5, 1.25))[2], [4.0, 10.0])
        self.assertEqual(self.run_call(*_failures(2), jitter=_values(0.0, 2.0))[2], [0.0, 2.0])

    def test_retry_after(self) -> None:
        def waits(retry_after: float, **options: Any) -> list[float]:
            return self.run_call(Transient("x", retry_after=retry_after), **options)[2]

        self.assertEqual(waits(30.0), [30.0])
        self.assertEqual(waits(30.0, jitter=_values(0.1)), [30.0])
        self.assertEqual(waits(0.1), [0.5])
        self.assertEqual(waits(0), [0.5])
        self.assertEqual(waits(3.0, base=6.0), [6.0])

    def test_many_attempts(self) -> None:
        result, calls, waits = self.run_call(*_failures(2000), attempts=2001)
        self.assertEqual((result, calls, waits[-1]), ("done", 2001, 8.0))

    def test_deadline(self) -> None:
        errors = _failures(9)
        self.assertEqual(self.run_call(*errors, deadline=1.5)[1:], (2, [0.5]))
        self.assertEqual(self.run_call(*errors, deadline=1.4), (errors[0], 1, []))
        self.assertEqual(self.run_call(*errors, deadline=0), (errors[0], 1, []))
        self.assertEqual(self.run_call(*errors, deadline=100)[1], 4)
        self.assertEqual(self.run_call(Transient("x", retry_after=50), deadline=10)[1:], (1, []))


def _failures(count: int) -> list[Transient]:
    return [Transient(str(number)) for number in range(count)]


def _values(*values: float) -> Callable[[], float]:
    return iter(values).__next__
