"""What can be typed after a slash, and what may come of it."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from tejat.core.agent_events import Tell
from tejat.core.person import Person
from tejat.core.types import Part
from tejat.core.value import value


@value
class CommandSummary:
    """A command as `/help` and the completion show it. `source` is empty for our own, else where it comes from."""

    name: str
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""


@value
class Suggestion:
    """What a line could go on as: `text` takes the place of its last `replaces` characters."""

    text: str
    replaces: int
    label: str = ""
    detail: str = ""


@value
class Done:
    """All was said."""


@value
class Submit:
    """Now the model is asked; `shown` is what the person reads as their own prompt."""

    prompt: str | Sequence[Part]
    shown: str


@value
class Refill:
    """This text goes back into the editor."""

    text: str


@value
class ClearScreen:
    """What is on the screen belongs to something that is over."""


@value
class Leave:
    """The person wants to go."""


Effect: TypeAlias = Done | Submit | Refill | ClearScreen | Leave


class Commands(Protocol):
    def summaries(self) -> Sequence[CommandSummary]:
        """All of them by name: our own, custom ones, prompts of MCP servers that are known by now."""
        ...

    async def suggestions(self, line: str) -> Sequence[Suggestion]:
        """What a line that begins with a slash could go on as: names, subcommands, arguments."""
        ...

    async def run(self, line: str, person: Person, tell: Tell) -> Effect:
        """Do what the line says. Whatever goes wrong is shown to the person; a cancellation passes through."""
        ...
