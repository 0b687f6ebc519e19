"""Completion of slash commands and `@` mentions of files and sub-agents."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.text.mentions import find_partial_mention, format_mention
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.commands import AgentSummary, CompletionItem, SlashCommands
from tejat.ui.contract import FileFinder

CompleteFunction: TypeAlias = Callable[[str, int], AsyncIterator[Sequence[CompletionItem]]]
"""Yields completions for a text and a caret, best first. Each list replaces the previous one."""

_AGENT_PREFIX = "agent:"
_REFRESH_SECONDS = 0.15
"""Interval between file lists while the index is still being built or searched."""


class _TargetKind(StrEnum):
    COMMAND = "command"
    FILE = "file"


class CompletionTarget(Frozen):
    """Kind and start of the text to complete."""

    kind: _TargetKind
    start: int


def completion_target(text: str, caret: int) -> CompletionTarget | None:
    """Return what is being completed at the caret, None if nothing is."""
    before = text[:caret]
    mention = find_partial_mention(before)
    if before.startswith("/") and (mention is None or "\n" in before):  # commands may take files too
        return CompletionTarget(_TargetKind.COMMAND, 0)
    return None if mention is None else CompletionTarget(_TargetKind.FILE, mention.start)


class Completer:
    """Completes from the commands, files and sub-agents of a session. Instances are a `CompleteFunction`."""

    def __init__(
        self, commands: SlashCommands, files: FileFinder, agents: Callable[[], Sequence[AgentSummary]] = tuple
    ) -> None:
        self._commands = commands
        self._files = files
        self._agents = agents

    async def __call__(self, text: str, caret: int) -> AsyncIterator[Sequence[CompletionItem]]:
        place = completion_target(text, caret)
        if place is None:
            yield ()
        elif place.kind is _TargetKind.COMMAND:
            yield await self._commands.suggestions(text[:caret])
        else:
            while True:
                is_all = self._files.is_complete
                yield await self._find_mentions(text, caret)
                if is_all and self._files.is_complete:
                    return
                await asyncio.sleep(_REFRESH_SECONDS)

    async def _find_mentions(self, text: str, caret: int) -> Sequence[CompletionItem]:
        mention = find_partial_mention(text[:caret])
        if mention is None:
            return ()
        after = "" if text[caret : caret + 1].isspace() else " "
        length = caret - mention.start
        paths = await self._files.find(mention.name)
        files = [
            CompletionItem(
                format_mention(path, is_quoted=mention.is_quoted) + ("" if path.endswith("/") else after),
                replace_length=length,
                label=path,
            )
            for path in paths
        ]
        return files if mention.is_quoted else [*files, *self._find_agents(mention.name, paths, length, after)]

    def _find_agents(self, typed: str, paths: Sequence[str], length: int, after: str) -> list[CompletionItem]:
        """Agents whose names begin as typed. One that a file is named like gets its prefix."""
        wanted = typed.removeprefix(_AGENT_PREFIX)
        needs_prefix = wanted != typed
        return [
            CompletionItem(
                f"@{_AGENT_PREFIX if needs_prefix or agent.name in paths else ''}{agent.name}{after}",
                replace_length=length,
                label=f"@{agent.name}",
                detail=agent.description,
            )
            for agent in self._agents()
            if agent.name.startswith(wanted)
        ]
