"""What can be typed after a slash, and what may come of it."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from tejat.core.agent.events import EventSink
from tejat.core.frozen import frozen
from tejat.core.messages.types import Part
from tejat.core.ui.prompter import UserPrompter


@frozen
class CommandSummary:
    """A command as `/help` and the completion show it. `source` is empty for our own, else where it comes from."""

    name: str
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""


@frozen
class CompletionItem:
    """What a line could go on as: `text` takes the place of its last `replaces` characters."""

    text: str
    replace_length: int
    label: str = ""
    detail: str = ""


@frozen
class NoAction:
    """All was said."""


@frozen
class SubmitPromptAction:
    """Now the model is asked; `shown` is what the person reads as their own prompt."""

    prompt: str | Sequence[Part]
    display_text: str


@frozen
class SetInputAction:
    """This text goes back into the editor."""

    text: str


@frozen
class ClearScreenAction:
    """What is on the screen belongs to something that is over."""


@frozen
class QuitAction:
    """The person wants to go."""


CommandAction: TypeAlias = NoAction | SubmitPromptAction | SetInputAction | ClearScreenAction | QuitAction


class SlashCommands(Protocol):
    def summaries(self) -> Sequence[CommandSummary]:
        """All of them by name: our own, custom ones, prompts of MCP servers that are known by now."""
        ...

    async def suggestions(self, line: str) -> Sequence[CompletionItem]:
        """What a line that begins with a slash could go on as: names, subcommands, arguments."""
        ...

    async def run(self, line: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        """Do what the line says. Whatever goes wrong is shown to the person; a cancellation passes through."""
        ...
