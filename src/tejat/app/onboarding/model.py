"""The onboarding step that finds a model: with an API key, or a local one."""

import os
from collections.abc import Sequence

from tejat.app.onboarding.api_key import ask_for_key, ask_to_store_key, service_label
from tejat.app.onboarding.trust import StartupExit
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.destination import UserSettings, settings_path_for
from tejat.config.settings.schema import setting_key
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService
from tejat.models.discovery.local_servers import LocalModel, find_local_models


async def setup_model(options: AgentOptions, user: UserPrompter) -> AgentOptions | StartupExit:
    """Let the user choose a model after it turned out that there is no key for the configured one.

    Raises UsageError if the choice cannot be saved.
    """
    environment = dict(os.environ if options.environment is None else options.environment)
    hint = _("Enter an API key, or use a local model. You can change this later with /login and /model.")
    user.show(Report(_("No model configured yet."), (Paragraph(hint),)))
    local = await find_local_models(environment)
    while True:
        index = await user.choose(_model_question(local))
        if index is None:
            return StartupExit.QUIT
        outcome: AgentOptions | StartupExit | None
        if index < len(local):
            outcome = await _use_local_model(options, local[index], environment, user)
        elif index - len(local) < len(API_KEY_SERVICES):
            outcome = await _use_api_key(options, API_KEY_SERVICES[index - len(local)], environment, user)
        else:
            outcome = (StartupExit.DEMO, StartupExit.QUIT)[index - len(local) - len(API_KEY_SERVICES)]
        if outcome is not None:
            return outcome


def _model_question(local: Sequence[LocalModel]) -> Choice:
    kept = _("stored in a file only you can read, or for this session only")
    options = (
        *(Option(model.name, _("local ({server}), no key needed", server=model.server)) for model in local),
        *(Option(service_label(service), kept) for service in API_KEY_SERVICES),
        Option(_("Try the demo"), _("no key or network needed")),
        Option(_("Quit")),
    )
    return Choice(_("Choose a model"), options)


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
    options: AgentOptions, service: ApiKeyService, environment: dict[str, str], user: UserPrompter
) -> AgentOptions | None:
    """Ask for a key; None if the user goes back."""
    key = await ask_for_key(service, environment, user)
    if key is None:
        return None
    paths = app_paths(environment)
    is_stored = await ask_to_store_key(paths, service, key, user)
    if is_stored is None:
        return None
    model = options.model or builtin_catalogue().first_models[service.provider.value]
    if is_stored and options.model is None:
        _save_model(paths, model, None)
    environment[service.key_variable] = key
    return replace(options, model=model, environment=environment)


def _save_model(paths: AppPaths, name: str, base_url: str | None) -> None:
    settings = UserSettings(paths)
    try:
        if base_url is not None:
            settings.write(setting_key("model.baseUrl"), base_url)
        settings.write(setting_key("model.name"), name)
    except OSError as error:
        path = settings_path_for(paths, "model.name", name)
        raise UsageError(_("{path} could not be written: {why}.", path=path, why=error.strerror or "")) from error
