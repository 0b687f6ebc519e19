"""Configuration checks for `tejat doctor` and `/about`: model, key, network, files, trust. Never a secret."""

import os
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from shlex import quote
from urllib.parse import urlsplit

from tejat.app.authentication import is_keyless_gateway
from tejat.app.model_source import own_prices, resolve_name, settings_of_service
from tejat.app.run_config import RunConfig
from tejat.app.setup.extension_checks import extension_checks
from tejat.app.setup.fixes import edit_fix
from tejat.app.setup.subagent_checks import subagent_checks
from tejat.app.skills.unused import unused_skills
from tejat.app.tools.policy_report import policy_checks
from tejat.config.settings.types import Setting
from tejat.config.skills.places import has_skills
from tejat.config.trust.decision import TrustLevel
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION
from tejat.core.i18n import join_lazy, lazy, lazy_plural
from tejat.core.text.model_figures import format_price
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import PriceList, day_of
from tejat.models.names import Provider, parse_model_name, with_provider


def configuration_checks(
    run_config: RunConfig,
    *,
    process_environment: Mapping[str, str],
    default_model: str,
    shows_model_figures: bool = False,
) -> list[DoctorCheck]:
    """Check the configuration of a run here. Raises nothing.

    `process_environment` is the environment before any file was read. The figures of a model are its context window
    and its price.
    """
    figures = _model_figures(run_config, default_model) if shows_model_figures else ()
    return [
        *_model_checks(run_config, process_environment, default_model),
        *figures,
        _catalogue_check(run_config),
        *_network_checks(run_config),
        *policy_checks(run_config),
        *_file_checks(run_config),
        *extension_checks(run_config),
        *subagent_checks(run_config),
        *_skill_checks(run_config),
        *_user_checks(),
        _locale_check(process_environment),
    ]


def _model_checks(run_config: RunConfig, own: Mapping[str, str], default: str) -> Iterator[DoctorCheck]:
    named = run_config.settings.model_name or Setting(with_provider(default, run_config.environment))
    from_file = named.source == "GEMINI_MODEL" and "GEMINI_MODEL" not in own
    source = named.source
    if from_file:
        source = lazy("{name} in {file}", name=named.source, file=run_config.environment_file)
    try:
        target = resolve_name(named.value, run_config)
        service, model = parse_model_name(target, run_config.environment)
    except UsageError as error:
        code = EXIT_CONFIGURATION if isinstance(error, ConfigurationError) else 0
        detail = _with_source(str(error), source)
        yield DoctorCheck(
            lazy("model"), lazy("name"), passed=False, detail=detail, exit_code=code, fix="tejat models list"
        )
        return
    shown = named.value if target == named.value else f"{named.value}: {model}"
    yield DoctorCheck(lazy("model"), lazy("name"), passed=True, detail=_with_source(shown, source))
    has_key, key = _find_key(service, run_config, own)
    fix = "" if has_key else f"export {_missing_variable(service, run_config)}=YOUR_KEY"
    yield DoctorCheck(lazy("model"), lazy("key"), has_key, key, fix=fix)
    if url := service_address(target, run_config):
        yield _url_check(lazy("model"), lazy("address"), url)


def _model_figures(run_config: RunConfig, default: str) -> Iterator[DoctorCheck]:
    """The context window and the price of the model; nothing for an unknown name."""
    named = run_config.settings.model_name or Setting(with_provider(default, run_config.environment))
    try:
        target = resolve_name(named.value, run_config)
        parse_model_name(target, run_config.environment)
    except UsageError:
        return
    catalogue = load_catalogue(run_config.paths.catalogue)
    model = target.rpartition(":")[2]
    entry = catalogue.find(model)
    if entry is not None and entry.context_window is not None:
        window = lazy("{count:,} tokens", count=entry.context_window)
    else:
        window = lazy("unknown; {count:,} tokens are assumed", count=catalogue.context_window(model))
    yield DoctorCheck(lazy("model"), lazy("context window"), passed=True, detail=window)
    price = PriceList(lambda: catalogue, own_prices(run_config)).price_of(target)
    if price is None:
        detail = lazy("unknown, so a cost limit cannot be checked")
        yield DoctorCheck(lazy("model"), lazy("price"), passed=False, detail=detail, fix="tejat models update")
        return
    figures = format_price(price)
    detail = lazy("{price} per million tokens sent / received", price=figures) if figures.startswith("$") else figures
    yield DoctorCheck(lazy("model"), lazy("price"), passed=True, detail=detail)


