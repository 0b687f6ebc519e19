"""The configuration of a run: paths, settings, trust and environment, loaded in two steps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.config.credentials import read_api_keys, vertex_switch
from tejat.config.env_expansion import is_secret
from tejat.config.env_file import EnvFile, find_env_file, load_env_file
from tejat.config.extensions.active import NO_EFFECTS
from tejat.config.paths import POLICY_DIRECTORY, PROJECT_SETTINGS, AppPaths, app_paths
from tejat.config.settings.loader import SettingsLoader
from tejat.config.settings.types import McpServer, Setting, Settings, SourceTier
from tejat.config.trust.decision import TrustDecision, TrustLevel, decide_trust
from tejat.core.agent.options import AgentOptions, option_name
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject

if TYPE_CHECKING:
    from tejat.config.extensions.active import ActiveExtension, ExtensionEffects
    from tejat.config.settings.file import SettingsFile
    from tejat.workspace.paths.ignore_rules import IgnoreOptions

CUSTOM_HEADERS_VARIABLE = "GEMINI_CLI_CUSTOM_HEADERS"
_MIN_SECRET_LENGTH = 8
_MAX_NAMES = 3
_PROJECT_RULES = f".gemini/{POLICY_DIRECTORY}/"


class RunConfig(Frozen):
    """Paths, settings, trust and environment of a run.

    `environment` includes the variables of the `.env` file, which is `environment_file`, and the stored API keys, of
    which `stored_keys` are those set nowhere else. `project_variables` are those of a project's `.env` that only its
    own settings may refer to. `trust_relevant_files` are the folder's own configuration files, trusted or not.
    `settings_files` are those that count. `notes` are for the user. `extensions` are those in use, and
    `extension_effects` what they bring beside settings. With `names_arguments` messages name the arguments of a program
    instead of flags.
    """

    roots: tuple[str, ...]
    paths: AppPaths
    settings: Settings
    trust: TrustDecision
    environment: Mapping[str, str] = field(repr=False)
    environment_file: str | None = None
    project_variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    stored_keys: tuple[str, ...] = ()
    trust_relevant_files: tuple[str, ...] = ()
    settings_files: tuple[SettingsFile, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()
    extensions: tuple[ActiveExtension, ...] = ()
    extension_effects: ExtensionEffects = NO_EFFECTS
    names_arguments: bool = False

    @property
    def is_untrusted(self) -> bool:
        """Whether trust is missing where it matters: a new folder without configuration of its own needs none."""
        is_harmless = self.trust.level is TrustLevel.UNKNOWN and not self.trust_relevant_files
        return not (self.trust.is_trusted or is_harmless)

    @property
    def is_strict(self) -> bool:
        """Whether any problem in the settings ends the run, by a variable or a setting."""
        variable = self.environment.get("TEJAT_STRICT_SETTINGS", "").strip().lower()
        return variable in ("1", "true") or self.settings.strict_settings.value

    @property
    def ignore_options(self) -> IgnoreOptions:
        from tejat.workspace.paths.ignore_rules import IgnoreOptions

        settings = self.settings
        files = tuple(entry.value for entry in settings.custom_ignore_files)
        return IgnoreOptions(settings.respect_git_ignore.value, settings.respect_gemini_ignore.value, files)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be stored or sent anywhere."""
        return tuple(self.named_secrets.values())

    @property
    def named_secrets(self) -> dict[str, str]:
        """The secrets by the names of their variables."""
        found = find_secrets({**self.project_variables, **self.environment})
        return {**found, **self.extension_effects.secrets} if self.extension_effects.secrets else found

    def reference_variables(self, tier: SourceTier) -> Mapping[str, str]:
        """The variables that the settings of this tier may refer to."""
        return {**self.project_variables, **self.environment} if tier is SourceTier.WORKSPACE else self.environment


