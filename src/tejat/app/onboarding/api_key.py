"""Questions about an API key: enter and check it, and decide where to store it."""

from collections.abc import Mapping

from tejat.config.credentials_writer import save_api_key
from tejat.config.paths import AppPaths
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.models import ModelOptions
from tejat.models.discovery.key_check import ApiKeyService, KeyStatus, check_key
from tejat.models.names import Provider

_MAX_KEY_LENGTH = 500


def service_name(service: ApiKeyService) -> str:
    return {Provider.GEMINI: "Gemini", Provider.ANTHROPIC: "Anthropic"}.get(service.provider, "OpenAI")


def key_page(service: ApiKeyService) -> str:
    """The page where users get a key."""
    pages = {
        Provider.GEMINI: "https://aistudio.google.com/apikey",
        Provider.ANTHROPIC: "https://console.anthropic.com/settings/keys",
    }
    return pages.get(service.provider, "https://platform.openai.com/api-keys")


def key_option(service: ApiKeyService, detail: str = "") -> Option:
    """The option to enter a key for a service, with the page that has one."""
    return Option(_("{service} API key", service=service_name(service)), detail, note=key_page(service))


async def ask_for_key(service: ApiKeyService, environment: Mapping[str, str], user: UserPrompter) -> str | None:
    """Ask for a key and check it with the service. None if the user cancels. Raises UsageError for an invalid URL."""
    while True:
        label = _("{service} API key from {page} (hidden):", service=service_name(service), page=key_page(service))
        typed = await user.enter(label, is_secret=True)
        key = (typed or "").strip()
        if not key:
            return None
        if not (key.isascii() and key.isprintable()) or "'" in key or " " in key or len(key) > _MAX_KEY_LENGTH:
            user.show(text_report(_("Not an API key: it contains invalid characters. Try again."), Tone.BAD))
            continue
        user.show(text_report(_("Checking the key..."), Tone.QUIET))
        verdict, why = await check_key(service, key, ModelOptions(environment))
        match verdict:
            case KeyStatus.VALID:
                user.show(text_report(_("The key works."), Tone.GOOD))
                return key
            case KeyStatus.INVALID:
                name = service_name(service)
                message = _(
                    "{service} rejected the API key ({why}). Try again, or Esc to go back.", service=name, why=why
                )
                user.show(text_report(message, Tone.BAD))
            case KeyStatus.UNKNOWN:
                question = _("Could not check the key: {why} Use it anyway?", why=why)
                if await user.choose(Choice(question, (Option(_("Yes")), Option(_("No"))))) == 0:
                    return key


async def ask_to_store_key(paths: AppPaths, service: ApiKeyService, key: str, user: UserPrompter) -> bool | None:
    """Ask whether to store the key, and do it. None if the user cancels. Raises UsageError if it cannot be stored."""
    keep = Option(_("Yes"), _("in plain text in {path}, which only you can read", path=paths.credentials))
    forget = Option(_("For this session only"), _("in memory, not written to disk"))
    choice = await user.choose(Choice(_("Store the key?"), (keep, forget)))
    if choice == 0:
        path = save_api_key(paths, service.key_variable, key)
        user.show(text_report(_("Key stored in {path}.", path=path), Tone.GOOD))
    return None if choice is None else choice == 0