def service_address(model: str, run_config: RunConfig) -> Setting[str] | None:
    """The configured address of the service of a model, None for its usual one. Raises UsageError."""
    variable = _URL_VARIABLES.get(parse_model_name(model, run_config.environment)[0], "")
    if address := run_config.environment.get(variable):
        return Setting(address, variable)
    return settings_of_service(model, run_config).base_url


def _catalogue_check(run_config: RunConfig) -> DoctorCheck:
    """Which catalogue of models and prices counts, and how old it is."""
    catalogue = load_catalogue(run_config.paths.catalogue)
    current = catalogue.current
    age = (date.fromisoformat(day_of()) - date.fromisoformat(current.date)).days
    detail = lazy_plural(
        "{date}, {count} day old, {origin}",
        "{date}, {count} days old, {origin}",
        age,
        date=current.date,
        origin=current.source or lazy("built-in"),
    )
    if catalogue.problem:
        detail = join_lazy(". ", (detail, catalogue.problem))
    elif age > _OLD_CATALOGUE_DAYS:
        detail = lazy("{detail}. For current prices: tejat models update", detail=detail)
    fix = "tejat models update" if catalogue.problem else ""
    return DoctorCheck(lazy("model"), lazy("prices"), passed=not catalogue.problem, detail=detail, fix=fix)


def _find_key(service: Provider, run_config: RunConfig, own: Mapping[str, str]) -> tuple[bool, str]:
    """Whether there is a key, and where it is from."""
    if service not in _KEY_VARIABLES:
        return True, lazy("none needed")
    names = _key_variables(service, run_config)
    for name in names:
        if run_config.environment.get(name, "").strip():
            kept = run_config.paths.credentials if name in run_config.stored_keys else run_config.environment_file
            where = lazy("the environment") if name in own else kept
            return True, lazy("{name} from {place}", name=name, place=where)
    if _may_need_no_key(service, run_config):
        return True, lazy("none; your own server may not need one")
    if names is _KEY_VARIABLES_WITHOUT_PROJECT:
        names = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY")
    elif service is Provider.VERTEX and os.path.isfile(stored := _stored_credentials(run_config.environment)):
        return True, stored
    separator = lazy(" or ")
    return False, lazy("none: {names} is not set", names=join_lazy(separator, names))


def _key_variables(service: Provider, run_config: RunConfig) -> tuple[str, ...]:
    has_project = any(run_config.environment.get(name, "").strip() for name in _PROJECT_VARIABLES)
    if service is Provider.VERTEX and not has_project:
        return _KEY_VARIABLES_WITHOUT_PROJECT
    return _KEY_VARIABLES[service]


def _missing_variable(service: Provider, run_config: RunConfig) -> str:
    """The variable to set for a key."""
    return _key_variables(service, run_config)[0]


def _may_need_no_key(service: Provider, run_config: RunConfig) -> bool:
    settings, environment = settings_of_service(f"{service.value}:any", run_config), run_config.environment
    if service is Provider.GEMINI:
        return is_keyless_gateway(settings, environment)
    return service is Provider.OPENAI and bool(environment.get("OPENAI_BASE_URL") or settings.base_url)


def _stored_credentials(environment: Mapping[str, str]) -> str:
    """The user's credentials file of gcloud."""
    directory = environment.get("CLOUDSDK_CONFIG") or os.path.join(environment.get("HOME", ""), ".config", "gcloud")
    return os.path.join(directory, "application_default_credentials.json")


def _network_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        for spelling in (name, name.upper()):
            if value := run_config.environment.get(spelling, "").strip():
                yield _url_check(lazy("network"), lazy("proxy"), Setting(value, spelling))
                break
    if run_config.settings.search_url:
        yield _url_check(lazy("network"), lazy("web search"), run_config.settings.search_url)


def _url_check(group: str, name: str, url: Setting[str]) -> DoctorCheck:
    return DoctorCheck(group, name, passed=True, detail=_with_source(address_origin(url.value), url.source))