def find_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment whose values look like secrets."""
    found = {
        name: value
        for name, value in environment.items()
        if len(value) >= _MIN_SECRET_LENGTH and is_secret(name, value)
    }
    return {**found, **_header_secrets(environment)} if CUSTOM_HEADERS_VARIABLE in environment else found


def _header_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of the headers that the user adds to requests."""
    from tejat.models.gemini.headers import custom_headers

    headers = custom_headers(environment)
    return {
        f"{CUSTOM_HEADERS_VARIABLE}_{name}": value
        for name, value in headers.items()
        if len(value) >= _MIN_SECRET_LENGTH
    }


class UserConfig(Frozen, eq=False):
    """The configuration before any project file counts: the user's settings, and whether the folder is trusted.

    `environment` is the one of the process. `load_project` adds the project's part without reading a file twice.
    """

    roots: tuple[str, ...]
    paths: AppPaths
    settings: Settings
    trust: TrustDecision
    environment: Mapping[str, str] = field(repr=False)
    loader: SettingsLoader = field(repr=False)
    names_arguments: bool = False

    def load_project(
        self,
        *,
        excluded_tools: Sequence[str] = (),
        servers: Sequence[str] | None = None,
        extensions: Sequence[str] | None = None,
        is_session: bool = False,
        uses_extensions: bool = True,
    ) -> RunConfig:
        """Load the project's part as far as the folder is trusted, and the extensions. Raises UsageError.

        `servers` replaces the server lists of the settings. `extensions` are the only ones to use; without
        `uses_extensions` none is looked at. In a session the user is told about extensions what is told once.
        """
        paths, roots, trust = self.paths, self.roots, self.trust
        file = self._load_env_file()
        environment = {**self.environment, **({} if file is None else file.values)}
        project_variables: Mapping[str, str] = {} if file is None or file.is_user_file else file.withheld
        stored_keys = {name: key for name, key in self._read_api_keys().items() if name not in environment}
        environment |= stored_keys
        settings = self.loader.load(
            roots, trusted=trust.is_trusted, environment=environment, project_variables=project_variables
        )
        environment |= vertex_switch(settings)
        settings = _restrict(settings, excluded_tools, servers, names_arguments=self.names_arguments)
        included = [entry.value for entry in settings.include_directories]
        relevant = tuple(_trust_relevant_files(trust, roots[0], settings))
        activated = None
        if uses_extensions and (extensions is not None or os.path.isdir(paths.extensions)):
            from tejat.app.extensions.session.activation import activate_extensions

            activated = activate_extensions(
                paths, roots, settings, trust, environment, selection=extensions, is_session=is_session
            )
            settings = activated.settings
        return RunConfig(
            tuple(dict.fromkeys((*roots, *(path for path in included if os.path.isdir(path))))),
            paths,
            settings,
            trust,
            environment,
            environment_file=None if file is None else file.path,
            project_variables=project_variables,
            stored_keys=tuple(stored_keys),
            trust_relevant_files=relevant,
            settings_files=self.loader.files,
            notes=(
                *_root_notes(roots[0], self.environment),
                *_startup_notes(trust, relevant, included),
                *_ignore_file_notes(settings),
                *_env_file_notes(paths, file),
                *(() if activated is None else activated.notes),
            ),
            extensions=() if activated is None else activated.extensions,
            extension_effects=NO_EFFECTS if activated is None else activated.effects,
            names_arguments=self.names_arguments,
        )

    def _read_api_keys(self) -> Mapping[str, str]:
        """Raises ConfigurationError unless the loader collects faults."""
        try:
            return read_api_keys(self.paths)
        except ConfigurationError as error:
            self.loader.report_fault(error)
            return {}

    def _load_env_file(self) -> EnvFile | None:
        """Raises ConfigurationError unless the loader collects faults."""
        try:
            return self._read_env_file()
        except ConfigurationError as error:
            self.loader.report_fault(error)
            return None

    def _read_env_file(self) -> EnvFile | None:
        """Raises ConfigurationError."""
        root, settings, is_trusted = self.roots[0], self.settings, self.trust.is_trusted
        found = find_env_file(self.paths, root, only_user_file=not is_trusted)
        if found is not None and not found.is_user_file and os.path.isfile(os.path.join(root, PROJECT_SETTINGS)):
            # A project may exclude variables too. References to variables of the file are not known yet: errors are
            # reported when the settings are loaded with them.
            settings = SettingsLoader(self.paths, faults=[]).load(
                self.roots, trusted=True, environment=self.environment
            )
        return load_env_file(
            self.paths,
            root,
            is_trusted=is_trusted,
            excluded=[entry.value for entry in settings.excluded_environment],
            environment=self.environment,
            allowed=(*settings.shell_environment.value, *settings.environment_allowed.value),
            ignores_local=settings.ignore_local_env.value,
        )


