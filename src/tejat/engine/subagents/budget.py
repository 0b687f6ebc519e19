"""The budget of one run of a sub-agent, a part of the session's."""

from tejat.core.agent.events import EndReason
from tejat.core.model import Usage
from tejat.engine.loop.budget import Budget, BudgetLimits


class AgentBudget(Budget):
    """Counts what a run uses, in the session's budget too.

    The limits of both hold: tokens, cost and time of the session, tokens and cost of the run. Its requests are no turns
    of the session; its own turns are limited by the run.
    """

    def __init__(self, session: Budget, *, tokens: int | None, cost: float | None) -> None:
        super().__init__(BudgetLimits(tokens=tokens, cost=cost), session.prices)
        self._session = session

    @property
    def remaining_seconds(self) -> float | None:
        return self._session.remaining_seconds

    def record_usage(self, usage: Usage, requested_model: str, reported_model: str = "") -> None:
        self._session.record_usage(usage, requested_model, reported_model)
        super().record_usage(usage, requested_model, reported_model)

    def exceeded_resource(self, model: str = "") -> tuple[EndReason, str] | None:
        return self._session.exceeded_resource(model) or super().exceeded_resource(model)

    def exceeded_cost_limit(self, model: str = "") -> tuple[EndReason, str] | None:
        return self._session.exceeded_cost_limit(model) or super().exceeded_cost_limit(model)

    def time_limit_reached(self) -> tuple[EndReason, str]:
        return self._session.time_limit_reached()
