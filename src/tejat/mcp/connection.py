"""One connection to a server: started, agreed upon, listed, used and closed, all of it only once."""

import asyncio
from collections.abc import Callable, Mapping

from tejat.core.types import JsonObject
from tejat.core.value import replace
from tejat.core.words import phrase
from tejat.mcp.catalogue import in_short, list_everything
from tejat.mcp.conversation import Conversation, Patience
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.negotiation import negotiate
from tejat.mcp.offers import mention
from tejat.mcp.parameter_headers import problem_with_marks
from tejat.mcp.protocol import STATELESS_REVISIONS
from tejat.mcp.questions import Questions
from tejat.mcp.rounds import ask_in_rounds, ask_with_visits
from tejat.mcp.transport import Transport
from tejat.mcp.values import Catalogue, Progress, ServerInfo

_CHANGES = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}
_VISIT_ENDED = "notifications/elicitation/complete"
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class Connection:
    """Used in this order: `open`, `negotiate`, then anything, `close`.

    `on_change` is called when the server says that it offers something else now, `on_end` when the connection is over
    and nobody closed it.
    """

    def __init__(
        self,
        transport: Transport,
        questions: Questions,
        *,
        on_change: Callable[[], None],
        on_end: Callable[[McpFailure], None],
    ) -> None:
        self._questions = questions
        self._on_change = on_change
        self._conversation = Conversation(transport, questions, on_notice=self._notice, on_end=on_end)
        self._info = ServerInfo(name="", version="", revision="", capabilities={})
        self._visit_ends = asyncio.Event()

    @property
    def is_over(self) -> bool:
        return self._conversation.is_over

    @property
    def is_waiting(self) -> bool:
        return self._conversation.is_waiting

    @property
    def last_words(self) -> tuple[str, ...]:
        return self._conversation.last_words

    async def open(self) -> None:
        """Raises McpFailure."""
        await self._conversation.open()

    async def negotiate(self, *, version: str) -> ServerInfo:
        """Raises McpFailure."""
        self._info = await negotiate(self._conversation, self._questions, version=version)
        return self._info

    async def list(self, *, seconds: float, is_strict: bool = False) -> Catalogue:
        """Everything that is offered, as far as that can be told in this time. Raises McpFailure."""
        deadline = asyncio.get_running_loop().time() + seconds

        async def ask(method: str, params: JsonObject | None) -> JsonObject:
            left = max(0.0, deadline - asyncio.get_running_loop().time())
            return await self._conversation.request(method, params, patience=Patience(idle=left, whole=left))

        catalogue = await list_everything(ask, self._info.capabilities, is_strict=is_strict)
        return _without_bad_marks(catalogue) if self._is_stateless else catalogue

    async def ask(
        self, method: str, params: JsonObject, *, patience: Patience, on_progress: Callable[[Progress], None] | None
    ) -> JsonObject:
        """Raises McpFailure, and Unsent if the server cannot have got it."""

        async def send(params: JsonObject) -> JsonObject:
            return await self._conversation.request(method, params, patience=patience, on_progress=on_progress)

        if self._is_stateless:
            return await ask_in_rounds(send, params, self._questions)
        return await ask_with_visits(send, params, self._questions, next_visit=lambda: self._visit_ends)

    async def listen(self) -> None:
        """Have a stateless server tell when its offers change, as long as it does; others tell anyway."""
        wanted = {f"{name}ListChanged": True for name in _CHANGES.values() if self._tells_about(name)}
        if not self._is_stateless or not wanted:
            return
        pause = _FIRST_PAUSE
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._conversation.request("subscriptions/listen", {"notifications": wanted})
            except McpFailure as failure:
                if failure.problem is McpProblem.REFUSED or self.is_over:
                    return
            has_lasted = asyncio.get_running_loop().time() - began > _LONGEST_PAUSE
            pause = _FIRST_PAUSE if has_lasted else min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
            # Whatever changed meanwhile, nobody told.
            self._on_change()

    async def tell_roots_changed(self) -> None:
        """Raises McpFailure. A stateless server is told the roots whenever it asks, and nothing in between."""
        if not self._is_stateless:
            await self._conversation.notify("notifications/roots/list_changed")

    async def close(self) -> None:
        await self._conversation.close()

    @property
    def _is_stateless(self) -> bool:
        return self._info.revision in STATELESS_REVISIONS

    def _tells_about(self, name: str) -> bool:
        offered = self._info.capabilities.get(name)
        return isinstance(offered, Mapping) and offered.get("listChanged") is True

    def _notice(self, method: str) -> None:
        if method in _CHANGES:
            self._on_change()
        elif method == _VISIT_ENDED:
            self._visit_ends.set()
            self._visit_ends = asyncio.Event()


def _without_bad_marks(catalogue: Catalogue) -> Catalogue:
    """The protocol forbids to call a tool that wants in headers what cannot be there."""
    looked_at = [(tool, problem_with_marks(tool.input_schema)) for tool in catalogue.tools]
    left_out = [
        phrase("The tool {name} was left out: it wants {why}.", name=mention(tool.name), why=problem)
        for tool, problem in looked_at
        if problem is not None
    ]
    return replace(
        catalogue,
        tools=tuple(tool for tool, problem in looked_at if problem is None),
        problems=in_short([*catalogue.problems, *left_out]),
    )
