"""`/copy`: copy the model's last answer to the clipboard."""

from tejat.app.commands.base import SlashCommand
from tejat.core.i18n import _
from tejat.core.messages.history import Role
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Tone, text_report


class CopyCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments
        text = self._last_answer()
        if not text:
            user.show(text_report(_("No answer to copy yet."), Tone.WARNING))
            return
        how = await user.copy(text)
        user.show(text_report(_("Copied the last answer: {how}", how=how), Tone.GOOD))

    def _last_answer(self) -> str:
        """The last text of the model, not counting the opening messages."""
        conversation = self.context.conversation
        messages = conversation.history.messages[conversation.template.preamble_length :]
        answers = (message.text.strip() for message in reversed(messages) if message.role is Role.MODEL)
        return next(filter(None, answers), "")
