"""One front end in another process, as the process of the session sees it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, get_args

from tejat.core.agent.events import RunEnded
from tejat.core.approval.confirmation import ApprovalReply
from tejat.core.messages.prompt import Attachment, Prompt
from tejat.core.messages.types import JsonObject, Part
from tejat.core.value_json import value_to_json
from tejat.engine.sessions.event_digest import digest_events
from tejat.engine.sessions.event_log import EventLog
from tejat.mcp.protocol import METHOD_NOT_FOUND
from tejat.ui.contract import UiSession
from tejat.ui.jsonrpc.peer import ByteSource, JsonRpcPeer, LineSink, RequestError
from tejat.ui.remote import methods
from tejat.ui.remote.command_prompter import CommandPrompter
from tejat.ui.remote.params import read_items, read_param

_MAX_QUEUED_BYTES = 256 << 20
"""A front end that reads nothing while this much waits for it is cut off."""
_SHOWN_RUNS = 3
"""Runs that a front end shows if it does not ask for the whole conversation."""


class SharedSession(Protocol):
    """What the front ends of a session share."""

    @property
    def session(self) -> UiSession: ...

    @property
    def log(self) -> EventLog: ...

    def info(self) -> JsonObject:
        """What lists of sessions show."""
        ...

    def state(self) -> JsonObject:
        """What changes without an event: the status line and such."""
        ...

    def begin_prompt(self, prompt: Prompt) -> "asyncio.Task[RunEnded]":
        """Begin to answer a prompt, which goes on when the front end leaves."""
        ...

    def stop(self) -> bool:
        """Stop the run in progress, and the session if nothing else keeps it open. False if nothing was to stop."""
        ...


class FrontEnd:
    """Answers the requests of a front end. Events are sent to it after `attach`."""

    def __init__(self, served: SharedSession, warn: Callable[[str], None]) -> None:
        self._served = served
        self._peer = JsonRpcPeer(warn, name="front end")
        self._prompter = CommandPrompter(self._peer)
        self.is_attached = False
        self._methods: dict[str, Callable[[JsonObject], Awaitable[JsonObject]]] = {
            methods.INFO: self._info,
            methods.ATTACH: self._attach,
            methods.PROMPT: self._prompt,
            methods.STEER: self._steer,
            methods.INTERRUPT: self._interrupt,
            methods.STOP: self._stop,
            methods.ANSWER: self._answer,
            methods.COMMAND: self._command,
            methods.COMPLETE: self._complete,
            methods.FILES: self._files,
            methods.SHELL: self._shell,
            methods.MODE: self._mode,
            methods.SANDBOX: self._sandbox,
        }

    async def serve(self, source: ByteSource, sink: LineSink) -> None:
        """Serve until the front end leaves. Prompts that it sent go on then; its commands and shell lines do not."""
        await self._peer.serve(self, source, sink)

    def notify(self, method: str, params: JsonObject) -> None:
        self._peer.notify(method, params)
        if self._peer.queued_bytes > _MAX_QUEUED_BYTES:
            self._peer.close()

    def close(self) -> None:
        """End the connection."""
        self._peer.close()

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        """See `MethodHandler`."""
        run = self._methods.get(method)
        if run is None:
            raise RequestError(METHOD_NOT_FOUND, f"Method not found: {method}")
        return await run(params)

    def handle_notification(self, method: str, params: JsonObject) -> None:
        """See `MethodHandler`. A front end sends none."""

    async def _info(self, _params: JsonObject) -> JsonObject:
        return self._served.info()

    async def _attach(self, params: JsonObject) -> JsonObject:
        """The session as it is now. Every event after that is sent, and none before."""
        session, log = self._served.session, self._served.log
        has_history = params.get("history") is True
        events = digest_events(log.complete(session.replay())) if has_history else log.recent_runs(_SHOWN_RUNS)
        self.is_attached = True
        return {
            "protocol": methods.PROTOCOL,
            "is_running": log.is_running,
            "events": value_to_json(events),
            "questions": value_to_json(session.pending_questions),
            "state": self._served.state(),
            "agents": value_to_json(session.agents),
            "preview": None if events else value_to_json(session.resume_preview),
        }

    async def _prompt(self, params: JsonObject) -> JsonObject:
        task = self._served.begin_prompt(_read_prompt(params))
        if params.get("waits") is False:
            return {}
        try:
            return {"ended": value_to_json(await asyncio.shield(task))}
        except asyncio.CancelledError:
            if self._peer.is_connected:  # otherwise the front end has left, and the run goes on
                task.cancel()
                await asyncio.wait((task,))
            raise

    async def _steer(self, params: JsonObject) -> JsonObject:
        return {"is_sent": self._served.session.steer(read_param(params, "text", str))}

    async def _interrupt(self, _params: JsonObject) -> JsonObject:
        return {"is_interrupted": self._served.session.interrupt()}

    async def _stop(self, _params: JsonObject) -> JsonObject:
        return {"is_stopped": self._served.stop()}

    async def _answer(self, params: JsonObject) -> JsonObject:
        reply = read_param(params, "reply", ApprovalReply)
        return {"is_accepted": self._served.session.answer(read_param(params, "question_id", str), reply)}

    async def _command(self, params: JsonObject) -> JsonObject:
        action = await self._served.session.commands.run(read_param(params, "line", str), self._prompter)
        return {"action": value_to_json(action), "state": self._served.state()}

    async def _complete(self, params: JsonObject) -> JsonObject:
        items = await self._served.session.commands.suggestions(read_param(params, "line", str))
        return {"items": value_to_json(items)}

    async def _files(self, params: JsonObject) -> JsonObject:
        files = self._served.session.files
        found = await files.find(read_param(params, "typed", str), limit=min(read_param(params, "limit", int), 1000))
        return {"paths": list(found), "is_complete": files.is_complete}

    async def _shell(self, params: JsonObject) -> JsonObject:
        shell_id = read_param(params, "id", int)

        def show(output: str) -> None:
            self.notify(methods.OUTPUT, {"id": shell_id, "output": output})

        return {"result": await self._served.session.run_shell(read_param(params, "line", str), show)}

    async def _mode(self, params: JsonObject) -> JsonObject:
        session = self._served.session
        switch = session.toggle_yolo if params.get("is_yolo") is True else session.next_mode
        return {"change": value_to_json(await switch(self._prompter)), "state": self._served.state()}

    async def _sandbox(self, _params: JsonObject) -> JsonObject:
        await self._served.session.wait_for_sandbox()
        return {}


def _read_prompt(params: JsonObject) -> Prompt:
    """Raises RequestError."""
    if isinstance(params.get("prompt"), str):
        return read_param(params, "prompt", str)
    return read_items(params, "prompt", (str, Attachment, *get_args(Part)))
