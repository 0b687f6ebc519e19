"""`/model`: choose the model."""

from collections.abc import Iterator, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.app.model_source import DEFAULT_MODEL, alias_notes, list_models, open_named_model, own_models
from tejat.app.onboarding.cost_limit import ask_about_unknown_price
from tejat.config.paths import SourceTier
from tejat.core.agent.listed_models import ListedModel, ServiceListing
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.model_figures import format_price, format_window
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.names import Provider, parse_model_name, with_provider

_PERSIST = "--persist"
_REPLACED_IDS = frozenset({"gemini-3-pro-preview"})
"""Aliases that are no short names but former models."""


class ModelCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        words = arguments.split()
        persists = _PERSIST in words
        names = [word for word in words if word != _PERSIST]
        if len(names) > 1 or (persists and not names):
            raise UsageError(_("Usage: {usage}", usage="/model [NAME [--persist]]"))
        name = names[0] if names else await self._choose(user)
        if name is None or not await self.change_model(name, user):
            return
        if persists:
            self._forget_address(name, user)
            user.show(write_setting(self.context, find_setting("model.name"), name))

    def _forget_address(self, name: str, user: UserPrompter) -> None:
        """Remove `model.baseUrl` if it is the address of another service: no key of this one must be sent there."""
        settings, environment = self.context.reload_settings(), self.context.run_config.environment
        if settings.base_url is None or settings.base_url.tier is not SourceTier.USER:
            return
        before = DEFAULT_MODEL if settings.model_name is None else settings.model_name.value
        if parse_model_name(before, environment)[0] is not parse_model_name(name, environment)[0]:
            self.context.user_settings.remove(find_setting("model.baseUrl").key)
            user.show(text_report(_("Removed model.baseUrl, the address of {model}.", model=before)))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        """Complete names of the catalogue: a service is not asked while the user types."""
        name, blank, rest = typed.partition(" ")
        if blank:
            return complete_from(rest, [(_PERSIST, _("also for later sessions"))])
        return complete_from(name, list(self.known_models().items()))

    def known_models(self) -> dict[str, str]:
        """The models that may be chosen, with details, without asking a service."""
        lister = list_models(self.context.run_config)
        known = [ServiceListing(each.value, lister.known_models(each)) for each in lister.providers()]
        return dict(self._named_models(known))

    async def change_model(self, name: str, user: UserPrompter) -> bool:
        """Change the model and return whether that was done.

        Raises UsageError and ModelFailure, and keeps the old model, if the other one cannot be opened.
        """
        manager, session = self.context.manager, self.context.session
        if manager.run_model.recorded_at is not None or manager.options.record is not None:
            raise UsageError(_("Cannot change the model while a run is recorded or replayed."))
        self.context.require_idle()
        if name == session.conversation.model.name:
            user.show(text_report(_("Already using {model}.", model=name)))
            return True
        other = open_named_model(name, manager.run_config)
        if not await ask_about_unknown_price(session.conversation.budget, other.name, user):
            await other.close()
            return False
        for note in alias_notes(name, manager.run_config):
            user.show(text_report(note, Tone.QUIET))
        manager.update_search_tool(other)
        await session.conversation.change_model(other, _("You chose it."))
        manager.follow_model(name)
        return True

    async def _choose(self, user: UserPrompter) -> str | None:
        listings = await list_models(self.context.run_config).list_all()
        for listing in listings:
            if listing.models or listing.service != Provider.OLLAMA.value:  # Ollama need not run
                for note in _problem_notes(listing):
                    user.show(text_report(note, Tone.QUIET))
        named = dict(self._named_models(listings))
        options = [Option(name, detail) for name, detail in named.items()]
        options.append(Option(_("Another model"), _("enter its name")))
        index = await user.choose(Choice(_("Choose a model"), tuple(options)))
        if index == len(named):
            typed = await user.enter(_("Model name"))
            return typed.strip() or None if typed else None
        return None if index is None else list(named)[index]

    def _named_models(self, listings: Sequence[ServiceListing]) -> Iterator[tuple[str, str]]:
        """Names and details: the current model, those of the settings, aliases, and what the services offer."""
        settings = self.context.run_config.settings
        present = self.context.conversation.model.name
        yield present, _("current")
        for name in (settings.model_name, settings.fallback_model):
            if name is not None and name.value != present:
                yield name.value, ""
        yield from own_models(self.context.run_config)
        hides_gemma = not settings.shows_gemma.value
        models = [model for listing in listings for model in listing.models if model.name != present]
        targets = {alias: model.id for model in models for alias in model.aliases}
        for alias in builtin_catalogue().aliases:
            if alias in targets and alias not in _REPLACED_IDS:
                yield (
                    with_provider(alias, self.context.run_config.environment),
                    _("alias of {model}", model=targets[alias]),
                )
        for model in models:
            if not (hides_gemma and model.id.startswith("gemma")):
                yield model.name, _details(model)


def _details(model: ListedModel) -> str:
    window, price = format_window(model.context_window), format_price(model.price)
    if price.startswith("$"):
        price = _("{price} per million tokens", price=price)
    ends = _("available until {day}", day=model.retired) if model.retired else ""
    return ", ".join(filter(None, (_("{window} context", window=window) if window else "", price, ends)))


def _problem_notes(listing: ServiceListing) -> Iterator[str]:
    if listing.problem:
        yield _("{service} did not list its models. {why}", service=listing.service, why=listing.problem)
    if listing.problem and listing.models:
        yield _("Showing the models in the catalogue.")
