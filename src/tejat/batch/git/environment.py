"""Environments of git: closed to all configuration, for reading the user's repository, and for fetching."""

import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias

Settings: TypeAlias = Iterable[tuple[str, str]]

# These win over every configuration file: nothing of a repository may run a program.
_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("protocol.fd.allow", "never"),
    ("safe.bareRepository", "all"),
)
_CLOSED_SETTINGS = (
    *_SETTINGS,
    ("core.attributesFile", os.devnull),
    ("core.excludesFile", os.devnull),
    ("core.autocrlf", "false"),
    ("core.safecrlf", "false"),
    ("core.symlinks", "true"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.looseCompression", "1"),
    ("advice.addEmbeddedRepo", "false"),
)
_FETCH_SETTINGS = (
    *_SETTINGS,
    ("protocol.version", "2"),
    # Objects of an interrupted fetch are then never in place, so a commit that is there is complete.
    ("fetch.unpackLimit", "1"),
    ("transfer.unpackLimit", "1"),
    ("fetch.writeCommitGraph", "false"),
)
_KEPT_VARIABLES = ("PATH", "TMPDIR")
_KEPT_GIT_VARIABLES = (
    *("GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"),
    *("GIT_ALLOW_PROTOCOL", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"),
)
_KEPT_GIT_PREFIXES = ("GIT_SSL_", "GIT_HTTP_", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
_PROTOCOLS_THAT_RUN = frozenset({"ext", "fd"})


def closed_environment(variables: Mapping[str, str], settings: Settings = ()) -> dict[str, str]:
    """An environment without the configuration of the system, the user or anybody else.

    `variables` say which repository git uses, such as GIT_DIR.
    """
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {
        **kept,
        **_COMMON,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        **variables,
        **_as_variables((*_CLOSED_SETTINGS, *settings), start=0),
    }


def reading_environment(settings: Settings = ()) -> dict[str, str]:
    """The user's environment and configuration, for a repository of the user: git writes, runs and fetches nothing."""
    return _user_environment((*_SETTINGS, *settings)) | {"GIT_ALLOW_PROTOCOL": "none"}


def committing_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """As for reading, with the user's identity from the environment; an identity is never guessed."""
    identity = {name: os.environ[name] for name in _IDENTITY if os.environ.get(name)}
    settings = (*_SETTINGS, ("user.useConfigOnly", "true"))
    return {**_user_environment(settings), "GIT_ALLOW_PROTOCOL": "none", **identity, **variables}


def fetching_environment(variables: Mapping[str, str], *, is_local: bool) -> dict[str, str]:
    """The user's environment and configuration, with their credentials, but without questions."""
    environment = {**_user_environment(_FETCH_SETTINGS), **variables}
    if is_local:
        return environment | {"GIT_ALLOW_PROTOCOL": "file"}
    if allowed := environment.get("GIT_ALLOW_PROTOCOL"):
        names = [name for name in allowed.split(":") if name not in _PROTOCOLS_THAT_RUN]
        environment["GIT_ALLOW_PROTOCOL"] = ":".join(names) or "none"
    return environment


def _user_environment(settings: Settings) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if _is_kept(name)}
    count = kept.get("GIT_CONFIG_COUNT", "")
    start = int(count) if count.isdecimal() else 0
    return {**kept, **_COMMON, **_as_variables(settings, start=start)}


def _is_kept(name: str) -> bool:
    return not name.startswith("GIT_") or name in _KEPT_GIT_VARIABLES or name.startswith(_KEPT_GIT_PREFIXES)


def _as_variables(settings: Settings, *, start: int) -> dict[str, str]:
    variables: dict[str, str] = {}
    count = start
    for key, value in settings:
        variables[f"GIT_CONFIG_KEY_{count}"] = key
        variables[f"GIT_CONFIG_VALUE_{count}"] = value
        count += 1
    variables["GIT_CONFIG_COUNT"] = str(count)
    return variables


_COMMON = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
}
