"""`/compress`: summarise the conversation to make room."""

from tejat.app.commands.base import SlashCommand
from tejat.core.ui.prompter import UserPrompter


class CompressCommand(SlashCommand):
    """Shows nothing itself: every front end gets the outcome as an event."""

    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments, user
        self.context.require_idle()
        await self.context.session.compress()
