"""`/copy`: the last answer of the model goes to the clipboard."""

from tejat.app.commands.command import Command
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect
from tejat.core.history import Role
from tejat.core.person import Person
from tejat.core.sheet import Tone, told
from tejat.core.words import say


class Copy(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, tell
        text = self._last_answer()
        if not text:
            person.show(told(say("The model has not said anything yet that could be copied."), Tone.WARNING))
            return Done()
        how = await person.copy(text)
        person.show(told(say("Copied the last answer: {how}", how=how), Tone.GOOD))
        return Done()

    def _last_answer(self) -> str:
        """What the person read last as an answer; how the conversation opens is none."""
        conversation = self.parts.session.conversation
        messages = conversation.history.messages[conversation.premises.opening :]
        said = (message.text.strip() for message in reversed(messages) if message.role is Role.MODEL)
        return next(filter(None, said), "")
