"""Reads the settings of a run: what system, person and project say, merged."""

import os
from collections.abc import Iterable, Mapping, Sequence

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.file import SettingsFile, read_settings_file, same_directory
from tejat.config.settings.merge import find_name_conflicts
from tejat.config.settings.parsers import SANDBOX_EXPECTED, SANDBOX_MODES
from tejat.config.settings.schema import MCP_SERVERS, RESTRICTIONS, SETTINGS
from tejat.config.settings.types import Setting, Settings, is_sandbox_required_by_admin
from tejat.core.approval.sandbox_mode import SandboxMode
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import gettext_lazy


def load_settings(paths: AppPaths, roots: Sequence[str], *, trusted: bool, environment: Mapping[str, str]) -> Settings:
    """The settings for these root directories; the first is the project, of the others only exclude lists count.

    Raises SettingsError for a file that is broken or holds a wrong value, UsageError for one that cannot be read.
    """
    files = _SettingsReader(paths, environment)
    obeyed = files.read_projects(roots[:1] if trusted else [])
    partly = files.read_projects(roots[1:] if trusted else roots)
    whole = [
        *files.read_admin("system-defaults.json", environment.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")),
        *files.read([os.path.join(paths.gemini, _FILE_NAME)], SourceTier.USER),
        *obeyed,
        *files.read_admin(_FILE_NAME, environment.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")),
    ]
    read = _merge(whole, partly) if whole or partly else Settings()
    return replace(
        read,
        model_name=_model_from_environment(environment) or read.model_name,
        sandbox=_sandbox_from_environment(environment, read.sandbox),
        include_directories=tuple(_resolve_directories(read.include_directories, paths, roots)),
    )


class _SettingsReader:
    def __init__(self, paths: AppPaths, environment: Mapping[str, str]) -> None:
        self._paths = paths
        self._environment = environment

    def read_admin(self, name: str, added: str | None) -> list[SettingsFile]:
        """Those of whoever runs the machine, the one with the last word last. One named by a variable only adds."""
        paths = [os.path.join(directory, name) for directory in reversed(self._paths.admin)]
        if added:
            paths.insert(0, os.path.abspath(added))
        return self.read(paths, SourceTier.ADMIN)

    def read_projects(self, roots: Sequence[str]) -> list[SettingsFile]:
        """Those of the projects. In the home directory it would be the person's own, whatever it is called there."""
        directories = (os.path.join(root, ".gemini") for root in dict.fromkeys(roots))
        others = [directory for directory in directories if not same_directory(directory, self._paths.gemini)]
        return self.read([os.path.join(directory, _FILE_NAME) for directory in others], SourceTier.WORKSPACE)

    def read(self, paths: list[str], tier: SourceTier) -> list[SettingsFile]:
        files = (read_settings_file(path, tier, self._environment) for path in paths)
        return [file for file in files if file is not None]


def _merge(whole: Sequence[SettingsFile], partly: Sequence[SettingsFile]) -> Settings:
    default = Settings()
    values = {row.field: row.merge(whole, row.key, row.read, getattr(default, row.field)) for row in SETTINGS}
    for row in RESTRICTIONS:
        values[row.field] = row.merge([*partly, *whole], row.key, row.read, ())
    known = tuple(row.key for row in RESTRICTIONS)
    return replace(
        default,
        **values,
        mcp_name_conflicts=find_name_conflicts(whole, MCP_SERVERS),
        files=tuple(file.path for file in [*partly, *whole]),
        ignored_files=tuple(file.path for file in partly if file.sets_other_than(known)),
    )


def _model_from_environment(environment: Mapping[str, str]) -> Setting[str] | None:
    name = environment.get("GEMINI_MODEL", "").strip()
    return Setting(name, "GEMINI_MODEL", SourceTier.USER) if name else None


def _sandbox_from_environment(environment: Mapping[str, str], default: Setting[SandboxMode]) -> Setting[SandboxMode]:
    word = environment.get("GEMINI_SANDBOX", "").strip().lower()
    if not word:
        return default
    if word not in SANDBOX_MODES:
        raise UsageError(
            gettext_lazy(
                "The environment variable GEMINI_SANDBOX must be {wanted}, but is {word!r}.",
                wanted=SANDBOX_EXPECTED,
                word=word,
            )
        )
    if is_sandbox_required_by_admin(default):
        return default
    return Setting(SANDBOX_MODES[word], "GEMINI_SANDBOX", SourceTier.USER)


def _resolve_directories(
    directories: Iterable[Setting[str]], paths: AppPaths, roots: Sequence[str]
) -> Iterable[Setting[str]]:
    """Relative to the project; `~` is the home directory."""
    base = roots[0] if roots else "."
    for entry in directories:
        start, slash, rest = entry.value.partition("/")
        path = f"{paths.home}{slash}{rest}" if start == "~" else entry.value
        yield replace(entry, value=os.path.abspath(os.path.join(base, path)))


_FILE_NAME = "settings.json"