def _file_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    settings, trust = run_config.settings, run_config.trust
    for path in settings.files:
        if path not in settings.ignored_files:
            yield DoctorCheck(lazy("files"), lazy("settings"), passed=True, detail=path)
    for path in settings.ignored_files:
        yield DoctorCheck(lazy("files"), lazy("not trusted"), passed=False, detail=path, fix=_trust_fix(run_config))
    if run_config.environment_file is not None:
        yield DoctorCheck(lazy("files"), lazy("environment"), passed=True, detail=run_config.environment_file)
    yield DoctorCheck(lazy("files"), lazy("sessions"), passed=True, detail=run_config.paths.sessions)
    fix = "" if trust.is_trusted else _trust_fix(run_config)
    yield DoctorCheck(lazy("trust"), _LEVEL_LABELS[trust.level], trust.is_trusted, trust.reason, fix=fix)
    changed = {item.path for item in trust.changed}
    for item in trust.items:
        how = _with_source(item.path, lazy("changed")) if item.path in changed else item.path
        yield DoctorCheck(lazy("trust"), item.label, trust.is_trusted, how, fix=fix)


def _skill_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """Skills that nobody uses cost tokens in every request."""
    paths, root, is_trusted = run_config.paths, run_config.roots[0], run_config.trust.is_trusted
    if not has_skills(paths, root, is_trusted=is_trusted, extensions=run_config.extensions):
        return
    unused = unused_skills(run_config)
    if unused.names:
        detail = lazy(
            "not activated in {days} days: {names} ({tokens} tokens in every request)",
            days=unused.days,
            names=", ".join(unused.names),
            tokens=f"{unused.tokens:,}",
        )
        fix = f"tejat skills disable {quote(unused.names[0])}"
        yield DoctorCheck(lazy("skills"), lazy("unused"), passed=True, detail=detail, fix=fix)


def _trust_fix(run_config: RunConfig) -> str:
    """Decide about the folder, or repair the file that holds the decisions."""
    paths, problem = run_config.paths, str(run_config.trust.problem or run_config.trust.reason)
    for path in (paths.trust_store, paths.gemini_trusted_folders):
        if path in problem:
            return edit_fix(path)
    return f"tejat trust {quote(run_config.roots[0])}"


def _user_checks() -> Iterator[DoctorCheck]:
    if os.geteuid() == 0:
        detail = lazy("running as root: edits and commands can reach every file. Use an ordinary account")
        yield DoctorCheck(lazy("user"), lazy("account"), passed=False, detail=detail, fix="su - YOUR_USER")


def _locale_check(own: Mapping[str, str]) -> DoctorCheck:
    named = next((f"{name}={own[name]}" for name in ("LC_ALL", "LC_CTYPE", "LANG") if own.get(name)), None)
    encoding = sys.getfilesystemencoding()
    message = lazy("{locale}, file names are {encoding}", locale=named or lazy("not set"), encoding=encoding)
    is_unicode = encoding.lower() in ("utf-8", "utf8")
    fix = "" if is_unicode else "export LANG=C.UTF-8"
    return DoctorCheck(lazy("terminal"), lazy("locale"), is_unicode, message, fix=fix)


def _with_source(what: str, source: str) -> str:
    return join_lazy("", (what, " (", source, ")"))


def address_origin(url: str) -> str:
    """Scheme, host and port of a URL, whose other parts may contain a key."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return lazy("an invalid address")
    scheme = f"{parts.scheme}://" if parts.scheme else ""
    return f"{scheme}{parts.hostname or ''}{port}"


_OLD_CATALOGUE_DAYS = 60

_LEVEL_LABELS: Mapping[TrustLevel, str] = {
    TrustLevel.TRUSTED: lazy("trusted"),
    TrustLevel.NOT_TRUSTED: lazy("not trusted"),
    TrustLevel.UNKNOWN: lazy("unknown"),
    TrustLevel.CHANGED: lazy("changed"),
}
_KEY_VARIABLES: Mapping[Provider, tuple[str, ...]] = {
    Provider.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    Provider.VERTEX: ("GOOGLE_APPLICATION_CREDENTIALS",),
    Provider.OPENAI: ("OPENAI_API_KEY",),
    Provider.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    Provider.AZURE: ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
    Provider.BEDROCK: ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"),
}
_PROJECT_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID")
_KEY_VARIABLES_WITHOUT_PROJECT = ("GOOGLE_API_KEY",)
_URL_VARIABLES: Mapping[Provider, str] = {
    Provider.GEMINI: "GOOGLE_GEMINI_BASE_URL",
    Provider.VERTEX: "GOOGLE_VERTEX_BASE_URL",
    Provider.OPENAI: "OPENAI_BASE_URL",
    Provider.ANTHROPIC: "ANTHROPIC_BASE_URL",
    Provider.OLLAMA: "OLLAMA_HOST",
    Provider.AZURE: "AZURE_OPENAI_ENDPOINT",
    Provider.BEDROCK: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
}
