"""`/login`: add, change or remove an API key without leaving the session."""

import os
from collections.abc import Mapping, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.model_source import open_named_model
from tejat.app.onboarding.api_key import ask_for_key, ask_to_store_key, key_option
from tejat.config.credentials_writer import save_api_key
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone, text_report
from tejat.engine.calls.secret_mask import SecretMask
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService
from tejat.models.names import Provider, parse_model_name

_USAGE = "/login [gemini | anthropic | openai | remove]"
_SIGN_OUT = ("remove", "signout", "logout")
_SIGN_IN = ("", "signin", "login")


class LoginCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        self.context.require_idle()
        self._require_live_model()
        word, _unused, rest = arguments.partition(" ")
        if rest.strip():
            raise UsageError(
                _(
                    "Do not type a key after /login. You are asked for it, and it stays hidden.\nUsage: {usage}",
                    usage=_USAGE,
                )
            )
        if word.casefold() in _SIGN_OUT:
            await self._remove(user)
            return
        service = await self._choose(user) if word.casefold() in _SIGN_IN else _find_service(word)
        if service is not None:
            await self._add(service, user)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        services = ((service.provider.value, self._key_source(service)) for service in API_KEY_SERVICES)
        return complete_from(typed, (*services, ("remove", _("delete a stored key"))))

    def _require_live_model(self) -> None:
        manager = self.context.manager
        if manager.run_model.recorded_at is not None or manager.options.record is not None:
            raise UsageError(_("Cannot change keys while a run is recorded or replayed."))

    async def _choose(self, user: UserPrompter) -> ApiKeyService | None:
        options = tuple(key_option(each, self._key_source(each)) for each in API_KEY_SERVICES)
        index = await user.choose(Choice(_("Add or change an API key"), options))
        return None if index is None else API_KEY_SERVICES[index]

    def _key_source(self, service: ApiKeyService) -> str:
        """Where the key of a service is from, never the key itself."""
        name, run_config = service.key_variable, self.context.run_config
        if not run_config.environment.get(name):
            return _("no key")
        if name in run_config.stored_keys:
            return _("key in {path}", path=run_config.paths.abbreviate(run_config.paths.credentials))
        if name in self._process_environment:
            return _("key in ${name}", name=name)
        if run_config.environment_file is not None:
            return _("key in {path}", path=run_config.paths.abbreviate(run_config.environment_file))
        return _("key for this session only")

    @property
    def _process_environment(self) -> Mapping[str, str]:
        environment = self.context.manager.options.environment
        return os.environ if environment is None else environment

    async def _add(self, service: ApiKeyService, user: UserPrompter) -> None:
        run_config, name = self.context.run_config, service.key_variable
        key = await ask_for_key(service, run_config.environment, user)
        if key is None:
            user.show(text_report(_("Nothing was changed.")))
            return
        is_stored = await ask_to_store_key(run_config.paths, service, key, user)
        if is_stored is None:
            user.show(text_report(_("Nothing was changed.")))
            return
        if is_stored and name in self._process_environment:
            text = _("${name} is set in your environment and takes precedence at the next start. Unset it.", name=name)
            user.show(text_report(text, Tone.WARNING))
        stored = tuple(dict.fromkeys((*run_config.stored_keys, *((name,) if is_stored else ()))))
        await self._use_environment({**run_config.environment, name: key}, stored, service, user)

    async def _use_environment(
        self, environment: Mapping[str, str], stored: tuple[str, ...], service: ApiKeyService, user: UserPrompter
    ) -> None:
        """Use other keys from now on; the current model is opened again if it is of this service."""
        manager, conversation = self.context.manager, self.context.conversation
        run_config = replace(manager.run_config, environment=environment, stored_keys=stored)
        current = conversation.model.name
        if parse_model_name(current, environment)[0] is service.provider:
            model = open_named_model(current, run_config)
            manager.run_config = run_config
            await conversation.change_model(model, _("The API key was changed."))
            manager.follow_model(current)
            user.show(text_report(_("Using the new key for {model}.", model=current), Tone.GOOD))
        else:
            manager.run_config = run_config
            text = Paragraph(_("Still using {model}.", model=current))
            hint = Paragraph(_("Use /model to switch to a model of this service."), Tone.QUIET)
            user.show(Report(blocks=(text, hint)))
        scheduler = self.context.toolset.start_scheduler()
        if scheduler.mask is not None:
            scheduler.mask = SecretMask(run_config.named_secrets)

    async def _remove(self, user: UserPrompter) -> None:
        run_config = self.context.run_config
        stored = [service for service in API_KEY_SERVICES if service.key_variable in run_config.stored_keys]
        if not stored:
            path = run_config.paths.abbreviate(run_config.paths.credentials)
            user.show(text_report(_("No keys are stored in {path}.", path=path)))
            return
        options = (*(Option(service.key_variable) for service in stored), Option(_("Cancel")))
        choice = Choice(_("Delete which stored key?"), options, initial=len(stored), is_critical=True)
        index = await user.choose(choice)
        if index is None or index == len(stored):
            user.show(text_report(_("Nothing was changed.")))
            return
        name = stored[index].key_variable
        path = save_api_key(run_config.paths, name, "")
        left = tuple(each for each in run_config.stored_keys if each != name)
        self.context.manager.run_config = replace(run_config, stored_keys=left)
        done = Paragraph(_("Deleted {name} from {path}.", name=name, path=path), Tone.GOOD)
        note = Paragraph(_("This session keeps using it until you quit."), Tone.QUIET)
        user.show(Report(blocks=(done, note)))


def _find_service(word: str) -> ApiKeyService:
    """Raises UsageError."""
    for service in API_KEY_SERVICES:
        if word.casefold() == service.provider.value:
            return service
    if word.casefold() in set(Provider):
        raise UsageError(
            _("{service} has no single API key. Set its environment variables: see /docs models.", service=word)
        )
    raise UsageError(_("Unknown service {word}.\nUsage: {usage}", word=word, usage=_USAGE))
