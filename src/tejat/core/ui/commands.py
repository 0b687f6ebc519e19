"""The slash command contract."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from tejat.core.frozen import frozen
from tejat.core.messages.types import Part
from tejat.core.ui.prompter import UserPrompter


@frozen
class CommandSummary:
    """A command as `/help` and completion show it.

    Built-in commands have a `group`, the heading they are listed under; all others have a `source`. `details` are
    shown by `/help COMMAND` only.
    """

    name: str
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""
    group: str = ""
    details: str = ""


@frozen
class CompletionItem:
    """A completion: `text` replaces the last `replace_length` characters of the line."""

    text: str
    replace_length: int
    label: str = ""
    detail: str = ""


@frozen
class AgentSummary:
    """A sub-agent as completion shows it."""

    name: str
    description: str


@frozen
class NoAction:
    """Nothing more to do."""


@frozen
class SubmitPromptAction:
    """Send a prompt to the model. `display_text` is shown as the prompt of the user."""

    prompt: str | Sequence[Part]
    display_text: str


@frozen
class SetInputAction:
    """Put text into the editor."""

    text: str


@frozen
class ClearScreenAction:
    """Clear the screen, whose content belongs to a session that has ended."""


@frozen
class QuitAction:
    """Quit the program."""


CommandAction: TypeAlias = NoAction | SubmitPromptAction | SetInputAction | ClearScreenAction | QuitAction


class SlashCommands(Protocol):
    def summaries(self) -> Sequence[CommandSummary]:
        """All commands by name: built-in and custom ones, and prompts of connected MCP servers."""
        ...

    async def suggestions(self, line: str) -> Sequence[CompletionItem]:
        """Completions of a line that begins with a slash: names, subcommands, arguments."""
        ...

    async def run(self, line: str, user: UserPrompter) -> CommandAction:
        """Run the command in the line. Errors are shown to the user; cancellation passes through."""
        ...
