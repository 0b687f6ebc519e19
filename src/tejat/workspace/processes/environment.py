"""Environment variables of commands: an allow list without secrets, and no interactive programs."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.text.token_shapes import has_key_shape

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_CREDENTIALS_IN_ADDRESS = re.compile(r"//[^/?#]*@|^[^/?#]*@")
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "AUTH")

_ALLOWED = {
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "COLORTERM", "NO_COLOR"),
    *("VIRTUAL_ENV", "JAVA_HOME", "JDK_HOME", "ANDROID_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME"),
    *("GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GONOPROXY"),
    *("GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN", "GOOS", "GOARCH"),
    *("CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
    *("NODE_PATH", "NODE_EXTRA_CA_CERTS", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "VOLTA_HOME", "COREPACK_HOME"),
    *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "UV_CACHE_DIR", "PIP_CACHE_DIR", "POETRY_HOME"),
    *("GEM_HOME", "GEM_PATH", "DOTNET_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "SDKMAN_DIR", "PKG_CONFIG_PATH", "MANPATH"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS", "CI", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
}
_ALLOWED_PREFIXES = ("LC_", "CONDA_", "NVM_", "PYENV_", "RBENV_", "NIX_", "HOMEBREW_")
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"}
# Shells run the contents of these before the command, or instead of it.
_FORBIDDEN = {"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "CDPATH", "GLOBIGNORE"}
_FORBIDDEN_PREFIX = "BASH_FUNC_"

_OVERRIDES = {
    "GEMINI_CLI": "1",
    # No pagers.
    **dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "AWS_PAGER", "BAT_PAGER"), "cat"),
    "LESS": "-FRX",
    "LESSOPEN": "",
    # No editors.
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "HGEDITOR", "SVN_EDITOR"), ":"),
    # No prompts.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
}
# A bare repository checked in as files must not decide what git runs, nor the settings of a repository what watches it.
_GIT_SETTINGS = (("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"))
# Reading does not need hooks, nor the objects of a remote repository.
_GIT_READING_SETTINGS = (*_GIT_SETTINGS, ("core.hooksPath", "/dev/null"))


class VariableLists(NamedTuple):
    """The user's lists of variables that commands get or never get.

    `passed` are passed on whatever their values are. `allowed` are passed on unless the value looks like a key.
    `blocked` are never passed on, whoever else names them. The last two are compared without regard to case.
    """

    passed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    def without_blocked(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """The variables that are not blocked."""
        if not self.blocked:
            return variables
        blocked = _folded(self.blocked)
        return {name: value for name, value in variables.items() if name.upper() not in blocked}


NO_LISTS = VariableLists()


def child_environment(
    base: Mapping[str, str], *, lists: VariableLists = NO_LISTS, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a command: the allowed part of `base`.

    `lists` are those of the user; `extra` is added as it is. Variables that make a shell run code are never passed on.
    Raises UsageError for an invalid name or value.
    """
    passed, allowed = set(lists.passed), _folded(lists.allowed)
    for name in (*passed, *(extra or {})):
        _check_name(name)
    result = {
        name: value
        for name, value in lists.without_blocked(base).items()
        if _NAME.fullmatch(name)
        and not _is_forbidden(name)
        and (
            name in passed
            or _is_allowed(name, value)
            or (bool(allowed) and name.upper() in allowed and not has_key_shape(value))
        )
    }
    chosen = {name for name in result if name in passed or name.upper() in allowed}
    result["PATH"] = _absolute_entries(result.get("PATH", os.defpath))
    result.setdefault("TERM", "xterm-256color")
    result.update((name, value) for name, value in _OVERRIDES.items() if name not in chosen)
    result.update(_format_git_settings(_GIT_SETTINGS))
    result.update(extra or {})
    for name, value in result.items():
        if "\0" in value:
            raise UsageError(lazy("The value of the environment variable {name} contains a NUL character.", name=name))
    return result


def user_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command typed by the user: all of their own, but no interactive programs."""
    own = {name: value for name, value in base.items() if _NAME.fullmatch(name) and "\0" not in value}
    own.setdefault("TERM", "xterm-256color")
    return own | _OVERRIDES


def _folded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(map(str.upper, names))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(lazy("{name!r} is not a valid environment variable name.", name=name))
    if _is_forbidden(name):
        raise UsageError(
            lazy("The environment variable {name} is never passed on: a shell would execute it.", name=name)
        )


def _is_forbidden(name: str) -> bool:
    return name in _FORBIDDEN or name.startswith(_FORBIDDEN_PREFIX)


def _is_allowed(name: str, value: str) -> bool:
    if name.upper() in _PROXIES or name == "GOPROXY":
        return not _CREDENTIALS_IN_ADDRESS.search(value)
    if any(word in name.upper() for word in _SECRET_WORDS):
        return False
    return name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES)


def _absolute_entries(path: str) -> str:
    """Drop relative PATH entries: a program in the project would be mistaken for the real one."""
    return os.pathsep.join(dict.fromkeys(entry for entry in path.split(os.pathsep) if entry.startswith("/")))


def git_reading_environment() -> dict[str, str]:
    """Return what to add to the environment of a command that only reads repositories: no settings run programs."""
    return {**_format_git_settings(_GIT_READING_SETTINGS), "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


def _format_git_settings(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    settings = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (key, value) in enumerate(pairs):
        settings[f"GIT_CONFIG_KEY_{index}"] = key
        settings[f"GIT_CONFIG_VALUE_{index}"] = value
    return settings
