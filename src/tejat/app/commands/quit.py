"""`/quit`: show the session statistics and leave."""

from tejat.app.commands.base import SlashCommand
from tejat.app.commands.stats import StatsCommand
from tejat.core.ui.commands import CommandAction, QuitAction
from tejat.core.ui.prompter import UserPrompter


class QuitCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        del arguments
        await StatsCommand(self.context).run("", user)
        return QuitAction()
