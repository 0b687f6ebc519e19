"""`/clear`: start a new conversation on a clear screen."""

from tejat.app.commands.base import SlashCommand
from tejat.app.session.session_switch import start_new_session
from tejat.core.agent.events import EventSink
from tejat.core.ui.commands import ClearScreenAction, CommandAction
from tejat.core.ui.prompter import UserPrompter


class ClearCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del arguments, user, emit
        await start_new_session(self.context.manager)
        return ClearScreenAction()
