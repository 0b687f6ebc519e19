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

    @property
    def limits_requests(self) -> bool:
        return self._session.limits_requests or super().limits_requests

    def record_usage(self, usage: Usage, requested_model: str, reported_model: str = "") -> None:
        self._session.record_usage(usage, requested_model, reported_model)
        super().record_usage(usage, requested_model, reported_model)

    def exceeded_resource(self, model: str = "", request_tokens: int = 0) -> tuple[EndReason, str] | None:
        of_session = self._session.exceeded_resource(model, request_tokens)
        return of_session or super().exceeded_resource(model, request_tokens)

    def exceeded_cost_limit(self, model: str = "", request_tokens: int = 0) -> tuple[EndReason, str] | None:
        of_session = self._session.exceeded_cost_limit(model, request_tokens)
        return of_session or super().exceeded_cost_limit(model, request_tokens)

    def time_limit_reached(self) -> tuple[EndReason, str]:
        return self._session.time_limit_reached()
