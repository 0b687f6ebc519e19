"""Duration, tokens and cost of a run, counted from its events."""

from tejat.core.agent.events import AgentEvent, Answered, RunEnded
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.model import NO_USAGE, Usage
from tejat.ui.shared.labels.durations import format_duration

SUMMARY_MIN_SECONDS = 5.0
"""Least duration of a run that gets a summary."""


class RunSummary(Frozen):
    """Totals of one run. `cost` is in dollars, None if the price is unknown."""

    seconds: float
    usage: Usage = NO_USAGE
    cost: float | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        labels = [format_duration(self.seconds)]
        if self.usage.total:
            labels.append(format_tokens(self.usage.total, self.usage.cached))
        if self.cost:
            labels.append(format_cost(self.cost))
        return tuple(labels)


class RunMeter:
    """Count runs one after the other: `RunEnded` carries only the totals of the session."""

    def __init__(self) -> None:
        self._began = 0.0
        self._usage = NO_USAGE
        self._cost_before = 0.0

    def begin(self, now: float) -> None:
        self._began, self._usage = now, NO_USAGE

    def count(self, event: AgentEvent) -> None:
        if isinstance(event, Answered):
            self._usage += event.answer.usage

    def end(self, ended: RunEnded, now: float) -> RunSummary:
        cost = None if ended.cost is None else ended.cost - self._cost_before
        self._cost_before = ended.cost or self._cost_before
        return RunSummary(now - self._began, self._usage, cost)


def format_tokens(total: int, cached: int) -> str:
    """Format a number of tokens, with the cached share."""
    if not cached:
        return _("{tokens} tokens", tokens=format_count(total))
    share = round(100 * cached / max(total, cached))
    return _("{tokens} tokens, {share} % cached", tokens=format_count(total), share=share)


def format_cost(dollars: float) -> str:
    """Format a cost, with fractions of a cent for small amounts."""
    return _("${amount}", amount=f"{dollars:.2f}" if dollars >= 1 else f"{dollars:.4f}".rstrip("0").ljust(4, "0"))


def format_count(count: float) -> str:
    """Format a large number as `9,999`, `12k`, `1.2M` or `3.4G`."""
    if count < 10_000:
        return f"{count:,.0f}"
    if count < 999_500:
        return f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M" if count < 999_950_000 else f"{count / 1_000_000_000:,.1f}G"
