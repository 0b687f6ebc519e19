"""One server for as long as a session lasts: connected in the background, and again when the connection was lost."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TypeVar

from tejat.core.types import JsonObject
from tejat.core.value import replace, value
from tejat.core.words import phrase
from tejat.mcp.catalogue import NOTHING_FOUND
from tejat.mcp.connection import Connection
from tejat.mcp.conversation import Patience
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
from tejat.mcp.protocol import TOOL_CALL
from tejat.mcp.questions import Questions
from tejat.mcp.transport import Transport
from tejat.mcp.values import Catalogue, Host, Progress, ServerState, ServerStatus, Step

_Result = TypeVar("_Result")

_MOST_PATIENCE = 4
"""A call that tells of its progress may take so many times the limit of the server."""
_MOST_REASONS = 3
_DEEDS = {Step.START: phrase("start"), Step.HANDSHAKE: phrase("answer the handshake")}
_PERHAPS_DONE = phrase("The call may or may not have been done.")
_CLOSED = phrase("The session with the server was closed.")


@value
class ServerPlan:
    """How one server is reached: what is told of it, how a connection is made, and its limits in seconds.

    `connect` may raise McpFailure. `where` is shown: a command without arguments, or an address without secrets.
    `start_timeout` is how long it may take to say what it is. `may_sample`: it may ask the model of the session.
    """

    alias: str
    transport: str
    where: str
    connect: Callable[[], Transport]
    timeout: float = 600.0
    start_timeout: float = 30.0
    may_sample: bool = False


@value
class LinkLimits:
    """In seconds. A step takes no longer than this, and no longer than the server's own limit.

    `pauses` come before each attempt to connect again that nobody asked for; there are no more of them within `window`.
    """

    start: float = 10.0
    listing: float = 10.0
    second_look: float = 0.5
    between_looks: float = 0.2
    pauses: tuple[float, ...] = (1.0, 5.0, 25.0)
    window: float = 300.0


LINK_LIMITS = LinkLimits()


class ServerLink:
    """A server, as its users see it (see `Server` in values.py).

    One task of its own opens, watches and closes every connection; whoever calls waits for answers and nothing else, so
    it can be cancelled at any time. `on_change` is called in the loop with every change of the status. `gate` keeps too
    many servers from being started at once.
    """

    def __init__(
        self,
        plan: ServerPlan,
        host: Host,
        *,
        version: str,
        on_change: Callable[[ServerStatus], None],
        gate: asyncio.Semaphore | None = None,
        limits: LinkLimits = LINK_LIMITS,
    ) -> None:
        self._plan = plan
        self._questions = Questions(plan.alias, host if plan.may_sample else replace(host, sample=None))
        self._version = version
        self._on_change = on_change
        self._gate = gate or asyncio.Semaphore()
        self._limits = limits
        self._status = ServerStatus(plan.alias, ServerState.DISCONNECTED, plan.transport, plan.where)
        self._owner: asyncio.Task[None] | None = None
        self._is_closed = False
        self._connection: Connection | None = None
        self._attempt: asyncio.Future[Connection | McpFailure] | None = None
        self._lost: asyncio.Future[McpFailure]
        self._wanted = asyncio.Event()
        self._stirred = asyncio.Event()
        self._was_connected = False
        self._own_attempts: deque[float] = deque()

    @property
    def alias(self) -> str:
        return self._plan.alias

    @property
    def status(self) -> ServerStatus:
        return self._status

    def start(self) -> None:
        """Connect in the background. Once is enough: a lost connection is made again when it is needed."""
        if self._owner is not None or self._is_closed:
            return
        loop = asyncio.get_running_loop()
        self._attempt = loop.create_future()
        self._tell(state=ServerState.CONNECTING, step=Step.START)
        self._owner = loop.create_task(self._own(), name=f"tejat-mcp-{self.alias}")
        self._owner.add_done_callback(self._over)

    async def retry(self) -> ServerStatus:
        """Connect now, as after a login, unless it is connected. Returns what came of it.

        An attempt that is under way already may know nothing of the login: if it fails, there is one more.
        """
        for _ in range(2 if self._status.state is ServerState.CONNECTING else 1):
            with suppress(McpFailure):
                await self._usable()
                break
        return self._status

    async def close(self) -> None:
        """Let go of the server for good. It does not matter who calls this, how often, and when."""
        if self._owner is None:
            self._is_closed = True
            return
        if not self._is_closed:
            self._is_closed = True
            self._owner.cancel()
        await asyncio.wait((self._owner,))

    async def call_tool(
        self, name: str, arguments: JsonObject, *, on_progress: Callable[[Progress], None] | None = None
    ) -> JsonObject:
        """The result as the server gave it. Raises McpFailure. When the task is cancelled the server is told."""
        params: JsonObject = {"name": name, "arguments": arguments}
        return await self._ask(TOOL_CALL, params, tool=name, on_progress=on_progress or _mute)

    async def get_prompt(self, name: str, arguments: JsonObject) -> JsonObject:
        """Raises McpFailure."""
        return await self._ask("prompts/get", {"name": name, "arguments": arguments})

    async def read_resource(self, uri: str) -> JsonObject:
        """Raises McpFailure."""
        return await self._ask("resources/read", {"uri": uri})

    async def tell_roots_changed(self) -> None:
        """Raises McpFailure. A server that is not connected asks when it is."""
        if self._connection is not None:
            await self._connection.tell_roots_changed()

    async def _ask(
        self,
        method: str,
        params: JsonObject,
        *,
        tool: str | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> JsonObject:
        """What is lost is asked for once more, unless it is a tool that may have done its work."""
        patience = Patience(idle=self._plan.timeout, whole=_MOST_PATIENCE * self._plan.timeout)
        is_repeated = False
        while True:
            connection = await self._usable()
            try:
                return await connection.ask(method, params, patience=patience, on_progress=on_progress)
            except McpFailure as failure:
                if failure.problem is McpProblem.UNAUTHORISED and self._connection is connection:
                    self._lose(failure)
                if failure.problem is not McpProblem.CLOSED:
                    raise
                if tool is not None and not isinstance(failure, Unsent) and not self._is_harmless(tool):
                    raise McpFailure(f"{failure.message} {_PERHAPS_DONE}", McpProblem.CLOSED) from None
                if is_repeated:
                    raise
            is_repeated = True

    def _is_harmless(self, name: str) -> bool:
        """Whether the tool says that calling it twice does no more than calling it once."""
        marks = [tool.annotations for tool in self._status.catalogue.tools if tool.name == name]
        return any(each.idempotent is True or each.read_only is True for each in marks)

    async def _usable(self) -> Connection:
        """The connection, made first if there is none. Raises McpFailure."""
        self.start()
        if self._connection is not None:
            return self._connection
        if self._is_closed or self._attempt is None:
            raise McpFailure(_CLOSED, McpProblem.CLOSED)
        self._wanted.set()
        outcome = await asyncio.shield(self._attempt)
        if isinstance(outcome, Connection):
            return outcome
        message = phrase("The MCP server '{alias}' is not connected: {why}", alias=self.alias, why=outcome.message)
        raise McpFailure(message, outcome.problem, code=outcome.code, data=outcome.data, challenge=outcome.challenge)

    async def _own(self) -> None:
        while True:
            await self._live()
            await self._rest()
            self._tell(state=ServerState.CONNECTING, step=Step.START, reason="", last_words=())

    async def _live(self) -> None:
        """One connection, from its start to its end, whichever way it ends."""
        began = asyncio.get_running_loop().time()
        self._lost = asyncio.get_running_loop().create_future()
        self._stirred.clear()
        try:
            transport = self._plan.connect()
        except McpFailure as failure:
            self._fail(failure, (), began)
            return
        connection = Connection(transport, self._questions, on_change=self._stirred.set, on_end=self._lose)
        try:
            await self._bring_up(connection, began)
            failure = await self._watch(connection)
            self._fail(failure, connection.last_words, began)
        except McpFailure as failure:
            self._fail(failure, connection.last_words, began)
        finally:
            self._connection = None
            await _to_the_end(connection.close())

    async def _bring_up(self, connection: Connection, began: float) -> None:
        """Raises McpFailure."""
        limits = self._limits
        async with self._gate:
            await self._take(Step.START, connection.open, limits.start)
        negotiate = partial(connection.negotiate, version=self._version)
        info = await self._take(Step.HANDSHAKE, negotiate, self._plan.start_timeout)
        self._tell(step=Step.LIST, info=info)
        catalogue = await connection.list(seconds=min(limits.listing, self._plan.timeout))
        if catalogue.is_empty:
            raise McpFailure(" ".join([NOTHING_FOUND, *catalogue.problems[:_MOST_REASONS]]), McpProblem.MALFORMED)
        if connection.is_over:
            return
        self._connection = connection
        self._was_connected = True
        seconds = asyncio.get_running_loop().time() - began
        self._tell(state=ServerState.CONNECTED, step=None, catalogue=catalogue, seconds=seconds)
        self._conclude(connection)

    async def _take(self, step: Step, work: Callable[[], Awaitable[_Result]], seconds: float) -> _Result:
        """Do one step in its time. Raises McpFailure."""
        self._tell(step=step)
        limit = min(seconds, self._plan.timeout)
        try:
            async with asyncio.timeout(limit):
                return await work()
        except TimeoutError:
            message = phrase("The server did not {deed} within {limit:.3g} seconds.", deed=_DEEDS[step], limit=limit)
            raise McpFailure(message, McpProblem.TIMED_OUT) from None

    async def _watch(self, connection: Connection) -> McpFailure:
        """Look after a connection until it is lost. Returns why."""
        listening = asyncio.get_running_loop().create_task(connection.listen())
        try:
            while True:
                await self._stirred.wait()
                self._stirred.clear()
                if self._lost.done():
                    return self._lost.result()
                await self._look_again(connection)
        finally:
            listening.cancel()

    async def _look_again(self, connection: Connection) -> None:
        """The server says that it offers something else. However often it says so meanwhile, there is one more look."""
        seconds = min(self._limits.listing, self._plan.timeout)
        # Some tell before it is so.
        for pause in (0.0, self._limits.second_look):
            await asyncio.wait((self._lost,), timeout=pause)
            try:
                catalogue = await connection.list(seconds=seconds, is_strict=True)
            except McpFailure:
                break
            if catalogue != self._status.catalogue:
                self._tell(catalogue=catalogue)
                break
        await asyncio.wait((self._lost,), timeout=self._limits.between_looks)

    def _lose(self, failure: McpFailure) -> None:
        if self._connection is not None:
            self._tell(step=Step.CALL if self._connection.is_waiting else None)
        self._connection = None
        if not self._lost.done():
            self._lost.set_result(failure)
        self._stirred.set()

    def _fail(self, failure: McpFailure, last_words: tuple[str, ...], began: float) -> None:
        is_new = self._status.state is ServerState.CONNECTING
        needs_login = failure.problem is McpProblem.UNAUTHORISED
        self._tell(
            state=ServerState.NEEDS_LOGIN if needs_login else ServerState.DISCONNECTED,
            reason=failure.message,
            last_words=last_words,
            seconds=asyncio.get_running_loop().time() - began if is_new else self._status.seconds,
        )
        if is_new:
            self._conclude(failure)

    def _conclude(self, outcome: Connection | McpFailure) -> None:
        """Tell everybody who waits for a connection. Whoever comes later waits for another one."""
        if self._attempt is not None:
            self._attempt.set_result(outcome)
        self._attempt = asyncio.get_running_loop().create_future()
        self._wanted.clear()

    async def _rest(self) -> None:
        """Until somebody wants the server, or it is time to connect again without being asked."""
        now = asyncio.get_running_loop().time()
        while self._own_attempts and now - self._own_attempts[0] > self._limits.window:
            self._own_attempts.popleft()
        made = len(self._own_attempts)
        may_try = self._was_connected and self._status.state is ServerState.DISCONNECTED
        pause = self._limits.pauses[made] if may_try and made < len(self._limits.pauses) else None
        try:
            async with asyncio.timeout(pause):
                await self._wanted.wait()
        except TimeoutError:
            self._own_attempts.append(asyncio.get_running_loop().time())

    def _over(self, owner: "asyncio.Task[None]") -> None:
        """The owner has ended: it was cancelled, or there is a defect in it."""
        defect = None if owner.cancelled() else owner.exception()
        if defect is not None:
            told = {"message": f"the link to the MCP server '{self.alias}' broke", "exception": defect, "task": owner}
            owner.get_loop().call_exception_handler(told)
        self._is_closed = True
        reason = (
            _CLOSED
            if defect is None
            else phrase("There is a defect in how the server is looked after: {kind}", kind=type(defect).__name__)
        )
        failure = McpFailure(reason, McpProblem.CLOSED)
        if self._attempt is not None and not self._attempt.done():
            self._attempt.set_result(failure)
        self._tell(state=ServerState.DISCONNECTED, step=None, reason=reason, catalogue=Catalogue())

    def _tell(self, **changes: object) -> None:
        status = replace(self._status, **changes)
        if status == self._status:
            return
        self._status = status
        try:
            self._on_change(status)
        except Exception as error:  # noqa: BLE001 -- whoever listens cannot harm the server
            told = {"message": f"a change of the MCP server '{self.alias}' could not be told", "exception": error}
            asyncio.get_running_loop().call_exception_handler(told)


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Do this even if the task is cancelled meanwhile, however often; that comes afterwards."""
    task = asyncio.get_running_loop().create_task(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled or task.cancelled():
        raise asyncio.CancelledError
    task.result()


def _mute(progress: Progress) -> None:
    """Nobody wants to know; that there is any gives the call more time."""
