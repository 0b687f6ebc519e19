"""What was read from where, for `tejat doctor`: settings, trust, the model and its key, the network. Never a secret."""

import os
import sys
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from tejat.app.ground import Ground
from tejat.config.keys import keys_path
from tejat.config.settings import Setting
from tejat.config.trust import TrustLevel
from tejat.core.errors import UsageError
from tejat.core.explain import Check
from tejat.core.words import joined, phrase
from tejat.models.names import Service, read_name


def configuration_checks(ground: Ground, *, own: Mapping[str, str], default_model: str) -> list[Check]:
    """What a run here would go by. `own` is the environment before any file was read. Raises nothing."""
    return [
        *_model(ground, own, default_model),
        *_network(ground),
        *_files(ground),
        _locale(own),
    ]


def _model(ground: Ground, own: Mapping[str, str], default: str) -> Iterator[Check]:
    named = ground.settings.model_name or Setting(default)
    from_file = named.source == "GEMINI_MODEL" and "GEMINI_MODEL" not in own
    source = named.source
    if from_file:
        source = phrase("{name} in {file}", name=named.source, file=ground.environment_file)
    try:
        service, _ = read_name(named.value, ground.environment)
    except UsageError as error:
        yield Check(phrase("model"), phrase("name"), works=False, how=_from(str(error), source))
        return
    yield Check(phrase("model"), phrase("name"), works=True, how=_from(named.value, source))
    yield _key(service, ground, own)
    for name in _ADDRESSES.get(service, ()):
        if ground.environment.get(name):
            yield Check(
                phrase("model"), phrase("address"), works=True, how=_from(_origin(ground.environment[name]), name)
            )
            return
    if ground.settings.base_url:
        url = ground.settings.base_url
        yield Check(phrase("model"), phrase("address"), works=True, how=_from(_origin(url.value), url.source))


def _key(service: Service, ground: Ground, own: Mapping[str, str]) -> Check:
    if service not in _KEYS:
        return Check(phrase("model"), phrase("key"), works=True, how=phrase("none is needed"))
    names = _KEYS[service]
    if service is Service.VERTEX and not ground.environment.get("GOOGLE_CLOUD_PROJECT", "").strip():
        names = _KEYS_WITHOUT_PROJECT
    for name in names:
        if ground.environment.get(name, "").strip():
            kept = keys_path(ground.places) if name in ground.kept_keys else ground.environment_file
            where = phrase("the environment") if name in own else kept
            return Check(
                phrase("model"), phrase("key"), works=True, how=phrase("{name} from {place}", name=name, place=where)
            )
    if service is Service.OPENAI and (ground.environment.get("OPENAI_BASE_URL") or ground.settings.base_url):
        return Check(
            phrase("model"), phrase("key"), works=True, how=phrase("none, which a server of your own may not need")
        )
    if names is _KEYS_WITHOUT_PROJECT:
        return Check(
            phrase("model"), phrase("key"), works=False, how=_not_set("GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY")
        )
    if service is Service.VERTEX and os.path.isfile(stored := _stored_credentials(ground.environment)):
        return Check(phrase("model"), phrase("key"), works=True, how=stored)
    return Check(phrase("model"), phrase("key"), works=False, how=_not_set(*names))


def _not_set(*names: str) -> str:
    return phrase("none: {names} is not set", names=joined(phrase(" or "), names))


def _stored_credentials(environment: Mapping[str, str]) -> str:
    """Where gcloud leaves those of the person."""
    directory = environment.get("CLOUDSDK_CONFIG") or os.path.join(environment.get("HOME", ""), ".config", "gcloud")
    return os.path.join(directory, "application_default_credentials.json")


def _network(ground: Ground) -> Iterator[Check]:
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        for spelling in (name, name.upper()):
            if value := ground.environment.get(spelling, "").strip():
                yield Check(phrase("network"), phrase("proxy"), works=True, how=_from(_origin(value), spelling))
                break
    if ground.settings.search_url:
        url = ground.settings.search_url
        yield Check(phrase("network"), phrase("web search"), works=True, how=_from(_origin(url.value), url.source))


def _files(ground: Ground) -> Iterator[Check]:
    settings, trust = ground.settings, ground.trust
    for path in settings.files:
        if path not in settings.ignored:
            yield Check(phrase("files"), phrase("settings"), works=True, how=path)
    for path in settings.ignored:
        yield Check(phrase("files"), phrase("not trusted"), works=False, how=path)
    if ground.environment_file is not None:
        yield Check(phrase("files"), phrase("environment"), works=True, how=ground.environment_file)
    yield Check(phrase("files"), phrase("sessions"), works=True, how=os.path.join(ground.places.state, "sessions"))
    yield Check(phrase("trust"), _LEVELS[trust.level], trust.is_trusted, trust.reason)
    changed = {item.path for item in trust.changed}
    for item in trust.items:
        how = _from(item.path, phrase("changed")) if item.path in changed else item.path
        yield Check(phrase("trust"), item.shown, trust.is_trusted, how)


def _locale(own: Mapping[str, str]) -> Check:
    named = next((f"{name}={own[name]}" for name in ("LC_ALL", "LC_CTYPE", "LANG") if own.get(name)), None)
    encoding = sys.getfilesystemencoding()
    told = phrase("{locale}, names of files are {encoding}", locale=named or phrase("not set"), encoding=encoding)
    return Check(phrase("terminal"), phrase("locale"), encoding.lower() in ("utf-8", "utf8"), told)


def _from(what: str, source: str) -> str:
    return joined("", (what, " (", source, ")"))


def _origin(url: str) -> str:
    """Scheme, host and port: the rest of an address may hold a key."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return phrase("an address that cannot be read")
    scheme = f"{parts.scheme}://" if parts.scheme else ""
    return f"{scheme}{parts.hostname or ''}{port}"


_LEVELS: Mapping[TrustLevel, str] = {
    TrustLevel.TRUSTED: phrase("trusted"),
    TrustLevel.NOT_TRUSTED: phrase("not trusted"),
    TrustLevel.UNKNOWN: phrase("unknown"),
    TrustLevel.CHANGED: phrase("changed"),
}
_KEYS: Mapping[Service, tuple[str, ...]] = {
    Service.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    Service.VERTEX: ("GOOGLE_APPLICATION_CREDENTIALS",),
    Service.OPENAI: ("OPENAI_API_KEY",),
    Service.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
}
_KEYS_WITHOUT_PROJECT = ("GOOGLE_API_KEY",)
_ADDRESSES: Mapping[Service, tuple[str, ...]] = {
    Service.GEMINI: ("GOOGLE_GEMINI_BASE_URL",),
    Service.VERTEX: ("GOOGLE_VERTEX_BASE_URL",),
    Service.OPENAI: ("OPENAI_BASE_URL",),
    Service.ANTHROPIC: ("ANTHROPIC_BASE_URL",),
    Service.OLLAMA: ("OLLAMA_HOST",),
}
