"""Messages between a client of the Agent Client Protocol and an agent, checked against the protocol."""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema_rs
from acp import schema
from acp.connection import StreamDirection, StreamEvent
from pydantic import TypeAdapter, ValidationError

from support.mcp.node_programs import PACKAGES

Json = dict[str, Any]

PROTOCOL_SCHEMA = PACKAGES / "@agentclientprotocol" / "sdk" / "schema" / "schema.json"
"""The JSON schema of the protocol, in the package that acpx depends on."""

_ERROR = TypeAdapter(schema.Error)


@dataclass
class MessageLog:
    """The messages of a connection in both directions, in their order."""

    sent: list[Json] = field(default_factory=list[Json])
    received: list[Json] = field(default_factory=list[Json])
    problems: list[str] = field(default_factory=list[str])
    _methods: dict[tuple[bool, str], str] = field(default_factory=dict[tuple[bool, str], str])

    def observe(self, event: StreamEvent) -> None:
        """Record a message of the connection of the official package, and check it."""
        self.add(event.message, is_sent=event.direction is StreamDirection.OUTGOING)

    def add(self, message: Json, *, is_sent: bool) -> None:
        (self.sent if is_sent else self.received).append(message)
        self.problems += [f"{problem}: {message}" for problem in self._check(message, is_sent=is_sent)]

    def requests(self, method: str) -> list[Json]:
        """The parameters of what the agent sent with this method."""
        return [message["params"] for message in self.received if message.get("method") == method]

    def updates(self, kind: str | None = None) -> list[Json]:
        """The updates of all sessions, or those of one kind."""
        found = [params["update"] for params in self.requests("session/update")]
        return [update for update in found if kind in (None, update["sessionUpdate"])]

    def _check(self, message: Json, *, is_sent: bool) -> list[str]:
        if message.get("jsonrpc") != "2.0":
            return ["not JSON-RPC 2.0"]
        method = message.get("method")
        if method is not None:
            if "id" in message:
                self._methods[is_sent, json.dumps(message["id"])] = method
            return check_value(f"{method} {'request' if 'id' in message else 'notification'}", message.get("params"))
        answered = self._methods.get((not is_sent, json.dumps(message.get("id"))))
        if answered is None:
            return [] if message.get("id") is None else ["an answer to no request"]
        if "error" in message:
            _ERROR.validate_python(message["error"], strict=True)
            return []
        return check_value(f"{answered} response", message.get("result"))


def check_value(name: str, value: Any) -> list[str]:
    """Problems of the parameters or the result of a message, by its name such as `session/new request`."""
    definition = _DEFINITIONS.get(name)
    if definition is None:
        return [f"the protocol has no {name}"]
    return [*_check_schema(definition, value), *_check_model(definition, value)]


def _check_schema(definition: str, value: Any) -> list[str]:
    """The JSON schema is there only where the packages for Node are."""
    return [str(error) for error in _validator(definition).iter_errors(value)] if PROTOCOL_SCHEMA.is_file() else []


def _check_model(definition: str, value: Any) -> list[str]:
    model = TypeAdapter[Any](_MODELS.get(definition) or getattr(schema, definition))
    try:
        parsed = model.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        return [str(error)]
    again = json.loads(model.dump_json(parsed, by_alias=True, exclude_unset=True))
    # Nothing may be in it that the protocol does not name.
    return [] if again == value else [f"{definition} has fields that the protocol does not have, without them: {again}"]


@cache
def _validator(definition: str) -> jsonschema_rs.Draft202012Validator:
    known = json.loads(PROTOCOL_SCHEMA.read_text(encoding="utf-8"))
    return jsonschema_rs.Draft202012Validator({"$defs": known["$defs"], "$ref": f"#/$defs/{definition}"})


_REQUESTS = {
    "initialize": "Initialize",
    "authenticate": "Authenticate",
    "session/new": "NewSession",
    "session/load": "LoadSession",
    "session/resume": "ResumeSession",
    "session/list": "ListSessions",
    "session/delete": "DeleteSession",
    "session/close": "CloseSession",
    "session/prompt": "Prompt",
    "session/set_mode": "SetSessionMode",
    "session/set_config_option": "SetSessionConfigOption",
    "session/request_permission": "RequestPermission",
    "fs/read_text_file": "ReadTextFile",
    "fs/write_text_file": "WriteTextFile",
    "terminal/create": "CreateTerminal",
    "terminal/output": "TerminalOutput",
    "terminal/release": "ReleaseTerminal",
    "terminal/wait_for_exit": "WaitForTerminalExit",
    "terminal/kill": "KillTerminal",
    "elicitation/create": "CreateElicitation",
}
_DEFINITIONS = {
    **{f"{method} request": f"{stem}Request" for method, stem in _REQUESTS.items()},
    **{f"{method} response": f"{stem}Response" for method, stem in _REQUESTS.items()},
    "session/update notification": "SessionNotification",
    "session/cancel notification": "CancelNotification",
    "elicitation/complete notification": "CompleteElicitationNotification",
    "$/cancel_request notification": "CancelRequestNotification",
}
"""The definitions of the schema by method and part."""
_MODELS: dict[str, Any] = {
    "SetSessionConfigOptionRequest": schema.SetSessionConfigOptionBooleanRequest
    | schema.SetSessionConfigOptionSelectRequest
}
"""Definitions that have other names in the official package."""
