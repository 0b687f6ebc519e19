"""`/chat`: conversations that are kept under a name, taken up again, and written down for others."""

import os
import time
from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.exchanging import last_words, take_over
from tejat.app.sharing import conversation_text, exists, place_of, write_for_the_person
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Sheet, Table, Tone, told
from tejat.core.words import say
from tejat.engine.checkpoints import Checkpoints
from tejat.engine.secret_mask import SecretMask

_USAGE = "/chat <list|save|resume> [tag]"
_LOADING = ("resume", "restore", "load")


class Chat(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        word, _, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case "", _:
                raise UsageError(say("Missing command\nUsage: {usage}", usage=_USAGE))
            case "list", "":
                person.show(self._listed())
            case ("save" | "delete" | "resume" | "restore" | "load") as wanted, "":
                raise UsageError(say("Missing tag. Usage: /chat {word} <tag>", word=wanted))
            case "save", tag:
                await self._save(tag, person)
            case "delete", tag:
                person.show(self._deleted(tag))
            case "share", path:
                await self._share(path, person)
            case wanted, tag if wanted in _LOADING:
                await self._resume(tag, person)
            case _:
                raise UsageError(say("Unknown /chat command: {word}. Available: {known}", word=word, known=_KNOWN))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            return fitting(
                word,
                [
                    ("save", say("keep this conversation under a name")),
                    ("resume", say("go on with one that was kept")),
                    ("list", say("those that were kept")),
                    ("delete", say("forget one that was kept")),
                    ("share", say("write this conversation to a file")),
                ],
            )
        if word.lower() not in (*_LOADING, "save", "delete"):
            return ()
        return fitting(rest, [(each.tag, _when(each.changed)) for each in reversed(self._checkpoints.found())])

    @property
    def _checkpoints(self) -> Checkpoints:
        ground = self.parts.ground
        return Checkpoints(ground.places.state, ground.roots[0], secrets=ground.secrets)

    def _has_begun(self) -> bool:
        conversation = self.parts.session.conversation
        return len(conversation.history.messages) > conversation.premises.opening

    def _listed(self) -> Sheet:
        rows = tuple((each.tag, _when(each.changed)) for each in self._checkpoints.found())
        if not rows:
            return told(say("No saved conversation checkpoints found."))
        return Sheet(say("List of saved conversations:"), (Table(rows),))

    async def _save(self, tag: str, person: Person) -> None:
        if not self._has_begun():
            person.show(told(say("No conversation found to save.")))
            return
        if self._checkpoints.has(tag) and not await _agrees(
            person, say("A checkpoint with the tag {tag} exists. Write over it?", tag=tag)
        ):
            person.show(told(say("Nothing was saved.")))
            return
        session = self.parts.session
        conversation = session.conversation
        self._checkpoints.save(
            tag,
            conversation.history.messages,
            opening=conversation.premises.opening,
            session_id=session.session_id,
            model=conversation.model.name,
        )
        person.show(told(say("Conversation checkpoint saved with tag: {tag}.", tag=tag), Tone.GOOD))

    async def _resume(self, tag: str, person: Person) -> None:
        loaded = self._checkpoints.load(tag)
        if loaded is None:
            raise UsageError(say("No saved checkpoint found with tag: {tag}.", tag=tag))
        await take_over(self.parts.succession, loaded)
        person.show(last_words(loaded.messages, opening=loaded.opening))

    def _deleted(self, tag: str) -> Sheet:
        if not self._checkpoints.delete(tag):
            raise UsageError(say("Error: No checkpoint found with tag '{tag}'.", tag=tag))
        return told(say("Conversation checkpoint '{tag}' has been deleted.", tag=tag), Tone.GOOD)

    async def _share(self, path: str, person: Person) -> None:
        """Raises OSError."""
        ground, conversation = self.parts.ground, self.parts.session.conversation
        name = path or time.strftime("conversation-%Y-%m-%d-%H%M%S.md")
        ending = os.path.splitext(name)[1].lower()
        if ending not in (".md", ".json"):
            raise UsageError(say("Invalid file format. Only .md and .json are supported."))
        if not self._has_begun():
            person.show(told(say("No conversation found to share.")))
            return
        full = place_of(name, directory=ground.roots[0], home=ground.places.home)
        if exists(full) and not await _agrees(person, say("{path} exists. Write over it?", path=full)):
            person.show(told(say("Nothing was written.")))
            return
        messages = conversation.history.messages[conversation.premises.opening :]
        text = SecretMask(ground.named_secrets).text(conversation_text(messages, as_json=ending == ".json"))
        write_for_the_person(full, text)
        person.show(told(say("Conversation shared to {path}", path=full), Tone.GOOD))


_KNOWN = "list, save, resume, delete, share"


async def _agrees(person: Person, question: str) -> bool:
    taken = await person.choose(Choice(question, (Option(say("No")), Option(say("Yes"))), is_grave=True))
    return taken == 1


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
