"""Measurements and how they are taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured figure. `value` must not exceed `limit`; `detail` explains it."""

    name: str
    value: float
    limit: float
    unit: str
    detail: str

    @property
    def passes(self) -> bool:
        return self.value <= self.limit


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(
    name: str, limit: float, ours: Callable[[], object], baseline: Callable[[], object], *, rounds: int
) -> Measurement:
    """Compare the best times of both, measured alternately on the same machine."""
    best_ours, best_baseline, detail = _best_times(ours, baseline, rounds)
    return Measurement(name, best_ours / best_baseline, limit, "x", detail)


def difference(
    name: str, limit: float, ours: Callable[[], object], baseline: Callable[[], object], *, rounds: int
) -> Measurement:
    """How many milliseconds more ours takes than the baseline, by the best times, measured alternately."""
    best_ours, best_baseline, detail = _best_times(ours, baseline, rounds)
    return Measurement(name, (best_ours - best_baseline) * 1000, limit, "ms", detail)


def _best_times(ours: Callable[[], object], baseline: Callable[[], object], rounds: int) -> tuple[float, float, str]:
    best_ours = best_baseline = float("inf")
    for _ in range(rounds):
        best_baseline = min(best_baseline, seconds(baseline))
        best_ours = min(best_ours, seconds(ours))
    return best_ours, best_baseline, f"{best_ours * 1000:.1f} ms against {best_baseline * 1000:.1f} ms"
