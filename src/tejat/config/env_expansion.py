"""Expansion of environment variables in settings: `$NAME`, `${NAME}` and `${NAME:-default}`."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tejat.config.paths import SourceTier

ResolveEnv: TypeAlias = Callable[[str], str]


def env_resolver(environment: Mapping[str, str], tier: SourceTier, *, unset: str | None = None) -> ResolveEnv:
    """A function that expands references. An unset variable becomes `unset`, or stays as it is written.

    In settings of a project or an extension, references to secrets are not expanded: they could be sent anywhere.
    """

    def value_of(found: re.Match[str]) -> str:
        name = found["braced"] or found["bare"]
        value = environment.get(name, unset)
        if tier.only_restricts and is_secret(name, value or ""):
            return found.group()
        # As in a shell, `:-` also replaces an empty value.
        if found["otherwise"] is not None:
            return value or found["otherwise"]
        return found.group() if value is None else value

    return lambda text: re.sub(_REFERENCE, value_of, text) if "$" in text else text


def is_secret(name: str, value: str) -> bool:
    """Whether a variable with this name or value is likely to be a secret."""
    return _is_secret_name(name.upper()) or _is_secret_value(value)


def _is_secret_name(name: str) -> bool:
    """Names of locations and of kinds do not count; words that are part of others (author, keyboard) only alone."""
    if name.endswith(_LOCATION_SUFFIXES):
        return False
    if name.endswith(_SECRET_SUFFIXES) or any(word in name for word in _SECRET_PARTS):
        return True
    return not _SECRET_WORDS.isdisjoint(name.split("_"))


def _is_secret_value(value: str) -> bool:
    """Credentials in URLs, private keys, and prefixes of well-known API keys."""
    if not ("@" in value or any(mark in value for mark in _SECRET_PREFIXES)):
        return False
    return re.search(_SECRET_VALUE, value) is not None


# Compiled on first use: few settings hold a reference.
_REFERENCE = r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<otherwise>[^}]*))?\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))"
_LOCATION_SUFFIXES = ("_FILE", "_PATH", "_DIR", "_SOCK", "_SOCKET", "_URL", "_URI", "_MECHANISM")
_SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL")
_SECRET_SUFFIXES = ("KEY", "KEYS", "KEY_ID")
_SECRET_WORDS = frozenset({"KEY", "PASS", "AUTH", "CREDS", "PRIVATE", "COOKIE"})
# Without one of these, or an @, no value is secret.
_SECRET_PREFIXES = ("-----BEGIN ", "gh", "AIzaSy", "AKIA", "sk-", "xox", "eyJ")
_SECRET_VALUE = r"://[^/@\s]*:[^/@\s]+@|-----BEGIN |\b(?:gh[a-z]_|github_pat_|AIzaSy|AKIA|sk-|xox[a-z]-|eyJ)[\w-]{8}"
