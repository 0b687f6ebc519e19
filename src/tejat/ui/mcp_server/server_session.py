"""Session with one client: its capabilities, running requests, and requests sent to it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.log import report_unexpected
from tejat.core.messages.types import FunctionCall, JsonObject, JsonValue
from tejat.mcp import protocol
from tejat.mcp.protocol import JsonRpcError, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse
from tejat.ui.mcp_server.approval_form import ApprovalForm
from tejat.ui.mcp_server.client_approver import (
    APPROVAL_INPUT,
    ApprovalChannel,
    ElicitationChannel,
    InputRequiredChannel,
    NoApprovalChannel,
    current_channel,
)
from tejat.ui.mcp_server.client_workspace import ClientWorkspace, parse_roots
from tejat.ui.mcp_server.envelope import Envelope, RequestRejected, has_envelope, parse_envelope, request_meta
from tejat.ui.mcp_server.progress import ProgressNotifier, SendMessage
from tejat.ui.mcp_server.tool_list import is_offered, list_tools
from tejat.ui.mcp_server.tool_result import call_result, error_result
from tejat.ui.mcp_server.tool_server import NO_CACHE, ToolServer

_MAX_REQUESTS = 32
_ANSWER_SECONDS = 600.0
_ROOTS_SECONDS = 15.0
_CANCEL_SECONDS = 1.0
_FIRST_WITH_MODES = "2025-11-25"
_NO_ROOTS = "The client was asked for its roots and did not answer, so nothing was done. Try again."
_NO_CHANNEL = NoApprovalChannel()


class _Handshake(Frozen):
    """Result of the `initialize` handshake."""

    revision: str
    capabilities: JsonObject
    workspace: ClientWorkspace


class ServerSession:
    """Answers each request with one message through its `send`, and sends own requests the same way.

    Methods may be called from any task of the loop. With the handshake revisions a session is one connection; with the
    stateless ones it may serve a single request.
    """

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._running: dict[protocol.RequestId, asyncio.Task[object]] = {}
        self._cancelled_ids: set[protocol.RequestId] = set()
        self._pending_replies: dict[str, asyncio.Future[JsonObject | None]] = {}
        self._requests_sent = 0
        self._handshake: _Handshake | None = None
        self._knows_roots = False
        self._roots_lock = asyncio.Lock()
        self._roots_error = ""

    async def handle_request(
        self, request: JsonRpcRequest, send: SendMessage, envelope: Envelope | None = None
    ) -> None:
        """Answer a request, unless the client cancels it. Raises what `send` raises."""
        task = asyncio.current_task()
        assert task is not None
        if request.id in self._running or len(self._running) >= _MAX_REQUESTS:
            duplicate_id = "This id belongs to a request that is being answered."
            too_many = f"{_MAX_REQUESTS} requests are being answered. Wait for one of them."
            is_taken = request.id in self._running
            code = protocol.INVALID_REQUEST if is_taken else protocol.INTERNAL_ERROR
            await send(JsonRpcError(request.id, code, duplicate_id if is_taken else too_many))
            return
        self._running[request.id] = task
        try:
            answer: JsonRpcMessage = JsonRpcResponse(request.id, await self._result(request, send, envelope))
        except RequestRejected as refused:
            answer = JsonRpcError(request.id, refused.code, refused.message, refused.data)
        except asyncio.CancelledError:
            if request.id not in self._cancelled_ids:
                raise
            task.uncancel()
            return
        except Exception as error:  # noqa: BLE001 -- it ends this request and nothing else
            report_unexpected(error, "a request of an MCP client")
            answer = JsonRpcError(request.id, protocol.INTERNAL_ERROR, "Something went wrong here.")
        finally:
            del self._running[request.id]
            self._cancelled_ids.discard(request.id)
        await send(answer)

    def handle_message(self, message: JsonRpcNotification | JsonRpcResponse | JsonRpcError) -> None:
        """Handle a message that needs no answer. Unknown ones are ignored, as the protocol demands."""
        match message:
            case JsonRpcNotification("notifications/cancelled", params):
                request_id = (params or {}).get("requestId")
                if isinstance(request_id, str | int) and request_id in self._running:
                    self._cancelled_ids.add(request_id)
                    self._running[request_id].cancel()
            case JsonRpcNotification("notifications/roots/list_changed"):
                self._knows_roots = False
            case JsonRpcNotification():
                pass
            case JsonRpcResponse(request_id, result):
                self._resolve_reply(request_id, result)
            case JsonRpcError(request_id):
                self._resolve_reply(request_id, None)

    async def close(self) -> None:
        """Cancel the running requests and wait for their end."""
        tasks = [task for task in self._running.values() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._handshake is not None:
            self._handshake.workspace.close()

    @property
    def revision(self) -> str | None:
        """The negotiated protocol revision, None before the handshake."""
        return None if self._handshake is None else self._handshake.revision

    @property
    def is_idle(self) -> bool:
        return not self._running

    def _resolve_reply(self, request_id: protocol.RequestId | None, result: JsonObject | None) -> None:
        reply = self._pending_replies.get(str(request_id))
        if reply is not None and not reply.done():
            reply.set_result(result)

    async def _result(self, request: JsonRpcRequest, send: SendMessage, envelope: Envelope | None) -> JsonObject:
        if envelope is None and has_envelope(request):
            envelope = parse_envelope(request)
        if envelope is not None:
            return self._server.complete_result(await self._handle_stateless(request, send, envelope))
        params = request.params or {}
        match request.method:
            case "initialize":
                return self._initialize(params)
            case "ping":
                return {}
            case "tools/list":
                handshake = self._require_handshake()
                can_ask = _can_elicit(handshake.capabilities)
                return self._list(params, handshake.workspace, can_ask=can_ask, revision=handshake.revision)
            case "tools/call":
                return await self._call_with_elicitation(params, send, self._require_handshake())
            case _:
                raise RequestRejected(protocol.METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self._handshake is not None:
            raise RequestRejected(protocol.INVALID_REQUEST, "This was said before.")
        given = params.get("capabilities")
        capabilities: JsonObject = given if isinstance(given, Mapping) else {}
        introduction = self._server.initialize_result(params.get("protocolVersion"))
        self._handshake = _Handshake(str(introduction["protocolVersion"]), capabilities, self._server.new_workspace())
        self._knows_roots = not isinstance(capabilities.get("roots"), Mapping)
        return introduction

    def _require_handshake(self) -> _Handshake:
        if self._handshake is None:
            raise RequestRejected(protocol.INVALID_REQUEST, "The first request must be `initialize`.")
        return self._handshake

    async def _call_with_elicitation(self, params: JsonObject, send: SendMessage, handshake: _Handshake) -> JsonObject:
        """Run a call that waits while the client asks its user."""
        await self._refresh_roots(send, handshake)
        if self._roots_error:
            return error_result(self._roots_error)
        can_ask = _can_elicit(handshake.capabilities)
        channel = ElicitationChannel(lambda form: self._elicit(form, send, handshake)) if can_ask else _NO_CHANNEL
        return await self._call(params, send, handshake.workspace, channel, handshake.revision)

    async def _handle_stateless(self, request: JsonRpcRequest, send: SendMessage, envelope: Envelope) -> JsonObject:
        params, workspace = request.params or {}, self._server.shared_workspace
        match request.method:
            case "server/discover":
                return self._server.discover_result()
            case "tools/list":
                can_ask = _can_elicit(envelope.capabilities)
                return {**self._list(params, workspace, can_ask=can_ask, revision=envelope.revision), **NO_CACHE}
            case "tools/call" if not _can_elicit(envelope.capabilities):
                return await self._call(params, send, workspace, _NO_CHANNEL, envelope.revision)
            case "tools/call":
                return await self._call_with_input_required(params, send, workspace, envelope.revision)
            case _:
                raise RequestRejected(protocol.METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")

    async def _call_with_input_required(
        self, params: JsonObject, send: SendMessage, workspace: ClientWorkspace, revision: str
    ) -> JsonObject:
        """Run a call whose result may be a question; the client repeats the call with the answer."""
        state, answers = params.get("requestState"), params.get("inputResponses")
        answer = answers.get(APPROVAL_INPUT) if isinstance(answers, Mapping) else None
        channel = InputRequiredChannel(
            self._server.pending_approvals,
            {"name": params.get("name"), "arguments": params.get("arguments")},
            state=state if isinstance(state, str) else None,
            answer=answer if isinstance(answer, Mapping) else None,
        )
        result = await self._call(params, send, workspace, channel, revision)
        if channel.pending is None:
            return result
        state, form = channel.pending
        question: JsonObject = {"method": "elicitation/create", "params": form.params(with_mode=True)}
        return {"resultType": "input_required", "inputRequests": {APPROVAL_INPUT: question}, "requestState": state}

    def _list(self, params: JsonObject, workspace: ClientWorkspace, *, can_ask: bool, revision: str) -> JsonObject:
        if params.get("cursor") is not None:
            raise RequestRejected(protocol.INVALID_PARAMS, "This list has one page only, so there is no cursor.")
        try:
            with workspace.tools() as tools:
                return {"tools": list_tools(tools, can_ask=can_ask, revision=revision)}
        except UsageError as error:
            raise RequestRejected(protocol.INTERNAL_ERROR, f"The tools are not available: {error}") from None

    async def _call(
        self, params: JsonObject, send: SendMessage, workspace: ClientWorkspace, channel: ApprovalChannel, revision: str
    ) -> dict[str, JsonValue]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise RequestRejected(protocol.INVALID_PARAMS, "A call needs the name of a tool.")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise RequestRejected(protocol.INVALID_PARAMS, "The arguments of a call are an object.")
        try:
            with workspace.tools() as tools:
                if not is_offered(tools, name, can_ask=channel is not _NO_CHANNEL):
                    raise RequestRejected(protocol.INVALID_PARAMS, f"Unknown tool: {name}")
                async with ProgressNotifier(send, request_meta(params).get("progressToken")) as progress:
                    current_channel.set(channel)
                    call = FunctionCall(name, arguments or {})
                    result = await tools.scheduler.run(call, progress.handle_event, beside=True)
                return call_result(result, revision)
        except UsageError as error:
            return error_result(f"The tools are not available: {error}")

    async def _refresh_roots(self, send: SendMessage, handshake: _Handshake) -> None:
        """Ask the client for its roots, if it has any that are not known yet. Roots can only narrow."""
        async with self._roots_lock:
            if self._knows_roots:
                return
            self._knows_roots = True  # before asking: they may change meanwhile
            try:
                listed = await self._send_request("roots/list", None, send, _ROOTS_SECONDS)
            except TimeoutError:
                self._knows_roots = False
                self._roots_error = _NO_ROOTS
                return
            except asyncio.CancelledError:
                self._knows_roots = False
                raise
            host = self._server.host
            wanted = None if listed is None else parse_roots(listed)
            within = () if wanted is None else host.restrict_roots(wanted)
            roots = ", ".join(host.roots)
            outside = f"None of the client's roots lies in the directories of this server, which are {roots}."
            self._roots_error = outside if wanted is not None and not within else ""
            handshake.workspace.set_roots(within)

    async def _elicit(self, form: ApprovalForm, send: SendMessage, handshake: _Handshake) -> JsonObject | None:
        params = form.params(with_mode=handshake.revision >= _FIRST_WITH_MODES)
        with suppress(TimeoutError):
            return await self._send_request("elicitation/create", params, send, _ANSWER_SECONDS)
        return None

    async def _send_request(
        self, method: str, params: JsonObject | None, send: SendMessage, seconds: float
    ) -> JsonObject | None:
        """Return the client's result, None for an error. Raises TimeoutError."""
        self._requests_sent += 1
        request_id = f"tejat-{self._requests_sent}"
        reply = self._pending_replies[request_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await send(JsonRpcRequest(request_id, method, params))
                return await reply
        except (TimeoutError, asyncio.CancelledError):
            with suppress(TimeoutError):
                async with asyncio.timeout(_CANCEL_SECONDS):
                    await send(JsonRpcNotification("notifications/cancelled", {"requestId": request_id}))
            raise
        finally:
            del self._pending_replies[request_id]


def _can_elicit(capabilities: JsonObject) -> bool:
    """Whether the client supports form mode, which is the default if it names no mode."""
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, Mapping) and ("form" in elicitation or "url" not in elicitation)
