"""`/init`: an empty GEMINI.md, which the model is then asked to fill."""

import os

from tejat.app.commands.command import Command
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Submit
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Tone, Words, told
from tejat.core.words import say
from tejat.engine.words import words_about

_NAME = "GEMINI.md"


class Init(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, tell
        path = os.path.join(self.parts.ground.roots[0], _NAME)
        try:
            # What is there already, a link that leads nowhere too, is never written to.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
        except FileExistsError:
            text = say("A {name} file already exists in this directory. No changes were made.", name=_NAME)
            person.show(told(text, Tone.WARNING))
            return Done()
        words = [Words(say("Empty {name} created. Now the model is asked to fill it.", name=_NAME), Tone.GOOD)]
        if not self.parts.ground.trust.is_trusted:
            note = say("This folder is not trusted, so what is written there is not read at the start of a session.")
            words.append(Words(note, Tone.WARNING))
        person.show(Sheet(blocks=tuple(words)))
        return Submit(words_about("init"), "/init")