def load_user_config(
    directories: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    trusts_folder: bool = False,
    faults: list[ConfigurationError] | None = None,
    mcp_servers: Mapping[str, JsonObject] = MappingProxyType({}),
    names_arguments: bool = False,
) -> UserConfig:
    """Load the user's settings and decide whether the first directory is trusted. `mcp_servers` are added to them.

    Raises UsageError, except for errors in files if there is a list of `faults` to add them to.
    """
    process_environment = dict(os.environ if environment is None else environment)
    paths = app_paths(process_environment)
    roots = _absolute_paths(directories)
    loader = SettingsLoader(paths, faults=faults, servers=_parse_servers(mcp_servers))
    settings = loader.load((), trusted=False, environment=process_environment)
    trust = decide_trust(
        paths,
        roots[0],
        trust_for_run=trusts_folder,
        environment=process_environment,
        folder_trust=settings.folder_trust,
    )
    return UserConfig(roots, paths, settings, trust, process_environment, loader, names_arguments)


def load_startup_config(options: AgentOptions) -> UserConfig:
    """Load the user's part of the configuration. Raises UsageError."""
    return load_user_config(
        options.directories,
        environment=options.environment,
        trusts_folder=options.trusts_folder,
        mcp_servers=options.mcp_servers,
        names_arguments=options.names_arguments,
    )


def _parse_servers(servers: Mapping[str, JsonObject]) -> Mapping[str, Setting[McpServer]]:
    if not servers:
        return {}
    from tejat.config.mcp.added_servers import parse_added_servers

    return parse_added_servers(servers)


def load_agent_config(options: AgentOptions, user_config: UserConfig | None = None) -> RunConfig:
    """Load the configuration of an agent, or the project's part if the user's is loaded. Raises UsageError."""
    config = load_startup_config(options) if user_config is None else user_config
    return config.load_project(
        excluded_tools=options.excluded_tools,
        servers=options.servers,
        extensions=options.extensions,
        is_session=True,
    )


def load_run_config(
    directories: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    trusts_folder: bool = False,
    excluded_tools: Sequence[str] = (),
    servers: Sequence[str] | None = None,
    faults: list[ConfigurationError] | None = None,
    mcp_servers: Mapping[str, JsonObject] = MappingProxyType({}),
    names_arguments: bool = False,
) -> RunConfig:
    """Load the whole configuration of a run that asks the user nothing. Raises as `load_user_config` does.

    The order keeps a folder from deciding about itself: user settings, trust, project settings.
    """
    user_config = load_user_config(
        directories,
        environment=environment,
        trusts_folder=trusts_folder,
        faults=faults,
        mcp_servers=mcp_servers,
        names_arguments=names_arguments,
    )
    return user_config.load_project(excluded_tools=excluded_tools, servers=servers)


