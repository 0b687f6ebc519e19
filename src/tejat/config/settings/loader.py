"""Loading and merging of the settings of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.config.files.reader import allowed_writers, read_config_file
from tejat.config.paths import SETTINGS_FILE, AppPaths, SourceTier, same_directory
from tejat.config.settings.admin import apply_admin_settings
from tejat.config.settings.types import DEFAULT_SETTINGS, McpServer, Setting, SettingProblem, Settings
from tejat.core.approval.modes import SandboxRequest
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy, map_lazy

if TYPE_CHECKING:
    from tejat.config.settings.file import SettingsError, SettingsFile


def load_settings(
    paths: AppPaths,
    roots: Sequence[str],
    *,
    trusted: bool,
    environment: Mapping[str, str],
    project_variables: Mapping[str, str] = MappingProxyType({}),
) -> Settings:
    """Load the settings as the files are now. See `SettingsLoader.load`."""
    return SettingsLoader(paths).load(
        roots, trusted=trusted, environment=environment, project_variables=project_variables
    )


class SettingsLoader:
    """Loads the settings of one start: every file is read once, however often the settings are merged.

    `files` are those that counted in the last load, lowest precedence first. With a list of `faults` errors are added
    to it, and the file or value is left out, instead of being raised. `servers` are more MCP servers; they replace
    those of the settings that have the same names.
    """

    def __init__(
        self,
        paths: AppPaths,
        *,
        faults: list[ConfigurationError] | None = None,
        servers: Mapping[str, Setting[McpServer]] = MappingProxyType({}),
    ) -> None:
        self._servers = servers
        self.files: tuple[SettingsFile, ...] = ()
        self._faults = faults
        self._paths = paths
        self._files: dict[tuple[str, SourceTier], SettingsFile | None] = {}
        self._last_merge: tuple[object, Settings] | None = None

    def load(
        self,
        roots: Sequence[str],
        *,
        trusted: bool,
        environment: Mapping[str, str],
        project_variables: Mapping[str, str] = MappingProxyType({}),
    ) -> Settings:
        """Merge the settings for these root directories: the first is the project, the others only add exclude lists.

        References in the files name variables of `environment`, those of projects also `project_variables`. Raises
        SettingsError for a broken file or a wrong value, UsageError for a file that cannot be read.
        """
        defaults = environment.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
        overrides = environment.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
        project = self._project_paths(roots[:1] if trusted else [])
        restricted = self._project_paths(roots[1:] if trusted else roots)
        of_project = {**project_variables, **environment}
        obeyed = self._read(project, SourceTier.WORKSPACE, of_project)
        partly = self._read(restricted, SourceTier.WORKSPACE, of_project)
        whole = [
            *self._read(self._admin_paths("system-defaults.json", defaults), SourceTier.ADMIN, environment),
            *self._read([self._paths.user_settings], SourceTier.USER, environment),
            *obeyed,
            *self._read([self._paths.own_settings], SourceTier.USER, environment),
            *self._read(self._admin_paths(SETTINGS_FILE, overrides), SourceTier.ADMIN, environment),
        ]
        self.files = tuple(whole)
        merged = self._merge_once(whole, partly, (dict(environment), of_project))
        if merged.environment_blocked:
            hidden = {entry.value.upper() for entry in merged.environment_blocked}
            reread = [_without_variables(file, hidden, environment, of_project) for file in whole]
            merged = replace(merged, mcp_servers=_merge(reread, (), self.report_fault).mcp_servers)
        if self._servers:
            merged = replace(merged, mcp_servers={**merged.mcp_servers, **self._servers})
        merged = apply_admin_settings(merged)
        if merged.base_url is not None:
            merged = replace(merged, base_url_model=_model_of_user(whole))
        model = environment.get("GEMINI_MODEL", "").strip()
        return replace(
            merged,
            model_name=Setting(model, "GEMINI_MODEL", SourceTier.USER) if model else merged.model_name,
            sandbox=_sandbox_from_environment(environment, merged.sandbox),
            include_directories=tuple(_resolve_paths(merged.include_directories, self._paths, roots)),
            custom_ignore_files=tuple(_resolve_paths(merged.custom_ignore_files, self._paths, roots)),
        )

    def _merge_once(
        self, whole: Sequence[SettingsFile], partly: Sequence[SettingsFile], environments: tuple[dict[str, str], ...]
    ) -> Settings:
        """Merge the files. Most projects have none, and then the result is that for the user alone."""
        if not (whole or partly):
            return DEFAULT_SETTINGS
        merge = [[(file.path, file.tier) for file in files] for files in (whole, partly)], environments
        if self._last_merge is None or self._last_merge[0] != merge:
            self._last_merge = merge, _merge(whole, partly, self.report_fault)
        return self._last_merge[1]

    def _admin_paths(self, name: str, added: str | None) -> list[str]:
        """The administrator's files, lowest precedence first. One named by a variable only adds."""
        paths = [os.path.join(directory, name) for directory in reversed(self._paths.admin)]
        return [os.path.abspath(added), *paths] if added else paths

    def _project_paths(self, roots: Sequence[str]) -> list[str]:
        """The projects' files. In the home directory it would be the user's own, whatever it is called there."""
        directories = (os.path.join(root, ".gemini") for root in dict.fromkeys(roots))
        return [
            os.path.join(directory, SETTINGS_FILE)
            for directory in directories
            if not same_directory(directory, self._paths.gemini)
        ]

    def _read(self, paths: Sequence[str], tier: SourceTier, environment: Mapping[str, str]) -> list[SettingsFile]:
        for path in paths:
            if (path, tier) not in self._files:
                try:
                    self._files[path, tier] = read_settings_file(path, tier, environment)
                except ConfigurationError as error:
                    self._files[path, tier] = None
                    self.report_fault(error)
        files = (self._files[path, tier] for path in paths)
        return [file.with_environment(environment) for file in files if file is not None]

    def report_fault(self, error: ConfigurationError) -> None:
        """Add an error to the faults. Raises it if there is no list of them."""
        if self._faults is None:
            raise error
        if str(error) not in map(str, self._faults):
            self._faults.append(error)


