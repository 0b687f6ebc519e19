"""The extensions of a session: which are used, what they add, and what the user is told about it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tejat.app.extensions.session.notices import extension_notes, left_out_warnings
from tejat.app.extensions.session.programs import blocked_servers, read_servers
from tejat.app.extensions.session.server_merge import ExtensionServers, merge_servers
from tejat.config.env_expansion import is_secret
from tejat.config.extensions.active import ActiveExtension, ExtensionEffects
from tejat.config.extensions.consent_store import ExtensionConsent, read_consent_details
from tejat.config.extensions.install_record import InstallType, extension_id
from tejat.config.extensions.loader import ExtensionState, FoundExtension, find_extensions
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.extensions.pinned import PinnedExtension
from tejat.config.extensions.pins import HOOKS_FILE
from tejat.config.extensions.variables import ExtensionVariables
from tejat.config.files.reader import AllowedWriters, read_config_bytes
from tejat.config.paths import POLICY_DIRECTORY, AppPaths, SourceTier
from tejat.config.policy_files import PolicyFile
from tejat.config.settings.types import Setting, Settings
from tejat.config.trust.decision import TrustDecision
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.config.hooks import HookConfig
    from tejat.core.ui.theme_colours import ThemeColours

_MIN_SECRET_LENGTH = 4


class ActivatedExtensions(Frozen):
    """The settings with everything that extensions add, the extensions in use, and notes for the user."""

    settings: Settings
    extensions: tuple[ActiveExtension, ...]
    effects: ExtensionEffects
    notes: tuple[str, ...]


def activate_extensions(
    paths: AppPaths,
    roots: Sequence[str],
    settings: Settings,
    trust: TrustDecision,
    environment: Mapping[str, str],
    *,
    selection: Sequence[str] | None = None,
    is_session: bool = True,
) -> ActivatedExtensions:
    """Find the extensions for a session in the first of the roots and add what they bring to the settings.

    `selection` are the names of `--extensions`. Without `is_session` nothing is told once. Raises UsageError for an
    unknown name in the selection, and for settings that cannot be used.
    """
    found = find_extensions(paths, roots[0], settings, selection=selection)
    for name in selection or ():
        if found.find(name) is None:
            raise UsageError(lazy("Extension not found: {name}", name=name))
    blocked = {entry.value.upper() for entry in settings.environment_blocked}
    known = {name: value for name, value in environment.items() if name.upper() not in blocked}
    activation = _Activation(paths, roots[0], known, is_trusted=trust.is_trusted)
    states = [activation.add(each) for each in found.extensions]
    settings, server_notes = merge_servers(activation.apply_to(settings), activation.servers, known)
    warnings = (*found.problems, *left_out_warnings(states), *activation.warnings, *server_notes)
    unreviewed = tuple(each for each in states if each.state in (ExtensionState.NEW, ExtensionState.CHANGED))
    effects = ExtensionEffects(
        tuple(activation.rules), tuple(activation.hooks), activation.secrets, warnings, unreviewed
    )
    notes = extension_notes(paths, states, roots, is_session=is_session)
    return ActivatedExtensions(settings, tuple(activation.extensions), effects, notes)


class _Activation:
    """Collects what extensions add, one after the other."""

    def __init__(self, paths: AppPaths, root: str, environment: Mapping[str, str], *, is_trusted: bool) -> None:
        self._paths = paths
        self._root = root
        self._environment = environment
        self._is_trusted = is_trusted
        self.extensions: list[ActiveExtension] = []
        self.servers: list[tuple[ActiveExtension, ExtensionServers]] = []
        self.rules: list[PolicyFile] = []
        self.hooks: list[HookConfig] = []
        self.secrets: dict[str, str] = {}
        self.warnings: list[str] = []
        self._excluded: list[Setting[str]] = []

    def add(self, found: FoundExtension) -> FoundExtension:
        """Add an extension if it is enabled, and return it in its final state."""
        if found.state is ExtensionState.ENABLED:
            try:
                self._activate(found)
            except (UsageError, OSError) as error:
                reason = str(error).partition("\n")[0].removesuffix(".")
                found = replace(found, state=ExtensionState.BROKEN, reason=reason, is_restricting=True)
        if found.is_restricting and found.consent is not None:
            self._keep_restrictions(found, found.consent)
        return found

    def apply_to(self, settings: Settings) -> Settings:
        """The settings with the excluded tools and themes of the extensions in use."""
        themes = dict(settings.custom_themes)
        for extension in self.extensions:
            manifest = extension.manifest
            if manifest is None:
                continue
            if manifest.theme_names:
                for name, theme in self._themes(manifest):
                    shown = f"{name} ({extension.name})"
                    colours = replace(theme.value, name=shown)
                    themes.setdefault(shown, replace(theme, value=colours))
        return replace(settings, exclude=(*settings.exclude, *self._excluded), custom_themes=themes)

    def _themes(self, manifest: ExtensionManifest) -> "Iterator[tuple[str, Setting[ThemeColours]]]":
        try:
            for name, theme in manifest.themes().items():
                yield name, Setting(theme, manifest.path, SourceTier.EXTENSION)
        except ConfigurationError as error:
            why = str(error).partition("\n")[0]
            self.warnings.append(
                lazy("The themes of the extension {name} are not used. {why}", name=manifest.name, why=why)
            )

    def _activate(self, found: FoundExtension) -> None:
        """Raises UsageError and OSError if a part of it cannot be used; then nothing is added."""
        manifest, consent = found.manifest, found.consent
        assert manifest is not None
        assert consent is not None
        values = self._read_values(found, manifest) if manifest.settings else {}
        declared = manifest.effective_settings
        missing = {setting.variable: setting.name for setting in declared if setting.variable not in values}
        variables = ExtensionVariables(found.path, self._root, self._environment, values)
        pinned = PinnedExtension(self._paths, found.name, found.path, manifest.possible_context_files, consent)
        reader = _PinnedReader(found, pinned)
        rules = list(self._read_rules(found, reader))
        excluded = [_check_excluded_tool(_with_owner(entry, found.name)) for entry in manifest.excluded_tools]
        hooks = _read_hooks(found, reader, variables, missing) if HOOKS_FILE in consent.declared else ()
        servers = read_servers(manifest, variables)
        extension = ActiveExtension(
            found.name,
            manifest.version,
            found.path,
            found.directory,
            manifest,
            consent,
            values,
            tuple(missing.values()),
            blocked_servers(manifest, missing),
            pinned,
        )
        self.extensions.append(extension)
        self.servers.append((extension, servers))
        self.rules += rules
        self.hooks += hooks
        self._excluded += excluded
        self.secrets |= _secrets(manifest, values)
        if found.record is not None and found.record.type is InstallType.LINK:
            self.rules.append(_protected_source(found))

    def _read_values(self, found: FoundExtension, manifest: ExtensionManifest) -> dict[str, str]:
        from tejat.config.extensions.settings_values import ExtensionSettingsStore

        store = ExtensionSettingsStore(
            self._paths,
            found.directory,
            found.name,
            extension_id(found.name, found.record),
            self._root,
            self._is_trusted,
        )
        return {variable: stored.value for variable, stored in store.read(manifest).items()}

    def _read_rules(self, found: FoundExtension, reader: "_PinnedReader") -> Iterator[PolicyFile]:
        """Read the rules, which must be valid: a missing denial is worse than a missing extension."""
        assert found.consent is not None
        for relative in filter(_is_rule_file, sorted(found.consent.declared)):
            from tejat.app.extensions.session.rule_checks import check_rules

            path, text = os.path.join(found.path, relative), reader.read(relative)
            check_rules(text, path)
            yield PolicyFile(path, text, SourceTier.EXTENSION)

    def _keep_restrictions(self, found: FoundExtension, consent: ExtensionConsent) -> None:
        """Keep what was agreed to of the rules and excluded tools of an extension that is not used.

        What is invalid never counted: the extension was broken with it.
        """
        for tool in consent.excluded_tools:
            source = lazy("extension {name}, as it was agreed to", name=consent.name)
            with suppress(ConfigurationError):
                self._excluded.append(_check_excluded_tool(Setting(tool, source, SourceTier.EXTENSION)))
        if not any(map(_is_rule_file, consent.declared)):
            return
        from tejat.app.extensions.session.rule_checks import check_rules

        try:
            texts = read_consent_details(self._paths, consent).texts
        except ConfigurationError as error:
            self.warnings.append(
                lazy("The rules of the extension {name} cannot be kept: {why}", name=consent.name, why=error)
            )
            return
        for relative in filter(_is_rule_file, sorted(texts)):
            path = os.path.join(found.path, relative)
            with suppress(ConfigurationError):
                check_rules(texts[relative], path)
                self.rules.append(PolicyFile(path, texts[relative], SourceTier.EXTENSION))


class _PinnedReader:
    """Reads files of an extension, as they were agreed to."""

    def __init__(self, found: FoundExtension, pinned: PinnedExtension) -> None:
        self._root = found.path
        self._pinned = pinned

    def read(self, relative: str) -> str:
        """Raises ConfigurationError."""
        path = os.path.join(self._root, relative)
        content = read_config_bytes(path, writers=AllowedWriters.ANYONE)
        if content is None or not self._pinned.accepts_declared(relative, content):
            raise ConfigurationError(lazy("{path} changed while it was read", path=path), path=path)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigurationError(lazy("Could not read {path}: not UTF-8.", path=path), path=path) from None


def _with_owner(entry: Setting[str], name: str) -> Setting[str]:
    return replace(entry, source=lazy("{source}, extension {name}", source=entry.source, name=name))


def _check_excluded_tool(entry: Setting[str]) -> Setting[str]:
    """Raises PolicyError for an invalid entry."""
    from tejat.app.extensions.session.rule_checks import check_excluded_tool

    check_excluded_tool(entry)
    return entry


def _read_hooks(
    found: FoundExtension, reader: _PinnedReader, variables: ExtensionVariables, missing: Mapping[str, str]
) -> "tuple[HookConfig, ...]":
    """Raises ConfigurationError."""
    from tejat.app.extensions.session.extension_hooks import parse_extension_hooks

    path = os.path.join(found.path, HOOKS_FILE)
    return parse_extension_hooks(found.name, path, reader.read(HOOKS_FILE), variables, missing)


def _secrets(manifest: ExtensionManifest, values: Mapping[str, str]) -> dict[str, str]:
    sensitive = {setting.variable for setting in manifest.settings if setting.is_sensitive}
    return {
        # Another extension, or the environment, may have a variable of the same name.
        f"{manifest.name}.{name}": value
        for name, value in values.items()
        if len(value) >= _MIN_SECRET_LENGTH and (name in sensitive or is_secret(name, value))
    }


def _protected_source(found: FoundExtension) -> PolicyFile:
    """A file without rules, whose directory asks before it is changed: what is in there runs in later sessions."""
    source = lazy("linked extension {name}", name=found.name)
    return PolicyFile(found.path, "", SourceTier.EXTENSION, entry=Setting(found.path, source, SourceTier.EXTENSION))


def _is_rule_file(relative: str) -> bool:
    return relative.startswith(f"{POLICY_DIRECTORY}/") and relative.endswith(".toml")
