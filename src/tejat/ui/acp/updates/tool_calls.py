"""Calls of the model as tool calls of the protocol, each with an id of its own."""

import os
from collections.abc import Callable, Mapping
from itertools import count
from typing import TypeAlias

from tejat.core.agent.subagent_events import AgentEnded
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState, Event, OutputUpdated, StateChanged
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.updates.call_content import finished_call
from tejat.ui.acp.updates.content_blocks import code_content, keep_tail, raw_value, text_content
from tejat.ui.acp.updates.live_output import TerminalData, Throttle
from tejat.ui.shared.calls.outcome import CallStatus, call_status, signal_label
from tejat.ui.shared.calls.title import TitleForm, call_title, has_wording, tool_label
from tejat.ui.shared.labels.text_summary import summarize_line

SendUpdate: TypeAlias = Callable[[JsonObject], None]
"""Takes the value of `update` in `session/update`."""
DescribeCall: TypeAlias = Callable[[FunctionCall], CallDetails]

_STATUSES = {CallState.EXECUTING: "in_progress"}
_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})
_SERVER_SEPARATOR = "__"


class OpenCall:
    """A call that has not ended. `agent` is the run of the sub-agent that this call started, once that has ended."""

    def __init__(self, call_id: str, call: FunctionCall, details: CallDetails, send: Callable[[str], None]) -> None:
        self.call_id = call_id
        self.call = call
        self.details = details
        self.status = "pending"
        self.terminal_id = ""
        self.terminal_data: TerminalData | None = None
        self.output = Throttle(send)
        self.agent: AgentEnded | None = None


class ToolCalls:
    """Sends tool calls and their updates.

    Ids of the model may repeat, so each call gets another one; it is found by the agent and the position of the call in
    its batch, of which each agent has one at a time. `folder` is the working directory; titles are relative to it.
    """

    def __init__(
        self, send: SendUpdate, describe: DescribeCall, capabilities: ClientCapabilities, *, folder: str = ""
    ) -> None:
        self.describe = describe
        self._send = send
        self._capabilities = capabilities
        self._folder = folder
        self._prefix = f"call-{os.urandom(6).hex()}"
        self._numbers = count(1)
        self._open: dict[tuple[str, int], OpenCall] = {}

    def new_id(self) -> str:
        """An id that no other tool call has."""
        return f"{self._prefix}-{next(self._numbers)}"

    def find(self, agent: str, index: int | None) -> OpenCall | None:
        """The call of an agent at a position in its batch, if it has begun and not ended."""
        return None if index is None else self._open.get((agent, index))

    def find_started(self, agent: str, call_id: str) -> OpenCall | None:
        """The call of an agent with this id of the model."""
        found = (each for (caller, _index), each in self._open.items() if caller == agent and each.call.id == call_id)
        return next(found, None)

    def handle_event(self, event: Event, *, agent: str = "", parent: str = "") -> None:
        """Send what has changed. `agent` is the sub-agent that made the call, `parent` the tool call that runs it."""
        match event:
            case StateChanged(_, _, state) if state in _FINAL_STATES:
                pass  # the end follows
            case StateChanged(index, call, state):
                self._update_state((agent, index), call, _STATUSES.get(state, "pending"), parent)
            case OutputUpdated(index, call, output):
                self._begin((agent, index), call, parent).output.put(output)
            case CallFinished(index, call):
                self._finish((agent, index), self._begin((agent, index), call, parent), event)

    def describe_open(self, call: OpenCall, agent: str) -> dict[str, JsonValue]:
        """The title, kind, locations and input of a call of an agent."""
        return _described(call, self.title_of(call.call, call.details, agent))

    def terminal_content(self, call: OpenCall) -> list[JsonValue]:
        """The terminal of a call as its content, empty if it has none."""
        return [_terminal_content(call.terminal_id)] if call.terminal_id else []

    def show_text(self, call: OpenCall, text: str) -> None:
        """Replace the content of a call by a text, at the rate of live output."""
        call.output.put(text)

    def show_terminal(self, call: OpenCall, terminal_id: str) -> None:
        """Show a terminal of the client as the content of a call, instead of its output."""
        call.output.close()
        call.terminal_id, call.terminal_data = terminal_id, None
        self._send_update(call, {"content": self.terminal_content(call)})

    def close_all(self, agent: str | None = None) -> None:
        """End the calls of an agent, or of all, that got no end of their own."""
        for key in [key for key in self._open if agent is None or key[0] == agent]:
            call = self._open.pop(key)
            call.output.close()
            self._send_update(call, {"status": "failed", "content": [text_content(_("Cancelled."))]})

    def title_of(self, call: FunctionCall, details: CallDetails, agent: str = "") -> str:
        """The title of a call in one sanitized line. That of a command is the command; the agent stands before it."""
        title = _call_title(call, details, self._folder)
        return f"{summarize_line(agent)}: {title}" if agent else title

    def _update_state(self, key: tuple[str, int], call: FunctionCall, status: str, parent: str) -> None:
        known = self._open.get(key)
        if known is None:
            self._begin(key, call, parent, status)
            return
        changes: dict[str, JsonValue] = {}
        if call.args is not known.call.args:  # a hook has rewritten it
            known.call, known.details = call, self.describe(call)
            changes = self.describe_open(known, key[0])
        if status != known.status:
            known.status = status
            changes["status"] = status
        if changes:
            self._send_update(known, changes)

    def _begin(self, key: tuple[str, int], call: FunctionCall, parent: str, status: str = "pending") -> OpenCall:
        """The call at this place. It is announced if it is new."""
        if (known := self._open.get(key)) is not None:
            return known
        details, agent = self.describe(call), key[0]
        begun = self._open[key] = OpenCall(self.new_id(), call, details, lambda text: self._send_output(begun, text))
        begun.status = status
        own: dict[str, JsonValue] = {"toolName": sanitize_text(call.name)}
        if agent:
            own |= {"agent": agent, "parentToolCallId": parent}
        meta: dict[str, JsonValue] = {"tejat": own}
        update = {"sessionUpdate": "tool_call", "toolCallId": begun.call_id, "status": status}
        described = self.describe_open(begun, agent)
        if self._capabilities.shows_terminal_output and _is_streamed_command(begun):
            begun.terminal_id, begun.terminal_data = begun.call_id, TerminalData()
            meta["terminal_info"] = {"terminal_id": begun.terminal_id, **self._directory_of(call)}
            described["content"] = self.terminal_content(begun)
        self._send({**update, **described, "_meta": meta})
        return begun

    def _directory_of(self, call: FunctionCall) -> JsonObject:
        directory = call.args.get("directory") or call.args.get("dir_path") or ""
        path = os.path.normpath(os.path.join(self._folder, directory)) if isinstance(directory, str) else self._folder
        return {"cwd": path} if os.path.isabs(path) else {}

    def _send_output(self, call: OpenCall, output: str) -> None:
        if call.terminal_data is not None:
            self._send_terminal_data(call, call.terminal_data.advance(output))
        elif not call.terminal_id:
            is_text = call.details.kind is Kind.AGENT
            content = text_content(output) if is_text else code_content(keep_tail(output))
            self._send_update(call, {"content": [content]})

    def _send_terminal_data(self, call: OpenCall, data: str) -> None:
        if data:
            output: JsonObject = {"terminal_id": call.terminal_id, "data": data}
            self._send_update(call, {"_meta": {"terminal_output": output}})

    def _finish(self, key: tuple[str, int], call: OpenCall, event: CallFinished) -> None:
        del self._open[key]
        if call.terminal_data is None:
            call.output.close()
        else:
            call.output.flush()
        has_output = call.terminal_data is not None and bool(call.terminal_data.shown)
        display = event.result.return_display
        if call.terminal_data is not None and not has_output and event.seconds and isinstance(display, str):
            has_output = call_status(event) in (CallStatus.OK, CallStatus.FAILED)
            self._send_terminal_data(call, keep_tail(sanitize_text(display)) if has_output else "")
        has_terminal = bool(call.terminal_id) and (has_output or call.terminal_data is None)
        end = finished_call(
            event,
            folder=self._folder,
            is_markdown=call.details.is_output_markdown,
            has_terminal=has_terminal,
            agent=call.agent,
        )
        content = [*(self.terminal_content(call) if has_terminal else ()), *end.content]
        changes: dict[str, JsonValue] = {"status": end.status, "content": content, "rawOutput": end.raw_output}
        if call.terminal_data is not None:
            changes["_meta"] = {"terminal_exit": _terminal_exit(call, event)}
        self._send_update(call, changes)

    def _send_update(self, call: OpenCall, changes: Mapping[str, JsonValue]) -> None:
        self._send({"sessionUpdate": "tool_call_update", "toolCallId": call.call_id, **changes})