def read_settings_file(path: str, tier: SourceTier, environment: Mapping[str, str]) -> SettingsFile | None:
    """The settings in the file, None if there is none, as for most paths. The environment is for references in it.

    Raises SettingsError, and ConfigurationError where the file cannot be read or others could have written it.
    """
    text = read_config_file(path, writers=allowed_writers(path, tier))
    if text is None:
        return None
    from tejat.config.settings.file import parse_settings_file

    return parse_settings_file(text, path, tier, environment)


def _merge(
    whole: Sequence[SettingsFile], partly: Sequence[SettingsFile], on_fault: Callable[[ConfigurationError], None]
) -> Settings:
    # Imported late: most runs have no such file.
    from tejat.config.settings.merge import find_name_conflicts
    from tejat.config.settings.reader import SettingReader
    from tejat.config.settings.schema import SETTINGS

    values: dict[str, object] = {}
    problems: dict[SettingProblem, None] = {}
    conflicts: tuple[Setting[str], ...] = ()

    def collect(error: SettingsError) -> None:
        if error.value is None or error.ends_runs:
            on_fault(error)
        else:
            problems[error.value] = None

    def raise_unless_replaced(error: SettingsError) -> None:
        from tejat.config.settings.file import ReplacedValue

        handle = collect if isinstance(error, ReplacedValue) else on_fault
        handle(error)

    for row in SETTINGS:
        files = [*partly, *whole] if row.restricts else whole
        handle = raise_unless_replaced if row.protects or row.must_be_valid else collect
        reader = SettingReader(files, row.key, row.read, handle, is_text=row.is_text)
        values[row.field] = row.merge(reader, getattr(DEFAULT_SETTINGS, row.field))
        if row.field == "mcp_servers":
            conflicts = find_name_conflicts(reader)
    known = tuple(row.key for row in SETTINGS if row.restricts)
    merged = replace(
        DEFAULT_SETTINGS,
        **values,
        mcp_name_conflicts=conflicts,
        files=tuple(file.path for file in [*partly, *whole]),
        ignored_files=tuple(file.path for file in partly if file.sets_other_than(known)),
        problems=tuple(problems),
    )
    if merged.hooks:
        _check_hooks(merged, on_fault)
    return merged


def _model_of_user(files: Sequence[SettingsFile]) -> Setting[str] | None:
    """The model that files other than the project's name: a project must not decide who gets which key."""
    from tejat.config.settings.file import SettingValue
    from tejat.config.settings.reader import SettingReader
    from tejat.config.settings.schema import setting_key

    # Wrong values were reported when the setting itself was read.
    reader = SettingReader(files, setting_key("model.name"), SettingValue.string, lambda _: None, is_text=True)
    named = [parsed.found for parsed in reader.without_project().values()]
    return named[-1].setting(named[-1].string()) if named else None


def _check_hooks(settings: Settings, on_fault: Callable[[ConfigurationError], None]) -> None:
    """An invalid hook may be a guard, so it is an error unless it is disabled."""
    from tejat.config.hooks import parse_hooks
    from tejat.config.settings.file import SettingsError

    for hook in parse_hooks(settings.hooks, settings.hooks_switches).hooks:
        if hook.problem:
            path, _, line = hook.source.rpartition(":")
            value = SettingProblem(
                path, int(line), f"hooks.{hook.event_name}", lazy("a list of hooks"), lazy("invalid")
            )
            start = f"{hook.source}: "
            why = map_lazy(hook.problem, lambda text, start=start: text.removeprefix(start).removesuffix("."))
            on_fault(SettingsError(lazy("line {line}: {problem}", line=line, problem=why), path=path, value=value))


def _without_variables(
    file: SettingsFile, hidden: Container[str], environment: Mapping[str, str], of_project: Mapping[str, str]
) -> SettingsFile:
    """The same file, in which references to hidden variables stay as they are written."""
    known = of_project if file.tier is SourceTier.WORKSPACE else environment
    return file.with_environment({name: value for name, value in known.items() if name.upper() not in hidden})


def _sandbox_from_environment(
    environment: Mapping[str, str], default: Setting[SandboxRequest]
) -> Setting[SandboxRequest]:
    word = environment.get("GEMINI_SANDBOX", "").strip()
    if not word:
        return default
    # Imported late: most runs have no such variable.
    from tejat.config.settings.sandbox import override_sandbox

    return override_sandbox(default, word, "GEMINI_SANDBOX")


def _resolve_paths(entries: Iterable[Setting[str]], paths: AppPaths, roots: Sequence[str]) -> Iterable[Setting[str]]:
    """Resolve paths relative to the project; `~` is the home directory."""
    base = roots[0] if roots else "."
    for entry in entries:
        start, slash, rest = entry.value.partition("/")
        path = f"{paths.home}{slash}{rest}" if start == "~" else entry.value
        yield replace(entry, value=os.path.abspath(os.path.join(base, path)))
