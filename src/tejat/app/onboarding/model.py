"""The onboarding step that finds a model: with an API key, or a local one."""

import os
from collections.abc import Mapping, Sequence

from tejat.app.onboarding.trust import StartupExit
from tejat.config.credentials_writer import save_api_key
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.destination import UserSettings, settings_path_for
from tejat.config.settings.schema import setting_key
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone, text_report
from tejat.models import ModelOptions
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.discovery.key_check import API_KEY_SERVICES, ApiKeyService, KeyStatus, check_key
from tejat.models.discovery.local_servers import LocalModel, find_local_models
from tejat.models.names import Provider

_MAX_KEY_LENGTH = 500


async def setup_model(options: AgentOptions, user: UserPrompter) -> AgentOptions | StartupExit:
    """Let the user choose a model after it turned out that there is no key for the configured one.

    Raises UsageError if the choice cannot be saved.
    """
    environment = dict(os.environ if options.environment is None else options.environment)
    hint = _("Give a key of a service, or use a model on this machine. Either can be changed later.")
    user.show(Report(_("There is no model to talk to yet."), (Paragraph(hint),)))
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
    kept = _("kept for you alone, or for this session only")
    options = (
        *(Option(model.name, _("{server} on this machine, no key needed", server=model.server)) for model in local),
        *(Option(_key_option_label(service), kept) for service in API_KEY_SERVICES),
        Option(_("See the demo first"), _("a whole run without key and network")),
        Option(_("Leave")),
    )
    return Choice(_("What do you want to use?"), options)


def _key_option_label(service: ApiKeyService) -> str:
    match service.provider:
        case Provider.GEMINI:
            return _("Gemini, with a key from {address}", address="https://aistudio.google.com/apikey")
        case Provider.ANTHROPIC:
            return _("Anthropic, with a key from {address}", address="https://console.anthropic.com/settings/keys")
        case _:
            return _("OpenAI, with a key from {address}", address="https://platform.openai.com/api-keys")


async def _use_local_model(
    options: AgentOptions, model: LocalModel, environment: dict[str, str], user: UserPrompter
) -> AgentOptions | None:
    paths = app_paths(environment)
    path = settings_path_for(paths, "model.name", model.name)
    always = Option(_("Yes, always"), _("written into {path}", path=path))
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
    key = await _ask_for_key(service, environment, user)
    if key is None:
        return None
    paths = app_paths(environment)
    keep = Option(_("Yes"), _("in plain text in {path}, which only you can read", path=paths.credentials))
    forget = Option(_("For this session only"), _("in memory, written nowhere"))
    choice = await user.choose(Choice(_("Keep the key?"), (keep, forget)))
    if choice is None:
        return None
    model = options.model or builtin_catalogue().first_models[service.provider.value]
    if choice == 0:
        path = save_api_key(paths, service.key_variable, key)
        if options.model is None:
            _save_model(paths, model, None)
        user.show(text_report(_("The key is kept in {path}.", path=path), Tone.GOOD))
    environment[service.key_variable] = key
    return replace(options, model=model, environment=environment)


async def _ask_for_key(service: ApiKeyService, environment: Mapping[str, str], user: UserPrompter) -> str | None:
    while True:
        typed = await user.enter(_("The key (it is not shown):"), is_secret=True)
        key = (typed or "").strip()
        if not key:
            return None
        if not (key.isascii() and key.isprintable()) or "'" in key or " " in key or len(key) > _MAX_KEY_LENGTH:
            user.show(text_report(_("This is not a key: it holds characters that no key has."), Tone.BAD))
            continue
        user.show(text_report(_("Asking the service once whether it takes the key."), Tone.QUIET))
        verdict, why = await check_key(service, key, ModelOptions(environment))
        match verdict:
            case KeyStatus.VALID:
                user.show(text_report(_("The service takes the key."), Tone.GOOD))
                return key
            case KeyStatus.INVALID:
                user.show(text_report(_("The service does not take this key ({why}). Try again.", why=why), Tone.BAD))
            case KeyStatus.UNKNOWN:
                question = _("The key could not be checked: {why} Use it anyway?", why=why)
                if await user.choose(Choice(question, (Option(_("Yes")), Option(_("No"))))) == 0:
                    return key


def _save_model(paths: AppPaths, name: str, base_url: str | None) -> None:
    settings = UserSettings(paths)
    try:
        if base_url is not None:
            settings.write(setting_key("model.baseUrl"), base_url)
        settings.write(setting_key("model.name"), name)
    except OSError as error:
        path = settings_path_for(paths, "model.name", name)
        raise UsageError(_("{path} could not be written: {why}.", path=path, why=error.strerror or "")) from error
