"""Measurements and how they are taken."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

_MAX_EXPONENT = 1.1
"""Linear, with some room for the noise of a machine."""


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


def print_all(measurements: Iterable[Measurement]) -> int:
    """Print each figure when it is measured. Returns 1 if one misses its limit, else 0."""
    missed = 0
    for result in measurements:
        missed += not result.passes
        mark = "ok  " if result.passes else "MISS"
        print(
            f"{mark} {result.value:8.2f} {result.unit:2} (limit {result.limit:g})  {result.name}: {result.detail}",
            flush=True,
        )
    return 1 if missed else 0


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


def growth(name: str, times: Mapping[int, float]) -> Measurement:
    """The exponent by which the seconds grow between the two largest sizes."""
    (small, before), (large, after) = sorted(times.items())[-2:]
    exponent = math.log(after / before) / math.log(large / small)
    detail = ", ".join(f"{size:,}: {spent * 1000:.1f} ms" for size, spent in sorted(times.items()))
    return Measurement(f"{name}: exponent", exponent, _MAX_EXPONENT, "", detail)


def _best_times(ours: Callable[[], object], baseline: Callable[[], object], rounds: int) -> tuple[float, float, str]:
    best_ours = best_baseline = float("inf")
    for _ in range(rounds):
        best_baseline = min(best_baseline, seconds(baseline))
        best_ours = min(best_ours, seconds(ours))
    return best_ours, best_baseline, f"{best_ours * 1000:.1f} ms against {best_baseline * 1000:.1f} ms"
