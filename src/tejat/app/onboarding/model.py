"""The onboarding step that finds a model: with an API key, or a local one."""

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tejat.app.onboarding.api_key import ask_for_key, ask_to_store_key, key_option
from tejat.app.onboarding.trust import StartupExit
from tejat.config.files.reported import report_once
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.destination import UserSettings, settings_path_for
from tejat.config.settings.schema import setting_key
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone, text_report
from tejat.models.catalogue.aliases import resolve_alias
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService
from tejat.models.discovery.local_servers import LocalModel, find_local_models
from tejat.models.names import parse_model_name

_MAX_LOCAL_MODELS = 4
"""More local models are offered by server."""


async def setup_model(
    options: AgentOptions, user: UserPrompter, *, configured: str | None = None
) -> AgentOptions | StartupExit:
    """Let the user choose a model after it turned out that there is no key for the configured one.

    Raises UsageError if the choice cannot be saved.
    """
    environment = dict(os.environ if options.environment is None else options.environment)
    hint = _("No model configured yet. Enter an API key, or use a local model.")
    user.show(Report(_("Welcome to Tejat"), (Paragraph(hint),)))
    local = await find_local_models(environment)
    if not local:
        user.show(text_report(_("No local model found (Ollama, LM Studio, llama.cpp)."), Tone.QUIET))
    entries = _model_entries(local)
    while True:
        index = await user.choose(Choice(_("Choose a model"), tuple(option for option, _unused in entries)))
        chosen = StartupExit.QUIT if index is None else entries[index][1]
        if isinstance(chosen, tuple):
            models = chosen
            index = await user.choose(Choice(_("Choose a model"), tuple(map(_local_option, models))))
            chosen = None if index is None else models[index]
        outcome: AgentOptions | StartupExit | None
        match chosen:
            case StartupExit() | None:
                outcome = chosen
            case LocalModel():
                outcome = await _use_local_model(options, chosen, environment, user)
            case ApiKeyService():
                outcome = await _use_api_key(options, chosen, environment, user, configured=configured)
        if outcome is not None:
            return outcome


_ModelEntry: TypeAlias = tuple[Option, LocalModel | tuple[LocalModel, ...] | ApiKeyService | StartupExit]


def _model_entries(local: Sequence[LocalModel]) -> list[_ModelEntry]:
    """Return the options: a few local models by name, many by server, then services, the demo and the exit."""
    entries: list[_ModelEntry] = [(_local_option(model), model) for model in local]
    if len(local) > _MAX_LOCAL_MODELS:
        servers = dict.fromkeys(model.server for model in local)
        entries = [_server_entry(tuple(model for model in local if model.server == server)) for server in servers]
    return [
        *entries,
        *((key_option(service), service) for service in API_KEY_SERVICES),
        (Option(_("Try the demo"), _("no key or network")), StartupExit.DEMO),
        (Option(_("Quit")), StartupExit.QUIT),
    ]


def _server_entry(models: tuple[LocalModel, ...]) -> _ModelEntry:
    if len(models) == 1:
        return _local_option(models[0]), models[0]
    label = ngettext(
        "{server}: {count} local model", "{server}: {count} local models", len(models), server=models[0].server
    )
    return Option(label, _("no key needed")), models


def _local_option(model: LocalModel) -> Option:
    identifier = model.name.partition(":")[2]
    return Option(identifier, _("local ({server}), no key needed", server=model.server))


async def _use_local_model(
    options: AgentOptions, model: LocalModel, environment: dict[str, str], user: UserPrompter
) -> AgentOptions | None:
    paths = app_paths(environment)
    path = settings_path_for(paths, "model.name", model.name)
    always = Option(_("Yes, always"), _("saved in {path}", path=path))
    question = _("Use {model} from now on?", model=model.name)
    choice = await user.choose(Choice(question, (always, Option(_("For this session only")))))
    if choice is None:
        return None
    if choice == 0:
        _save_model(paths, model.name, model.base_url)
    if model.base_url is not None:
        environment["OPENAI_BASE_URL"] = model.base_url
    return replace(options, model=model.name, environment=environment)


async def _use_api_key(
    options: AgentOptions,
    service: ApiKeyService,
    environment: dict[str, str],
    user: UserPrompter,
    *,
    configured: str | None,
) -> AgentOptions | None:
    """Ask for a key; None if the user goes back."""
    key = await ask_for_key(service, environment, user)
    if key is None:
        return None
    paths = app_paths(environment)
    is_stored = await ask_to_store_key(paths, service, key, user)
    if is_stored is None:
        return None
    environment[service.key_variable] = key
    wanted = options.model or configured
    if wanted is not None and _is_served_by(service, wanted, environment):
        return replace(options, environment=environment)
    model = builtin_catalogue().first_models[service.provider.value]
    if alias := resolve_alias(model, environment):
        report_once(paths.reported_aliases, dict([alias]))  # the user did not choose it, and sees the model's name
    if is_stored:
        _save_model(paths, model, None)
    return replace(options, model=model, environment=environment)


def _is_served_by(service: ApiKeyService, model: str, environment: Mapping[str, str]) -> bool:
    try:
        return parse_model_name(model, environment)[0] is service.provider
    except UsageError:
        return False


def _save_model(paths: AppPaths, name: str, base_url: str | None) -> None:
    settings = UserSettings(paths)
    try:
        if base_url is not None:
            settings.write(setting_key("model.baseUrl"), base_url)
        settings.write(setting_key("model.name"), name)
    except OSError as error:
        path = settings_path_for(paths, "model.name", name)
        raise UsageError(_("Could not write {path}: {why}.", path=path, why=error.strerror or "")) from error
