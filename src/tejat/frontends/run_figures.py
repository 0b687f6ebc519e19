"""What one run took: time, tokens and money, counted from its events."""

from tejat.core.agent_events import AgentEvent, Answered, RunEnded
from tejat.core.model import NO_USAGE, Usage
from tejat.core.value import value
from tejat.core.words import say
from tejat.frontends.durations import in_words


@value
class Figures:
    """`cost` is in dollars, None where nobody knows the price."""

    seconds: float
    usage: Usage = NO_USAGE
    cost: float | None = None

    @property
    def words(self) -> tuple[str, ...]:
        told = [in_words(self.seconds)]
        if self.usage.total:
            told.append(tokens_in_words(self.usage.total, self.usage.cached))
        if self.cost:
            told.append(money_in_words(self.cost))
        return tuple(told)


class RunFigures:
    """Counts run after run: the end of a run tells the numbers of its whole session."""

    def __init__(self) -> None:
        self._began = 0.0
        self._usage = NO_USAGE
        self._cost_before = 0.0

    def begin(self, now: float) -> None:
        self._began, self._usage = now, NO_USAGE

    def count(self, event: AgentEvent) -> None:
        if isinstance(event, Answered):
            self._usage += event.answer.usage

    def end(self, ended: RunEnded, now: float) -> Figures:
        cost = None if ended.cost is None else ended.cost - self._cost_before
        self._cost_before = ended.cost or self._cost_before
        return Figures(now - self._began, self._usage, cost)


def tokens_in_words(total: int, cached: int) -> str:
    """How many, and which share of them came from a cache."""
    if not cached:
        return say("{tokens} tokens", tokens=_shortened(total))
    share = round(100 * cached / max(total, cached))
    return say("{tokens} tokens, {share} % cached", tokens=_shortened(total), share=share)


def money_in_words(dollars: float) -> str:
    """In cents while there are few of them."""
    return say("${amount}", amount=f"{dollars:.2f}" if dollars >= 1 else f"{dollars:.4f}".rstrip("0").ljust(4, "0"))


def _shortened(count: int) -> str:
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"
