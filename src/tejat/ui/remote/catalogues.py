"""The commands and files of a session of another process."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, cast, get_args

from tejat.core.messages.types import JsonObject
from tejat.core.ui.commands import CommandAction, CommandSummary, CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.jsonrpc.peer import JsonRpcPeer, PeerError
from tejat.ui.remote import methods
from tejat.ui.remote.params import read_items, read_param

RunFor: TypeAlias = Callable[[str, JsonObject, UserPrompter], Awaitable[JsonObject]]


class RemoteCommands:
    """Implements `SlashCommands`. `run_for` sends a request whose questions go to a user."""

    def __init__(self, peer: JsonRpcPeer, run_for: RunFor) -> None:
        self._peer = peer
        self._run_for = run_for
        self._summaries: tuple[CommandSummary, ...] = ()

    def update(self, state: JsonObject) -> None:
        """Take the commands from a message about the state. Raises RequestError."""
        self._summaries = read_items(state, "commands", CommandSummary)

    def summaries(self) -> Sequence[CommandSummary]:
        """All commands by name."""
        return self._summaries

    async def suggestions(self, line: str) -> Sequence[CompletionItem]:
        """Completions of a line that begins with a slash; none if the session is gone."""
        try:
            return read_items(await self._peer.request(methods.COMPLETE, {"line": line}), "items", CompletionItem)
        except PeerError:
            return ()

    async def run(self, line: str, user: UserPrompter) -> CommandAction:
        """Run the command in the line. Raises UsageError if the session is gone."""
        ran = await self._run_for(methods.COMMAND, {"line": line}, user)
        return cast("CommandAction", read_param(ran, "action", get_args(CommandAction)))


class RemoteFiles:
    """Implements `FileFinder`."""

    def __init__(self, peer: JsonRpcPeer) -> None:
        self._peer = peer
        self.is_complete = False

    async def find(self, typed: str, *, limit: int = 50) -> Sequence[str]:
        """Return matching paths, best first; none if the session is gone."""
        try:
            found = await self._peer.request(methods.FILES, {"typed": typed, "limit": limit})
        except PeerError:
            return ()
        self.is_complete = found.get("is_complete") is True
        return read_items(found, "paths", str)
