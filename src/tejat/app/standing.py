"""How a session stands, at a glance: cheap enough to be asked for with every frame."""

import os
import time
from collections.abc import Callable, Sequence

from tejat.app.agent import Succession
from tejat.core.history import Message
from tejat.core.status import ServerState, Status
from tejat.engine.conversation import Conversation
from tejat.mcp.values import ServerState as State
from tejat.mcp.values import ServerStatus
from tejat.workspace.git_repository import current_branch

_BRANCH_SECONDS = 3.0
_FAILED = frozenset({State.DISCONNECTED, State.NEEDS_LOGIN})
_NOT_USED = frozenset({State.BLOCKED, State.DISABLED})


class Standing:
    def __init__(self, succession: Succession, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._succession = succession
        self._clock = clock
        self._branch = ""
        self._looked_at = float("-inf")
        self._tokens = 0
        self._counted: tuple[Conversation, Message | None, int] | None = None

    @property
    def status(self) -> Status:
        succession = self._succession
        conversation, ground = succession.session.conversation, succession.ground
        window, budget = conversation.model.context_window, conversation.budget
        return Status(
            model=conversation.model.name,
            mode=mode_of(succession),
            folder=_with_tilde(ground.roots[0], ground.places.home),
            branch=self._current_branch(),
            context_used=self._context_tokens(conversation) / window if window else None,
            tokens=budget.usage.total,
            cached_tokens=budget.usage.cached,
            cost=budget.cost,
            servers=_servers(succession),
            is_trusted=ground.trust.is_trusted or not ground.brought,
            sandbox=succession.workshop.house.sandbox_name,
        )

    def _current_branch(self) -> str:
        now = self._clock()
        if now - self._looked_at >= _BRANCH_SECONDS:
            self._branch, self._looked_at = current_branch(self._succession.ground.roots[0]), now
        return self._branch

    def _context_tokens(self, conversation: Conversation) -> int:
        """Counted anew only when the conversation has changed: a long text takes its time."""
        messages: Sequence[Message] = conversation.history.messages
        state = conversation, messages[-1] if messages else None, len(messages)
        if self._counted is None or any(a is not b for a, b in zip(state, self._counted, strict=True)):
            self._tokens, self._counted = conversation.tokens, state
        return self._tokens


def mode_of(succession: Succession) -> str:
    """The approval mode that calls are judged in."""
    policy = succession.workshop.session.policy
    return (succession.options.mode or "default") if policy is None else policy.mode.value


def _servers(succession: Succession) -> ServerState:
    foreign = succession.workshop.session.foreign
    statuses: Sequence[ServerStatus] = () if foreign is None or foreign.servers is None else foreign.servers.statuses()
    states = [status.state for status in statuses if status.state not in _NOT_USED]
    return ServerState(
        total=len(states), ready=states.count(State.CONNECTED), failed=sum(state in _FAILED for state in states)
    )


def _with_tilde(path: str, home: str) -> str:
    """As people write it: what lies in their home begins with a tilde."""
    if path == home:
        return "~"
    return f"~{path[len(home) :]}" if home and path.startswith(home.rstrip(os.sep) + os.sep) else path