def _restrict(
    settings: Settings, excluded_tools: Sequence[str], servers: Sequence[str] | None, *, names_arguments: bool
) -> Settings:
    """Exclude tools, and use only these servers, but none that the administrator does not allow."""
    source = option_name("excluded_tools", names_arguments=names_arguments)
    excluded = (Setting(entry, source, SourceTier.USER) for entry in excluded_tools)
    settings = replace(settings, exclude=(*settings.exclude, *excluded)) if excluded_tools else settings
    if servers is None:
        return settings
    by_admin = settings.mcp_allowed if settings.mcp_allowed and settings.mcp_allowed.tier is SourceTier.ADMIN else None
    names = tuple(name for name in servers if by_admin is None or name in by_admin.value)
    source = option_name("servers", names_arguments=names_arguments)
    return replace(
        settings,
        mcp_allowed=Setting(names, source, SourceTier.USER),
        mcp_excluded=tuple(entry for entry in settings.mcp_excluded if entry.tier is SourceTier.ADMIN),
    )


def _absolute_paths(directories: Sequence[str]) -> tuple[str, ...]:
    """Raises UsageError."""
    try:
        return tuple(map(os.path.abspath, directories))
    except FileNotFoundError:
        raise UsageError(_("The current directory no longer exists. Change to another one.")) from None


def _trust_relevant_files(trust: TrustDecision, root: str, settings: Settings) -> list[str]:
    """The folder's own files that count only with trust: configuration, and context files for the model."""
    names = (name for name in settings.context_file_names.value if os.path.isfile(os.path.join(root, name)))
    return list(dict.fromkeys((*(item.path for item in trust.items), *names)))


def root_warning() -> str | None:
    """The warning for root, None for any other user."""
    if os.geteuid() != 0:
        return None
    return _("Running as root: edits and commands can change any file. Use your own account.")


def _root_notes(root: str, environment: Mapping[str, str]) -> list[str]:
    """The warning for root at work on files of another user, which is rarely meant."""
    is_among_own = environment.get("SUDO_UID", "0") == "0" and os.stat(root).st_uid == 0
    warning = None if is_among_own else root_warning()
    return [] if warning is None else [warning]


def _env_file_notes(paths: AppPaths, file: EnvFile | None) -> list[str]:
    if file is None or not file.ineffective_names:
        return []
    path, names = paths.abbreviate(file.path), ", ".join(file.ineffective_names)
    if file.is_user_file:
        return [_("{file} cannot set {names}. Set them in your environment.", file=path, names=names)]
    own = paths.abbreviate(os.path.join(paths.gemini, ".env"))
    return [_("{file} cannot set {names}. Set them in your environment or in {own}.", file=path, names=names, own=own)]


def _ignore_file_notes(settings: Settings) -> list[str]:
    missing = (entry for entry in settings.custom_ignore_files if not os.path.isfile(entry.value))
    return [
        _("The ignore file {path} does not exist ({source}).", path=entry.value, source=entry.source)
        for entry in missing
    ]


def _startup_notes(trust: TrustDecision, relevant: Sequence[str], included: Sequence[str]) -> list[str]:
    """Notes about unused configuration and about missing directories among those the settings include."""
    notes = [] if trust.problem is None else [trust.problem]
    # Rules of a project count without trust: they can only tighten.
    unused = [name for name in relevant if not name.startswith(_PROJECT_RULES)]
    if not trust.is_trusted and unused:
        names = ", ".join(unused[:_MAX_NAMES])
        if len(unused) > _MAX_NAMES:
            names = _("{names} and {count} more", names=names, count=len(unused) - _MAX_NAMES)
        note = _(
            "This folder is not trusted: its configuration is ignored ({names}). See `tejat trust`.",
            names=names,
        )
        if trust.level is TrustLevel.CHANGED:
            note = _(
                "This folder has changed since it was trusted: its configuration is ignored ({names}). "
                "See `tejat trust`.",
                names=names,
            )
        notes.append(note)
    missing = (path for path in included if not os.path.isdir(path))
    return notes + [_("The directory {path} in the settings does not exist.", path=path) for path in missing]
