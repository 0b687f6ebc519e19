"""Axes: round ticks and short labels for counts, dollars and durations."""

import math

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.shared.labels.run_summary import format_cost, format_count


class ChartUnit(StrEnum):
    COUNT = "count"
    DOLLARS = "dollars"
    SECONDS = "seconds"


class Scale(Frozen):
    """An axis from 0 to `maximum`, the last of the `ticks`, on `length` units of the drawing."""

    maximum: float
    ticks: tuple[float, ...]
    length: float
    unit: ChartUnit

    def position(self, value: float) -> float:
        return value / self.maximum * self.length

    def label(self, tick: float) -> str:
        return format_tick(tick, self.ticks[1], self.unit)


def make_scale(largest: float, length: float, unit: ChartUnit, *, max_ticks: int) -> Scale:
    """A scale from 0 to a round number that is not below the largest value, with at most `max_ticks` steps."""
    largest = largest if largest > 0 and math.isfinite(largest) else 1.0
    step = _tick_step(largest / max_ticks, unit)
    count = max(1, math.ceil(largest / step * (1 - 100 * _ROUNDING_ERROR)))
    return Scale(count * step, tuple(index * step for index in range(count + 1)), length, unit)


_ROUNDING_ERROR = 1e-9
_SMALLEST_STEP = 1e-6
"""Dollars or seconds below which nobody cares, and labels would not fit."""
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_TIME_STEPS = (
    *(each * _MINUTE for each in (1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 2, 5, 10, 15, 30)),
    *(each * _HOUR for each in (1, 2, 3, 6, 12, 24)),
)


def _tick_step(minimum: float, unit: ChartUnit) -> float:
    """The next round step: 1, 2 or 5 times a power of ten, for durations also parts of a minute, an hour or a day."""
    minimum = max(minimum, 1.0 if unit is ChartUnit.COUNT else _SMALLEST_STEP)
    if unit is ChartUnit.SECONDS and minimum > 2:
        fitting = (step for step in _TIME_STEPS if step >= minimum - _ROUNDING_ERROR)
        return next(fitting, 0.0) or _DAY * _decimal_step(minimum / _DAY)
    return _decimal_step(minimum)


def _decimal_step(minimum: float) -> float:
    power = 10.0 ** math.floor(math.log10(minimum))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= minimum * (1 - _ROUNDING_ERROR))


def format_tick(tick: float, step: float, unit: ChartUnit) -> str:
    """The label of a tick, with as many decimals as the step needs."""
    match unit:
        case ChartUnit.DOLLARS:
            if step >= 1000:
                return f"${_with_prefix(tick)}"
            return f"${tick:,.{_decimals(step)}f}" if tick else "$0"
        case ChartUnit.SECONDS:
            return _format_time_tick(tick, step)
        case ChartUnit.COUNT:
            return _with_prefix(tick)


def _format_time_tick(tick: float, step: float) -> str:
    if not tick:
        return "0"
    if step >= _DAY:
        return _("{days} d", days=f"{tick / _DAY:,g}")
    if step < _MINUTE and tick < _MINUTE * 2:
        return _("{seconds} s", seconds=f"{tick:.{_decimals(step)}f}")
    return format_duration(tick)


def _decimals(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + _ROUNDING_ERROR)) if step < 1 else 0


def _with_prefix(number: float) -> str:
    """A number with an SI prefix: `500`, `2k`, `1.5M`, `3G`."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:,.10g}{prefix}"
    return f"{number:.10g}"


def format_value(value: float | None, unit: ChartUnit) -> str:
    """A value beside a bar or in a table; `?` if it is unknown."""
    if value is None:
        return "?"
    match unit:
        case ChartUnit.DOLLARS:
            return format_cost(value)
        case ChartUnit.SECONDS:
            return format_duration(value) if value else _("{seconds} s", seconds=0)
        case ChartUnit.COUNT:
            return format_count(value)
