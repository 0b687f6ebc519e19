"""`/model`: which model answers, and another one from now on."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.commands.setting_values import find_row
from tejat.app.commands.settings import change
from tejat.app.played import DEFAULT_MODEL, named_model
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import TejatError, UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import told
from tejat.core.words import say
from tejat.engine.prices import known_models
from tejat.models.names import Service, read_name

_PERSIST = "--persist"


class Model(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        words = arguments.split()
        persists = _PERSIST in words
        names = [word for word in words if word != _PERSIST]
        if len(names) > 1 or (persists and not names):
            raise UsageError(say("Usage: {usage}", usage="/model [NAME [--persist]]"))
        name = names[0] if names else await self._chosen(person)
        if name is None:
            return Done()
        await self._change(name, person, tell)
        if persists:
            person.show(change(self.parts, find_row("model.name"), name))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        name, blank, rest = typed.partition(" ")
        if blank:
            return fitting(rest, [(_PERSIST, say("also from the next start on"))])
        return fitting(name, [(known, "") for known in await self._names()])

    async def _change(self, name: str, person: Person, tell: Tell) -> None:
        """Raises UsageError and ModelFailure, and the old model stays, where the other one cannot be had."""
        succession, session = self.parts.succession, self.parts.session
        if succession.played.recorded_at is not None or succession.options.record is not None:
            raise UsageError(say("A run that is recorded or played again keeps its model."))
        if session.is_busy:
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        if name == session.conversation.model.name:
            person.show(told(say("{model} answers already.", model=name)))
            return
        other = named_model(name, succession.ground)
        succession.fit_tools_to(other)
        await session.conversation.change_model(other, say("You chose it."), tell)

    async def _chosen(self, person: Person) -> str | None:
        present, names = self.parts.session.conversation.model.name, await self._names()
        options = [Option(name, say("answers now") if name == present else "") for name in names]
        options.append(Option(say("Another one"), say("you type its name")))
        taken = await person.choose(Choice(say("Which model is to answer?"), tuple(options)))
        if taken == len(names):
            typed = await person.enter(say("Name of the model"))
            return typed.strip() or None if typed else None
        return None if taken is None else names[taken]

    async def _names(self) -> list[str]:
        """The present one, those of the settings, and those that we know of and have a key for."""
        ground = self.parts.ground
        set_names = (each.value for each in (ground.settings.model_name, ground.settings.fallback_model) if each)
        reachable: dict[Service, bool] = {}
        known: list[str] = []
        for name in (DEFAULT_MODEL, *known_models()):
            service, _ = read_name(name, ground.environment)
            if service not in reachable:
                reachable[service] = await self._can_be_had(name)
            if reachable[service]:
                known.append(name)
        return list(dict.fromkeys((self.parts.session.conversation.model.name, *set_names, *known)))

    async def _can_be_had(self, name: str) -> bool:
        try:
            model = named_model(name, self.parts.ground)
        except TejatError:
            return False
        await model.close()
        return True
