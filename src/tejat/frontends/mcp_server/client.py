"""One client of the server: what it declared, what runs for it, and what it was asked."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from copy import copy

from tejat.core.errors import UsageError
from tejat.core.tool import READ_ONLY_KINDS
from tejat.core.types import FunctionCall, JsonObject, JsonValue
from tejat.core.value import value
from tejat.engine.scheduler import Scheduler
from tejat.frontends.mcp_server.asking import (
    QUESTION,
    AskedCaller,
    Caller,
    ReturningCaller,
    SilentCaller,
    caller,
)
from tejat.frontends.mcp_server.envelope import Envelope, Refused, has_envelope, meta_of, read_envelope
from tejat.frontends.mcp_server.listing import is_offered, listed_tools
from tejat.frontends.mcp_server.places import Workplace, directories_in
from tejat.frontends.mcp_server.progress import Progress, Send
from tejat.frontends.mcp_server.questions import Form
from tejat.frontends.mcp_server.results import call_result, told_error
from tejat.frontends.mcp_server.server import FRESH, ToolServer
from tejat.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Message,
    Notification,
    Refusal,
    Request,
    RequestId,
    Result,
)

_MOST_CALLS = 32
_ANSWER_SECONDS = 600.0
_ROOTS_SECONDS = 15.0
_LEAVE_SECONDS = 1.0
_FIRST_WITH_MODES = "2025-11-25"


class Client:
    """Answers requests, each with one message through the `send` that comes with it, and asks through the same.

    Every method may be called from any task of the loop. A client of the handshake revisions is one conversation; in
    the stateless ones every request stands for itself, and a client may live for just one of them.
    """

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._running: dict[RequestId, asyncio.Task[object]] = {}
        self._called_off: set[RequestId] = set()
        self._asked: dict[str, asyncio.Future[JsonObject | None]] = {}
        self._questions = 0
        self._met: _Met | None = None
        self._knows_roots = False
        self._finding_roots = asyncio.Lock()
        self._nowhere = ""

    async def request(self, request: Request, send: Send, envelope: Envelope | None = None) -> None:
        """Answer a request, unless the client calls it off meanwhile. Raises what `send` raises."""
        task = asyncio.current_task()
        assert task is not None
        if request.id in self._running or len(self._running) >= _MOST_CALLS:
            taken = "This id belongs to a request that is being answered."
            busy = f"{_MOST_CALLS} requests are being answered. Wait for one of them."
            is_taken = request.id in self._running
            code = INVALID_REQUEST if is_taken else INTERNAL_ERROR
            await send(Refusal(request.id, code, taken if is_taken else busy))
            return
        self._running[request.id] = task
        try:
            answer: Message = Result(request.id, await self._result(request, send, envelope))
        except Refused as refused:
            answer = Refusal(request.id, refused.code, refused.message, refused.data)
        except asyncio.CancelledError:
            if request.id not in self._called_off:
                raise
            task.uncancel()
            return
        except Exception:  # noqa: BLE001 -- whatever it was, it ends this request and nothing else
            answer = Refusal(request.id, INTERNAL_ERROR, "Something went wrong here.")
        finally:
            del self._running[request.id]
            self._called_off.discard(request.id)
        await send(answer)

    def heard(self, message: Notification | Result | Refusal) -> None:
        """What needs no answer. What is not known is left alone, as the protocol wants it."""
        match message:
            case Notification("notifications/cancelled", params):
                self._call_off((params or {}).get("requestId"))
            case Notification("notifications/roots/list_changed"):
                self._knows_roots = False
            case Notification():
                pass
            case Result(request_id, result):
                self._settle(request_id, result)
            case Refusal(request_id):
                self._settle(request_id, None)

    async def close(self) -> None:
        """End what runs for the client, and wait until it has ended."""
        tasks = [task for task in self._running.values() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._met is not None:
            self._met.place.close()

    @property
    def revision(self) -> str | None:
        """The revision that was agreed on, None before that."""
        return None if self._met is None else self._met.revision

    @property
    def is_idle(self) -> bool:
        return not self._running

    def _call_off(self, request_id: JsonValue) -> None:
        if isinstance(request_id, str | int) and request_id in self._running:
            self._called_off.add(request_id)
            self._running[request_id].cancel()

    def _settle(self, request_id: RequestId | None, result: JsonObject | None) -> None:
        waiting = self._asked.get(str(request_id))
        if waiting is not None and not waiting.done():
            waiting.set_result(result)

    async def _result(self, request: Request, send: Send, envelope: Envelope | None) -> JsonObject:
        if envelope is None and has_envelope(request):
            envelope = read_envelope(request)
        if envelope is not None:
            return self._server.stamped(await self._stateless(request, send, envelope))
        params = request.params or {}
        match request.method:
            case "initialize":
                return self._initialize(params)
            case "ping":
                return {}
            case "tools/list":
                return self._list(params, self._introduced().place)
            case "tools/call":
                return await self._call_and_wait(params, send, self._introduced())
            case _:
                raise Refused(METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self._met is not None:
            raise Refused(INVALID_REQUEST, "This was said before.")
        given = params.get("capabilities")
        capabilities: JsonObject = given if isinstance(given, Mapping) else {}
        introduction = self._server.introduction(params.get("protocolVersion"))
        self._met = _Met(str(introduction["protocolVersion"]), capabilities, self._server.new_place())
        self._knows_roots = not isinstance(capabilities.get("roots"), Mapping)
        return introduction

    def _introduced(self) -> "_Met":
        if self._met is None:
            raise Refused(INVALID_REQUEST, "The first request must be `initialize`.")
        return self._met

    async def _call_and_wait(self, params: JsonObject, send: Send, met: "_Met") -> JsonObject:
        """Where something must be asked the call waits for the answer."""
        await self._find_roots(send, met)
        if self._nowhere:
            return told_error(self._nowhere)
        can_ask = _can_elicit(met.capabilities)
        who = AskedCaller(lambda form: self._elicit(form, send, met)) if can_ask else SilentCaller()
        return await self._call(params, send, met.place, who, met.revision)

    async def _stateless(self, request: Request, send: Send, envelope: Envelope) -> JsonObject:
        params, place = request.params or {}, self._server.place
        match request.method:
            case "server/discover":
                return self._server.discovery()
            case "tools/list":
                return {**self._list(params, place), **FRESH}
            case "tools/call" if not _can_elicit(envelope.capabilities):
                return await self._call(params, send, place, SilentCaller(), envelope.revision)
            case "tools/call":
                return await self._call_and_return(params, send, place, envelope.revision)
            case _:
                raise Refused(METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")

    async def _call_and_return(self, params: JsonObject, send: Send, place: Workplace, revision: str) -> JsonObject:
        """Where something must be asked the question is the result, and the client calls again with the answer."""
        state, answers = params.get("requestState"), params.get("inputResponses")
        answer = answers.get(QUESTION) if isinstance(answers, Mapping) else None
        who = ReturningCaller(
            self._server.questions,
            {"name": params.get("name"), "arguments": params.get("arguments")},
            state=state if isinstance(state, str) else None,
            answer=answer if isinstance(answer, Mapping) else None,
        )
        result = await self._call(params, send, place, who, revision)
        if who.asked is None:
            return result
        state, form = who.asked
        question: JsonObject = {"method": "elicitation/create", "params": form.params(with_mode=True)}
        return {"resultType": "input_required", "inputRequests": {QUESTION: question}, "requestState": state}

    def _list(self, params: JsonObject, place: Workplace) -> JsonObject:
        if params.get("cursor") is not None:
            raise Refused(INVALID_PARAMS, "This list has one page only, so there is no cursor.")
        try:
            with place.using() as scheduler:
                return {"tools": listed_tools(scheduler)}
        except UsageError as error:
            raise Refused(INTERNAL_ERROR, f"The tools cannot be had: {error}") from None

    async def _call(
        self, params: JsonObject, send: Send, place: Workplace, who: Caller, revision: str
    ) -> dict[str, JsonValue]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise Refused(INVALID_PARAMS, "A call needs the name of a tool.")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise Refused(INVALID_PARAMS, "The arguments of a call are an object.")
        try:
            with place.using() as scheduler:
                if not is_offered(scheduler, name):
                    raise Refused(INVALID_PARAMS, f"Unknown tool: {name}")
                async with Progress(send, meta_of(params).get("progressToken")) as progress:
                    caller.set(who)
                    call = FunctionCall(name, arguments or {})
                    result = await _with_turn_of_its_own(scheduler, name).run(call, progress.watch)
                return call_result(result, revision)
        except UsageError as error:
            return told_error(f"The tools cannot be had: {error}")

    async def _find_roots(self, send: Send, met: "_Met") -> None:
        """Ask where the client wants the tools to work, if it can tell and has not yet. It can only narrow."""
        async with self._finding_roots:
            if self._knows_roots:
                return
            self._knows_roots = True  # unless it tells of others while it is asked
            try:
                listed = await self._ask("roots/list", None, send, _ROOTS_SECONDS)
            except TimeoutError:
                self._knows_roots = False
                self._nowhere = "The client was asked for its roots and did not answer, so nothing was done. Try again."
                return
            except asyncio.CancelledError:
                self._knows_roots = False
                raise
            host = self._server.host
            wanted = None if listed is None else directories_in(listed)
            within = () if wanted is None else host.narrowed(wanted)
            self._nowhere = ""
            if wanted is not None and not within:
                given = ", ".join(host.roots)
                self._nowhere = f"None of the client's roots lies in the directories of this server, which are {given}."
            met.place.move(within)

    async def _elicit(self, form: Form, send: Send, met: "_Met") -> JsonObject | None:
        params = form.params(with_mode=met.revision >= _FIRST_WITH_MODES)
        with suppress(TimeoutError):
            return await self._ask("elicitation/create", params, send, _ANSWER_SECONDS)
        return None

    async def _ask(self, method: str, params: JsonObject | None, send: Send, seconds: float) -> JsonObject | None:
        """What the client answers, None where it refuses. Raises TimeoutError."""
        self._questions += 1
        request_id = f"tejat-{self._questions}"
        waiting = self._asked[request_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await send(Request(request_id, method, params))
                return await waiting
        except (TimeoutError, asyncio.CancelledError):
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await send(Notification("notifications/cancelled", {"requestId": request_id}))
            raise
        finally:
            del self._asked[request_id]


@value
class _Met:
    """What was agreed on in a handshake."""

    revision: str
    capabilities: JsonObject
    place: Workplace


def _can_elicit(capabilities: JsonObject) -> bool:
    """Whether a form can be shown. A client that names no mode means this one, which was there first."""
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, Mapping) and ("form" in elicitation or "url" not in elicitation)


def _with_turn_of_its_own(scheduler: Scheduler, name: str) -> Scheduler:
    """Calls that only read need not wait for others. Everything else keeps its order."""
    if scheduler.registry.kind_of(name) not in READ_ONLY_KINDS:
        return scheduler
    beside = copy(scheduler)
    beside.turn = asyncio.Lock()
    return beside
