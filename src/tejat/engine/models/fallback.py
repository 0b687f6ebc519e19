"""Fallback chains: which model takes over when another one fails for good."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tejat.core.agent.model_chain import ChainAction, ChainLink, FailureClass, ModelChain
from tejat.core.errors import UsageError
from tejat.core.i18n import _, lazy
from tejat.core.model import FailureKind, ModelClient, ModelFailure

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import Approver, Outcome

_CAPACITY_SECONDS = 30.0
"""After this time a model that lacked capacity is asked again."""


def classify_failure(failure: ModelFailure) -> FailureClass:
    """Return the class of a failure after all attempts."""
    match failure.kind:
        case FailureKind.RATE_LIMITED:
            return FailureClass.TRANSIENT if failure.can_retry else FailureClass.TERMINAL
        case FailureKind.UNAVAILABLE:
            return FailureClass.TRANSIENT
        case _ if failure.is_unknown_model:
            return FailureClass.NOT_FOUND
        case _:
            return FailureClass.UNKNOWN


OpenLink: TypeAlias = Callable[[ChainLink], ModelClient]
"""Opens a model. Raises UsageError and ModelFailure."""


class ModelFallback(Protocol):
    """Decides which model takes over."""

    async def successor(self, model: ModelClient, failure: ModelFailure) -> ModelClient | None:
        """Return the model that answers instead, `model` itself to ask it again, None if the failure stands.

        Raises ModelFailure if the next model cannot be opened.
        """
        ...

    def preferred(self, model: ModelClient) -> ModelClient | None:
        """Return the model that a stand-in replaced, if it can be asked again; None to keep the present one."""
        ...


class SingleFallback:
    """The fallback of the setting `model.fallback`: used once, for the rest of the session."""

    def __init__(self, open_fallback: Callable[[], ModelClient]) -> None:
        self._open: Callable[[], ModelClient] | None = open_fallback

    async def successor(self, model: ModelClient, failure: ModelFailure) -> ModelClient | None:
        if self._open is None or classify_failure(failure) not in {FailureClass.TERMINAL, FailureClass.TRANSIENT}:
            return None
        open_fallback, self._open = self._open, None
        return _open(open_fallback, failure)

    def preferred(self, model: ModelClient) -> ModelClient | None:
        return None


class ChainFallback:
    """Follows a chain. Without an `approver`, only the failures that the chain allows change the model."""

    def __init__(
        self,
        chain: ModelChain,
        open_link: OpenLink,
        approver: Approver | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chain = chain
        self._open = open_link
        self._approver = approver
        self._clock = clock
        self._marks: dict[str, float | None] = {}
        """When a model without capacity failed; None for one that is out for this session."""
        self._is_settled = False
        """Whether the user chose the present model."""

    async def successor(self, model: ModelClient, failure: ModelFailure) -> ModelClient | None:
        kind = classify_failure(failure)
        current = next((link for link in self._chain.links if link.name == model.name), None)
        if current is None:
            return None
        self._marks[current.name] = self._clock() if kind is FailureClass.TRANSIENT else None
        following = next(self._candidates(current), None)
        action = current.actions.get(kind)
        if following is None or action is None:
            return None
        if self._approver is None:
            may_change = kind in self._chain.headless_failures
        elif action is ChainAction.SILENT:
            may_change = True
        else:
            from tejat.core.approval.confirmation import Outcome

            outcome = await self._ask(self._approver, current, following, failure)
            if outcome is Outcome.TRY_AGAIN:
                del self._marks[current.name]
                return model
            may_change = self._is_settled = outcome is Outcome.PROCEED_ONCE
        return _open(lambda: self._open(following), failure) if may_change else None

    def preferred(self, model: ModelClient) -> ModelClient | None:
        first = self._chain.links[0]
        if self._is_settled or first.name == model.name or not self._is_available(first):
            return None
        if all(link.name != model.name for link in self._chain.links):
            return None
        try:
            return self._open(first)
        except (UsageError, ModelFailure):
            return None

    def is_available(self, name: str) -> bool:
        """Return whether a model may be asked: it has quota, and capacity as far as is known."""
        return name not in self._marks or self._is_available(ChainLink(name))

    def _candidates(self, current: ChainLink) -> Iterator[ChainLink]:
        """Yield the models after this one, then those before it."""
        place = self._chain.links.index(current)
        links = (*self._chain.links[place + 1 :], *self._chain.links[:place])
        return (link for link in links if self._is_available(link))

    def _is_available(self, link: ChainLink) -> bool:
        if link.name not in self._marks:
            return True
        failed_at = self._marks[link.name]
        return failed_at is not None and self._clock() - failed_at >= _CAPACITY_SECONDS

    @staticmethod
    async def _ask(approver: Approver, current: ChainLink, following: ChainLink, failure: ModelFailure) -> Outcome:
        from tejat.core.approval.confirmation import ApprovalRequest, ModelChangeConfirmation

        question = ModelChangeConfirmation(_("Switch the model"), current.name, following.name, failure.message)
        return (await approver.ask(ApprovalRequest(question, tool_name=""))).outcome


def _open(open_model: Callable[[], ModelClient], failure: ModelFailure) -> ModelClient:
    try:
        return open_model()
    except (UsageError, ModelFailure) as error:
        why = lazy("{why} No fallback model is available: {error}", why=failure.message, error=error)
        raise ModelFailure(why, failure.kind, status=failure.status, retry_after=failure.retry_after) from None
