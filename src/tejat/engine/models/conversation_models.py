"""The models of one conversation: fallback, side requests, and the router."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tejat.core.i18n import _
from tejat.core.messages.history import Message
from tejat.core.model import AskModel, ModelClient, ModelFailure

if TYPE_CHECKING:
    from tejat.engine.models.fallback import ModelFallback

ROUTER_PURPOSE = "router"
"""The purpose of the requests by which the router chooses."""

OpenHelper: TypeAlias = Callable[[str], ModelClient | None]
"""Opens the model for side requests of a purpose; None for the model of the conversation."""


class ModelRouter(Protocol):
    """Chooses the model that answers a prompt."""

    async def choose(
        self, model: ModelClient, messages: Sequence[Message], ask: AskModel
    ) -> tuple[ModelClient, str] | None:
        """Return another model and why it answers, None to keep the present one."""
        ...


class ConversationModels:
    """Which models a conversation asks. `fallback` and `router` are None where no other model ever answers."""

    def __init__(
        self,
        fallback: ModelFallback | None = None,
        *,
        open_helper: OpenHelper = lambda _: None,
        router: ModelRouter | None = None,
    ) -> None:
        self.fallback = fallback
        self._open_helper = open_helper
        self._router = router
        self._helpers: dict[str, ModelClient | None] = {}

    async def successor(self, model: ModelClient, failure: ModelFailure) -> ModelClient | None:
        """Return the model that answers after a failure, `model` itself to ask it again, None if the failure stands.

        Raises ModelFailure if the next model cannot be opened.
        """
        return None if self.fallback is None else await self.fallback.successor(model, failure)

    async def choose(
        self, model: ModelClient, messages: Sequence[Message], ask: AskModel
    ) -> tuple[ModelClient, str] | None:
        """Return the model that should answer a new prompt, and why; None for the present one."""
        if self._router is not None:
            return await self._router.choose(model, messages, ask)
        first = None if self.fallback is None else self.fallback.preferred(model)
        return None if first is None else (first, _("It is available again."))

    def helper(self, purpose: str) -> ModelClient | None:
        """Return the model for side requests of a purpose, None for the model of the conversation."""
        if purpose not in self._helpers:
            self._helpers[purpose] = self._open_helper(purpose)
        return self._helpers[purpose]

    async def drop_helper(self, purpose: str) -> bool:
        """Stop using the model for side requests of a purpose: it failed.

        Returns whether the model of the conversation may answer instead. The router asks nobody else.
        """
        if purpose == ROUTER_PURPOSE:
            return False
        await self._close_helper(purpose)
        return True

    async def _close_helper(self, purpose: str) -> None:
        helper, self._helpers[purpose] = self._helpers.get(purpose), None
        if helper is not None:
            await helper.close()

    async def close(self) -> None:
        """Close the models for side requests."""
        for purpose in list(self._helpers):
            await self._close_helper(purpose)
