"""Tools of the MCP servers of an extension, as far as a trial start found them."""

from collections.abc import Sequence

from tejat.app.extensions.description.summary import SummaryRow, SummarySection
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy, lazy_plural, translate
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum


class ProbeState(StrEnum):
    """What came of the trial start of a server."""

    LISTED = "listed"
    FAILED = "failed"
    NEEDS_NETWORK = "needs_network"
    NOT_STARTED = "not_started"
    """A setting of the extension has no value, or a setting of the user forbids it."""
    REMOTE = "remote"
    """It is on the network, and was not contacted."""


class ProbedTool(Frozen):
    """A tool by its name in a session, with its estimated tokens per request."""

    name: str
    tokens: int


class ProbedServer(Frozen):
    """A server after a trial start. `problems` say which of its tools cannot be used.

    If its tools are not listed, `reason` says why, and `quote` is a line of the server that goes with it.
    """

    alias: str
    state: ProbeState
    reason: str = ""
    quote: str = ""
    tools: tuple[ProbedTool, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(tool.tokens for tool in self.tools)

    def to_json(self) -> JsonObject:
        return {
            "server": self.alias,
            "state": self.state.value,
            "reason": translate(self.reason),
            "quote": self.quote,
            "tools": [{"name": tool.name, "tokens": tool.tokens} for tool in self.tools],
            "tokens": self.tokens,
            "problems": [translate(problem) for problem in self.problems],
        }


def tools_section(servers: Sequence[ProbedServer]) -> SummarySection:
    """What a trial start found, as a part of the summary of the extension."""
    return SummarySection("tools", lazy("Tools, from a trial start"), tuple(map(_row, servers)))


def _row(server: ProbedServer) -> SummaryRow:
    if server.state is not ProbeState.LISTED:
        reason = lazy("{state}: {reason}", state=_LABELS[server.state], reason=server.reason)
        return SummaryRow(
            lazy("MCP server {alias}", alias=server.alias), (reason, server.quote) if server.quote else (reason,)
        )
    what = lazy(
        "MCP server {alias}: {tools}, {tokens}",
        alias=server.alias,
        tools=lazy_plural("{count} tool", "{count} tools", len(server.tools)),
        tokens=lazy_plural("{count} token in every request", "{count} tokens in every request", server.tokens),
    )
    named = [f"{tool.name} ({tool.tokens:,})" for tool in server.tools]
    return SummaryRow(what, (*named, *server.problems))


_LABELS = {
    ProbeState.FAILED: lazy("failed"),
    ProbeState.NEEDS_NETWORK: lazy("needs the network"),
    ProbeState.NOT_STARTED: lazy("not started"),
    ProbeState.REMOTE: lazy("not contacted"),
}
