"""`/clear`: start a new conversation on a clear screen."""

from tejat.app.commands.base import SlashCommand
from tejat.app.session.session_switch import start_new_session
from tejat.core.ui.commands import ClearScreenAction, CommandAction
from tejat.core.ui.prompter import UserPrompter


class ClearCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        del arguments, user
        await start_new_session(self.context.manager)
        return ClearScreenAction()
