"""The status of a session, cheap enough to be read for every frame."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from tejat import __version__
from tejat.app.session.manager import SessionManager
from tejat.config.settings.types import configured_servers
from tejat.core.agent.session_state import TODOS_KEY
from tejat.core.messages.history import Message
from tejat.core.messages.types import JsonValue
from tejat.core.tools.todos import TodoList, todos_from_state
from tejat.core.ui.status import ServerCounts, Status, StatusItem
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.request_builder import RequestTemplate
from tejat.engine.sessions.statistics import Statistics
from tejat.mcp.types import ServerState as State
from tejat.models.names import Provider
from tejat.workspace.paths.git_repository import current_branch

_BRANCH_SECONDS = 3.0
_FAILED = frozenset({State.DISCONNECTED, State.NEEDS_LOGIN})
_NOT_USED = frozenset({State.BLOCKED, State.DISABLED})


class StatusSource:
    def __init__(
        self, manager: SessionManager, statistics: Statistics, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._manager = manager
        self._statistics = statistics
        items = manager.run_config.settings.footer_items
        self._shows_memory = items is not None and StatusItem.MEMORY in items.value
        self._host = os.uname().nodename
        self._clock = clock
        self._branch = ""
        self._branch_checked_at = float("-inf")
        self._todos = TodoList()
        self._todos_value: JsonValue = None
        self._tokens = 0
        self._token_cache_key: tuple[RequestTemplate, Message | None, int] | None = None

    @property
    def status(self) -> Status:
        manager = self._manager
        conversation, run_config = manager.session.conversation, manager.run_config
        window, budget = conversation.context_window, conversation.budget
        return Status(
            model=short_model_name(conversation.model.name),
            mode=current_mode(manager),
            folder=run_config.paths.abbreviate(run_config.roots[0]),
            branch=self._current_branch(),
            context_used=self._context_tokens(conversation) / window if window else None,
            tokens=budget.usage.total,
            cached_tokens=budget.usage.cached,
            cost=budget.cost,
            servers=_server_counts(manager),
            is_trusted=not run_config.is_untrusted,
            sandbox=manager.toolset.services.sandbox.state,
            runs_sandboxed=_runs_sandboxed(manager),
            version=__version__,
            session_id=manager.session.session_id,
            host=self._host,
            memory=_memory_in_use() if self._shows_memory else 0,
            line_changes=(self._statistics.lines_added, self._statistics.lines_removed),
            todos=self._current_todos(),
        )

    def _current_todos(self) -> TodoList:
        value = self._manager.session.state.get(TODOS_KEY)
        if value is not self._todos_value:
            self._todos, self._todos_value = todos_from_state(value), value
        return self._todos

    def _current_branch(self) -> str:
        now = self._clock()
        if now - self._branch_checked_at >= _BRANCH_SECONDS:
            self._branch, self._branch_checked_at = current_branch(self._manager.run_config.roots[0]), now
        return self._branch

    def _context_tokens(self, conversation: Conversation) -> int:
        """The tokens of the conversation, counted again only after a change because that takes time."""
        messages: Sequence[Message] = conversation.history.messages
        state = conversation.template, messages[-1] if messages else None, len(messages)
        if self._token_cache_key is None or any(a is not b for a, b in zip(state, self._token_cache_key, strict=True)):
            self._tokens, self._token_cache_key = conversation.tokens, state
        return self._tokens


def short_model_name(name: str) -> str:
    """The name of a model for display: of a script only the file's name, not its directory."""
    prefix, colon, file = name.partition(":")
    return prefix + colon + os.path.basename(file) if prefix == Provider.SCRIPTED else name


def _memory_in_use() -> int:
    """The bytes of memory of this process, 0 where that is unknown."""
    with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _runs_sandboxed(manager: SessionManager) -> bool:
    """Whether some sandboxed commands run without asking. The rules need not be loaded for this."""
    policy = manager.toolset.policy
    if policy is not None:
        return bool(policy.sandboxed.source)
    settings = manager.run_config.settings
    if not settings.auto_allow_sandboxed.value:
        return False
    from tejat.engine.calls.approval.auto_allow import sandboxed_commands

    is_untrusted = manager.run_config.is_untrusted
    return bool(sandboxed_commands(settings, manager.options.mode, is_untrusted=is_untrusted).source)


def current_mode(manager: SessionManager) -> str:
    """The approval mode in force."""
    policy = manager.toolset.policy
    return (manager.options.mode or "default") if policy is None else policy.mode.value


def _server_counts(manager: SessionManager) -> ServerCounts:
    servers = manager.toolset.mcp_manager
    if servers is None:
        return ServerCounts(total=_count_awaited_servers(manager))
    states = [status.state for status in servers.statuses() if status.state not in _NOT_USED]
    return ServerCounts(
        total=len(states), ready=states.count(State.CONNECTED), failed=sum(state in _FAILED for state in states)
    )


def _count_awaited_servers(manager: SessionManager) -> int:
    """The number of servers before they are started, which is after the first screen."""
    settings, external = manager.run_config.settings, manager.toolset.external
    if external is None or not external.is_starting:
        return 0
    may_start = settings.mcp_enabled.value and manager.run_config.trust.is_trusted
    return len(configured_servers(settings)) if may_start else 0
