"""What every slash command has: what it does, and how what was typed could go on.

How it is called and what it is for stands in `catalogue`, so that no command is loaded to show its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from tejat.app.commands.command_context import CommandContext
from tejat.core.agent.events import EventSink
from tejat.core.ui.commands import CommandAction, CompletionItem
from tejat.core.ui.prompter import UserPrompter


class SlashCommand(ABC):
    """One command at a desk. It is made when it is first called for, and looks at the parts each time it runs."""

    def __init__(self, context: CommandContext) -> None:
        self.context = context

    @abstractmethod
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        """Do what the words after the name say, which have no blanks around them.

        Raises TejatError and OSError, which are shown to the person in a sentence.
        """

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        """What the words after the name could go on as, before anything of them is taken away."""
        del typed
        return ()


def complete_from(typed: str, options: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    """Those of the words, each with a detail, that begin with what was typed."""
    return [
        CompletionItem(word, len(typed), label=word, detail=detail)
        for word, detail in options
        if word.casefold().startswith(typed.casefold())
    ]
