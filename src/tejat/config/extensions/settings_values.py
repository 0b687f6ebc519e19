"""Values of the settings of extensions, as the user gave them here or to Gemini CLI.

Values that are not sensitive are in the `.env` of the extension, or of a workspace. Sensitive ones are in the secret
service of the system if the package `keyring` is installed, under the names of Gemini CLI, else in a private file.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol, cast

from tejat.config.env_file import parse_env
from tejat.config.extensions.active import SETTINGS_FILE
from tejat.config.extensions.manifest import ExtensionManifest, ExtensionSetting
from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths, project_key
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.private_files import write_private_file

_LOCK_TIMEOUT = 5.0
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_ASSIGNMENT = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")


class SettingScope(StrEnum):
    """Where a value holds: everywhere, or in one workspace, which has precedence."""

    USER = "user"
    WORKSPACE = "workspace"


class StoredValue(NamedTuple):
    """A value and its scope."""

    value: str
    scope: SettingScope

    def __repr__(self) -> str:
        return f"StoredValue(scope={self.scope!r})"


class ExtensionSettingsStore(Frozen):
    """The values for one extension in one workspace.

    `directory` is the one in `~/.gemini/extensions`, `identifier` that of Gemini CLI. Without trust in the workspace,
    its values do not count.
    """

    paths: AppPaths
    directory: str
    name: str
    identifier: str
    workspace: str
    is_trusted: bool = True

    def read(self, manifest: ExtensionManifest) -> dict[str, StoredValue]:
        """The values by variable. Only declared variables are read. Raises ConfigurationError for an unusable file."""
        found: dict[str, StoredValue] = {}
        declared = manifest.effective_settings
        scopes = (SettingScope.USER, SettingScope.WORKSPACE) if self.is_trusted else (SettingScope.USER,)
        for scope in scopes if declared else ():
            for variable, value in self._read_scope(declared, scope).items():
                found[variable] = StoredValue(value, scope)
        return found

    def store(self, setting: ExtensionSetting, value: str, scope: SettingScope = SettingScope.USER) -> None:
        """Store a value. An empty one removes it. Raises UsageError, also for a value with line breaks."""
        if any(character in value for character in "\n\r\0"):
            raise UsageError(lazy("The value of {name} must be one line.", name=setting.name))
        if not value:
            self.remove(setting, scope)
        elif not setting.is_sensitive:
            self._change_file(self._plain_path(scope), setting.variable, value)
        elif not self._store_in_keyring(setting, value, scope):
            make_private_directory(self.paths.extension_settings)
            self._change_file(self._secret_path(scope), setting.variable, value)

    def remove(self, setting: ExtensionSetting, scope: SettingScope = SettingScope.USER) -> None:
        """Remove a value, if there is one. Raises UsageError."""
        self._change_file(self._plain_path(scope), setting.variable, None)
        if setting.is_sensitive:
            self._change_file(self._secret_path(scope), setting.variable, None)
            keyring = load_keyring()
            if keyring is not None:
                with suppress(Exception):  # there is none, or the service is not available
                    keyring.delete_password(self._service(scope), setting.variable)

    def remove_all(self, manifest: ExtensionManifest) -> None:
        """Remove the values for all workspaces that are not in files of these. Raises UsageError."""
        for setting in manifest.settings:
            self.remove(setting)
        with suppress(FileNotFoundError):
            for name in os.listdir(self.paths.extension_settings):
                if name == f"{self.name}.env" or re.fullmatch(rf"{re.escape(self.name)}\.[0-9a-f]{{16}}\.env", name):
                    os.unlink(os.path.join(self.paths.extension_settings, name))

    def secret_location(self, scope: SettingScope = SettingScope.USER) -> str:
        """The file in which a sensitive value is stored in plain text, empty if the secret service is used."""
        return "" if load_keyring() is not None else self._secret_path(scope)

    def _read_scope(self, declared: tuple[ExtensionSetting, ...], scope: SettingScope) -> dict[str, str]:
        sensitive = {setting.variable for setting in declared if setting.is_sensitive}
        plain = {setting.variable for setting in declared} - sensitive
        found = _select(_read_values(self._plain_path(scope)), plain) if plain else {}
        if sensitive:
            found |= _select(_read_values(self._secret_path(scope)), sensitive)
            found |= self._read_keyring(sensitive - found.keys(), scope)
        return found

    def _read_keyring(self, variables: set[str], scope: SettingScope) -> dict[str, str]:
        keyring = load_keyring() if variables else None
        found: dict[str, str] = {}
        for variable in variables if keyring is not None else ():
            with suppress(Exception):  # the service is not available: the value counts as missing
                value = keyring.get_password(self._service(scope), variable) if keyring is not None else None
                if value:
                    found[variable] = value
        return found

    def _store_in_keyring(self, setting: ExtensionSetting, value: str, scope: SettingScope) -> bool:
        keyring = load_keyring()
        if keyring is None:
            return False
        try:
            keyring.set_password(self._service(scope), setting.variable, value)
        except Exception:  # noqa: BLE001 -- whatever the service raises, the private file takes its place
            return False
        self._change_file(self._secret_path(scope), setting.variable, None)
        return True

    def _service(self, scope: SettingScope) -> str:
        service = f"Gemini CLI Extensions {self.name} {self.identifier}"
        return service if scope is SettingScope.USER else f"{service} {self.workspace}"

    def _plain_path(self, scope: SettingScope) -> str:
        return os.path.join(self.directory if scope is SettingScope.USER else self.workspace, SETTINGS_FILE)

    def _secret_path(self, scope: SettingScope) -> str:
        part = "" if scope is SettingScope.USER else f".{project_key(self.workspace)}"
        return os.path.join(self.paths.extension_settings, f"{self.name}{part}.env")

    def _change_file(self, path: str, variable: str, value: str | None) -> None:
        """Set or remove one variable; everything else in the file stays. Raises UsageError."""
        try:
            make_private_directory(self.paths.locks)
            with file_lock(self.paths.lock(path), timeout=_LOCK_TIMEOUT):
                text = read_config_file(path, writers=AllowedWriters.TRUSTED)
                if text is None and value is None:
                    return
                lines = (text or "").splitlines()
                kept = [line for line in lines if (found := _ASSIGNMENT.match(line)) is None or found[1] != variable]
                if value is None and kept == lines:
                    return
                added = [] if value is None else [f"{variable}={_quote(value)}"]
                write_private_file(path, "".join(f"{line}\n" for line in (*kept, *added)), follow_symlinks=False)
        except OSError as error:
            raise UsageError(lazy("Could not write {path}: {why}.", path=path, why=error.strerror)) from error


class Keyring(Protocol):
    """The part of the package `keyring` that is used."""

    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...
    def delete_password(self, service_name: str, username: str) -> None: ...


@cache
def load_keyring() -> Keyring | None:
    """The secret service of the system, None if the package is not installed."""
    return cast("Keyring", import_module("keyring")) if find_spec("keyring") is not None else None


def find_missing(manifest: ExtensionManifest, values: Mapping[str, object]) -> tuple[ExtensionSetting, ...]:
    """The settings without a value."""
    return tuple(setting for setting in manifest.effective_settings if setting.variable not in values)


def _read_values(path: str) -> dict[str, str]:
    """Raises ConfigurationError."""
    return parse_env(read_config_file(path, writers=AllowedWriters.TRUSTED) or "")


def _select(values: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name in names and value}


def _quote(value: str) -> str:
    if _PLAIN_VALUE.fullmatch(value):
        return value
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
