"""Entries of MCP servers in the settings of the user and the project."""

import os
from collections.abc import Callable, Mapping
from functools import partial

from tejat.config.files.reader import AllowedWriters
from tejat.config.paths import PROJECT_SETTINGS, AppPaths, SourceTier, same_directory
from tejat.config.settings.destination import own_server_fields
from tejat.config.settings.editor import edit_settings, remove_member, set_member
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.loader import load_settings, read_settings_file
from tejat.config.settings.types import Settings
from tejat.config.trust.renewal import TrustAfterEdit, edit_project_settings, persistent_trust
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.http.types import HttpFailure
from tejat.workspace.http.url import parse_url

_KEY = "mcpServers"


class SettingsScope(StrEnum):
    """Which settings file is meant."""

    USER = "user"
    PROJECT = "project"


class McpServerEntries:
    """The entries for the project in `root`, an absolute path. `environment` is that of the process.

    All methods raise ConfigurationError for unusable settings; those that change something also raise UsageError and
    OSError, and then nothing is changed.
    """

    def __init__(self, paths: AppPaths, root: str, environment: Mapping[str, str]) -> None:
        self._paths = paths
        self._root = root
        self._environment = environment

    @property
    def is_home(self) -> bool:
        """Whether the project's settings are the user's own."""
        own = same_directory(os.path.join(self._root, ".gemini"), self._paths.gemini)
        return own or any(same_directory(self._root, directory) for directory in self._paths.homes)

    def settings(self) -> Settings:
        """The settings that count in the project."""
        is_trusted = persistent_trust(self._paths, self._root, self._environment).is_trusted
        return load_settings(self._paths, [self._root], trusted=is_trusted, environment=self._environment)

    def path(self, scope: SettingsScope) -> str:
        if scope is SettingsScope.USER:
            return self._paths.user_settings
        return os.path.join(self._root, PROJECT_SETTINGS)

    def names(self, scope: SettingsScope) -> tuple[str, ...]:
        """The servers in the settings of a scope, in effect or not."""
        if scope is SettingsScope.PROJECT and self.is_home:
            return ()
        return tuple(dict.fromkeys(name for path in self._paths_of(scope) for name in _entries(path, scope)))

    def paths_with(self, scope: SettingsScope, name: str) -> list[str]:
        """The files of a scope that have an entry of this name."""
        return [path for path in self._paths_of(scope) if name in _entries(path, scope)]

    def put(self, scope: SettingsScope, name: str, entry: JsonObject) -> TrustAfterEdit:
        """Add or replace an entry.

        Fields that Gemini CLI does not know are written to Tejat's own settings. Those that are there already stay:
        one of them may protect.
        """
        own = own_server_fields(entry)
        shared = {field: value for field, value in entry.items() if field not in own}
        trust = self._edit(scope, partial(set_member, names=(_KEY, name), given=shared))
        present = _entries(self._paths.own_settings, SettingsScope.USER).get(name)
        for field in () if present is None or scope is SettingsScope.PROJECT else present.members():
            if field not in own_server_fields([field]):
                self._edit_own(partial(remove_member, names=(_KEY, name, field)))
        for field in own:
            self._edit_own(partial(set_member, names=(_KEY, name, field), given=entry[field]))
        return trust

    def remove(self, scope: SettingsScope, name: str) -> TrustAfterEdit:
        """Remove an entry, if there is one."""
        change = partial(remove_member, names=(_KEY, name))
        paths = self.paths_with(scope, name)
        if self._paths.own_settings in paths:
            self._edit_own(change)
        if scope is SettingsScope.PROJECT or self.path(scope) in paths:
            return self._edit(scope, change)
        return TrustAfterEdit.TRUSTED

    def _paths_of(self, scope: SettingsScope) -> tuple[str, ...]:
        return (self.path(scope), self._paths.own_settings) if scope is SettingsScope.USER else (self.path(scope),)

    def _edit_own(self, change: Callable[[str], str]) -> None:
        edit_settings(self._paths, self._paths.own_settings, change, writers=AllowedWriters.TRUSTED)

    def _edit(self, scope: SettingsScope, change: Callable[[str], str]) -> TrustAfterEdit:
        if scope is SettingsScope.USER:
            edit_settings(self._paths, self.path(scope), change, writers=AllowedWriters.TRUSTED)
            return TrustAfterEdit.TRUSTED
        self._refuse_link_outside()
        return edit_project_settings(self._paths, self._root, change, environment=self._environment)

    def _refuse_link_outside(self) -> None:
        """An untrusted folder must not make us write files outside of it."""
        path, root = self.path(SettingsScope.PROJECT), os.path.realpath(self._root)
        if not os.path.realpath(path).startswith(f"{root.rstrip('/')}/"):
            raise UsageError(
                lazy(
                    "{path} is a link that points outside {root}, so it is not changed. Edit its target instead.",
                    path=path,
                    root=root,
                )
            )


def _entries(path: str, scope: SettingsScope) -> dict[str, SettingValue]:
    tier = SourceTier.USER if scope is SettingsScope.USER else SourceTier.WORKSPACE
    file = read_settings_file(path, tier, {})
    found = None if file is None else file.find(SettingKey(_KEY))
    return {} if found is None else found.members()


def validate_server_url(url: str) -> None:
    """Raises UsageError for an invalid URL. One with variable references is checked only when it is used."""
    if not url.lower().startswith(("http://", "https://")):
        raise UsageError(lazy("A server address must start with http:// or https://."))
    if "$" in url:
        return
    try:
        parse_url(url)
    except HttpFailure as failure:
        raise UsageError(failure.message) from None
