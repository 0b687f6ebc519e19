"""Updates that a client of the Agent Client Protocol gets for events, each checked against the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from support.acp_schema import check_update
from tejat.core.agent.events import AgentEvent
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.tools.base import ToolLocation
from tejat.core.tools.call_details import CallDetails
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.updates.session_updates import SessionUpdates

Json = dict[str, Any]

_KINDS = {
    "read_file": Kind.READ,
    "replace": Kind.EDIT,
    "run_shell_command": Kind.EXECUTE,
    "invoke_agent": Kind.AGENT,
    "write_todos": Kind.OTHER,
}


def describe(call: FunctionCall) -> CallDetails:
    """Details of a call, without a registry."""
    path = call.args.get("file_path") or call.args.get("path")
    locations = (ToolLocation(f"/w/{path}", 3),) if isinstance(path, str) else ()
    kind = _KINDS.get(call.name, Kind.OTHER)
    return CallDetails(kind, f"about {call.name}", locations, is_output_markdown=kind is not Kind.EXECUTE)


@dataclass
class RecordingClient:
    """A client that keeps the updates it gets."""

    capabilities: ClientCapabilities = field(default_factory=ClientCapabilities)
    is_replay: bool = False
    sent: list[Json] = field(default_factory=list[Json])

    def __post_init__(self) -> None:
        self.updates = SessionUpdates(self.take, describe, self.capabilities, folder="/w", is_replay=self.is_replay)

    def take(self, update: JsonObject) -> None:
        self.sent.append(cast("Json", check_update(update)))

    def handle(self, *events: AgentEvent) -> list[Json]:
        """Handle events and return the updates for them."""
        before = len(self.sent)
        for event in events:
            self.updates.handle_event(event)
        return self.sent[before:]

    def text_of(self, kind: str) -> str:
        """All chunks of a kind, joined."""
        return "".join(each["content"]["text"] for each in self.sent if each["sessionUpdate"] == kind)


def texts(content: Sequence[Json]) -> list[str]:
    """The texts in the content of a tool call."""
    return [each["content"]["text"] for each in content if each.get("content", {}).get("type") == "text"]
