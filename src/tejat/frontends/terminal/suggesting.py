"""What a text could go on as: commands after a slash, files after an `@`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from enum import Enum, auto
from typing import TypeAlias

from tejat.core.commands import Commands, Suggestion
from tejat.core.mentions import mention_of, unfinished_mention
from tejat.core.value import value
from tejat.frontends.desk import FileNames

Suggest: TypeAlias = Callable[[str, int], AsyncIterator[Sequence[Suggestion]]]
"""For a text and a caret: what could stand before the caret, the best first. Every list takes the place of the last."""

_AGAIN_SECONDS = 0.15
"""How long a list of files stands while the folders are still being read."""


class _Kind(Enum):
    COMMAND = auto()
    FILE = auto()


@value
class Place:
    """Where something can be completed: what it is and where it begins."""

    kind: _Kind
    start: int


def place_of(text: str, caret: int) -> Place | None:
    """What is being typed at the caret, None where it is nothing that is completed."""
    before = text[:caret]
    mention = unfinished_mention(before)
    if before.startswith("/"):
        # A command may take files too.
        return Place(_Kind.COMMAND, 0) if mention is None or "\n" in before else Place(_Kind.FILE, mention.start)
    return None if mention is None else Place(_Kind.FILE, mention.start)


class Suggester:
    """Asks the commands and the files of a desk. An instance is a `Suggest`."""

    def __init__(self, commands: Commands, files: FileNames) -> None:
        self._commands = commands
        self._files = files

    async def __call__(self, text: str, caret: int) -> AsyncIterator[Sequence[Suggestion]]:
        place = place_of(text, caret)
        if place is None:
            yield ()
        elif place.kind is _Kind.COMMAND:
            yield await self._commands.suggestions(text[:caret])
        else:
            while True:
                is_all = self._files.is_complete
                yield await self._find_files(text, caret)
                if is_all:
                    return
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _find_files(self, text: str, caret: int) -> Sequence[Suggestion]:
        mention = unfinished_mention(text[:caret])
        if mention is None:
            return ()
        after = "" if text[caret : caret + 1].isspace() else " "
        return [
            Suggestion(
                mention_of(path, is_quoted=mention.is_quoted) + ("" if path.endswith("/") else after),
                replaces=caret - mention.start,
                label=path,
            )
            for path in await self._files.find(mention.name)
        ]