TOOL_KINDS = {
    Kind.READ: "read",
    Kind.EDIT: "edit",
    Kind.DELETE: "delete",
    Kind.MOVE: "move",
    Kind.SEARCH: "search",
    Kind.EXECUTE: "execute",
    Kind.THINK: "think",
    Kind.AGENT: "think",
    Kind.FETCH: "fetch",
    Kind.COMMUNICATE: "other",
    Kind.PLAN: "switch_mode",
    Kind.SWITCH_MODE: "switch_mode",
    Kind.OTHER: "other",
}
"""The kinds of the protocol."""


def _described(call: OpenCall, title: str) -> dict[str, JsonValue]:
    return {
        "title": title,
        "kind": TOOL_KINDS[call.details.kind],
        "locations": call_locations(call.details),
        "rawInput": raw_value(call.call.args),
    }


def call_locations(details: CallDetails) -> list[JsonValue]:
    """The files of a call, with line numbers from 1."""
    return [
        {"path": each.path, **({} if each.line is None else {"line": max(each.line, 1)})}
        for each in details.locations
        if os.path.isabs(each.path)
    ]


def _call_title(call: FunctionCall, details: CallDetails, folder: str) -> str:
    title = call_title(call, TitleForm.PLANNED, folder=folder)
    if "command" in call.args and title.object and has_wording(call):
        return str(replace(title, verb="", tail=""))
    if has_wording(call) or _SERVER_SEPARATOR in call.name or not details.title:
        return str(title)
    return summarize_line(details.title if details.kind is Kind.EXECUTE else f"{tool_label(call)}: {details.title}")


def _is_streamed_command(call: OpenCall) -> bool:
    args = call.call.args
    is_command = call.details.kind is Kind.EXECUTE and isinstance(args.get("command"), str)
    return is_command and args.get("is_background") is not True


def _terminal_content(terminal_id: str) -> JsonObject:
    return {"type": "terminal", "terminalId": terminal_id}


def _terminal_exit(call: OpenCall, event: CallFinished) -> JsonObject:
    code = event.result.exit_code
    if code is not None and code < 0:
        return {"terminal_id": call.terminal_id, "exit_code": None, "signal": signal_label(-code)}
    return {"terminal_id": call.terminal_id, "exit_code": code, "signal": None}
