"""Histograms with round limits."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.ui.html.charts.scale import ChartUnit, make_scale

_MAX_BINS = 8
_SHOWN_SHARE = 0.95
"""The share of values that the bins are chosen for: with outliers all others would be in the first one."""


class HistogramBin(Frozen):
    """Values from one limit up to the next, which is not included."""

    label: str
    count: int


def make_histogram(values: Sequence[float], unit: ChartUnit) -> list[HistogramBin]:
    """Count sorted values in at most 8 bins from 0 to a round number, and one for what is beyond."""
    if not values:
        return []
    scale = make_scale(values[int((len(values) - 1) * _SHOWN_SHARE)], 1.0, unit, max_ticks=_MAX_BINS)
    bins: list[HistogramBin] = []
    for low, high in zip(scale.ticks, scale.ticks[1:], strict=False):
        # The last bin includes its upper limit, because the axis ends there.
        end = bisect_right(values, high) if high == scale.ticks[-1] else bisect_left(values, high)
        label = f"{scale.label(low)} – {scale.label(high)}"
        bins.append(HistogramBin(label, end - bisect_left(values, low)))
    beyond = len(values) - bisect_right(values, scale.ticks[-1])
    if beyond:
        bins.append(HistogramBin(_("over {value}", value=scale.label(scale.ticks[-1])), beyond))
    return bins
