"""The slash command contract."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.messages.types import Part
from tejat.core.ui.prompter import UserPrompter


class CommandSummary(Frozen):
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


class CompletionItem(Frozen):
    """A completion: `text` replaces the last `replace_length` characters of the line."""

    text: str
    replace_length: int
    label: str = ""
    detail: str = ""


class AgentSummary(Frozen):
    """A sub-agent as completion shows it."""

    name: str
    description: str


class NoAction(Frozen):
    """Nothing more to do."""


class SubmitPromptAction(Frozen):
    """Send a prompt to the model. `display_text` is shown as the prompt of the user."""

    prompt: str | Sequence[Part]
    display_text: str


class SetInputAction(Frozen):
    """Put text into the editor."""

    text: str


class ClearScreenAction(Frozen):
    """Clear the screen, whose content belongs to a session that has ended."""


class QuitAction(Frozen):
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
