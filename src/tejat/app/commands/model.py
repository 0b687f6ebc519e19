"""`/model`: choose the model."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.app.model_source import DEFAULT_MODEL, open_named_model
from tejat.core.errors import TejatError, UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import text_report
from tejat.engine.loop.prices import known_models
from tejat.models.names import Provider, parse_model_name, with_provider

_PERSIST = "--persist"


class ModelCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        words = arguments.split()
        persists = _PERSIST in words
        names = [word for word in words if word != _PERSIST]
        if len(names) > 1 or (persists and not names):
            raise UsageError(_("Usage: {usage}", usage="/model [NAME [--persist]]"))
        name = names[0] if names else await self._choose(user)
        if name is None:
            return
        await self._change(name, user)
        if persists:
            user.show(write_setting(self.context, find_setting("model.name"), name))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        name, blank, rest = typed.partition(" ")
        if blank:
            return complete_from(rest, [(_PERSIST, _("also from the next start on"))])
        return complete_from(name, [(known, "") for known in await self._model_names()])

    async def _change(self, name: str, user: UserPrompter) -> None:
        """Raises UsageError and ModelFailure, and keeps the old model, if the other one cannot be opened."""
        manager, session = self.context.manager, self.context.session
        if manager.run_model.recorded_at is not None or manager.options.record is not None:
            raise UsageError(_("A run that is recorded or played again keeps its model."))
        self.context.require_idle()
        if name == session.conversation.model.name:
            user.show(text_report(_("{model} answers already.", model=name)))
            return
        other = open_named_model(name, manager.run_config)
        manager.update_search_tool(other)
        await session.conversation.change_model(other, _("You chose it."))

    async def _choose(self, user: UserPrompter) -> str | None:
        present, names = self.context.conversation.model.name, await self._model_names()
        options = [Option(name, _("answers now") if name == present else "") for name in names]
        options.append(Option(_("Another one"), _("you type its name")))
        index = await user.choose(Choice(_("Which model is to answer?"), tuple(options)))
        if index == len(names):
            typed = await user.enter(_("Name of the model"))
            return typed.strip() or None if typed else None
        return None if index is None else names[index]

    async def _model_names(self) -> list[str]:
        """The current model, those of the settings, and known models for which there is a key."""
        run_config = self.context.run_config
        set_names = (
            each.value for each in (run_config.settings.model_name, run_config.settings.fallback_model) if each
        )
        reachable: dict[Provider, bool] = {}
        known: list[str] = []
        for known_name in (DEFAULT_MODEL, *known_models()):
            name = with_provider(known_name, run_config.environment)
            service, _ = parse_model_name(name, run_config.environment)
            if service not in reachable:
                reachable[service] = await self._is_available(name)
            if reachable[service]:
                known.append(name)
        return list(dict.fromkeys((self.context.conversation.model.name, *set_names, *known)))

    async def _is_available(self, name: str) -> bool:
        try:
            model = open_named_model(name, self.context.run_config)
        except TejatError:
            return False
        await model.close()
        return True
