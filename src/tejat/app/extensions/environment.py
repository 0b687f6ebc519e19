"""The configuration in which extensions are managed, and what is installed in it."""

import os
from collections.abc import Mapping

from tejat.app.commands.builtin import builtin_names
from tejat.app.extensions.description.contents import ExtensionContents, read_contents
from tejat.app.extensions.description.summary_builder import ExtensionOrigin, NamesInUse
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.run_config import RunConfig
from tejat.config.custom_commands import find_custom_commands
from tejat.config.extensions.consent_store import ExtensionConsent
from tejat.config.extensions.install_record import InstallType, extension_id
from tejat.config.extensions.loader import ExtensionState, FoundExtension, FoundExtensions, find_extensions
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.extensions.settings_values import ExtensionSettingsStore
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.types import Settings
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import _


class ExtensionEnvironment:
    """Paths, settings and folder of the user, and the installed extensions as they are now."""

    def __init__(self, run_config: RunConfig) -> None:
        self.run_config = run_config

    @property
    def paths(self) -> AppPaths:
        return self.run_config.paths

    @property
    def settings(self) -> Settings:
        return self.run_config.settings

    @property
    def root(self) -> str:
        return self.run_config.roots[0]

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment of the user, without what the `.env` of a project adds.

        A project must not choose the host that gets the token, nor the certificates that are believed.
        """
        known = self.run_config.environment
        return {name: value for name, value in os.environ.items() if known.get(name) == value}

    def find_all(self) -> FoundExtensions:
        """All installed extensions, also disabled ones compared with what was agreed to. Changes nothing."""
        return find_extensions(self.paths, self.root, self.settings, takes_over=False, checks_all=True)

    def find(self, name: str) -> FoundExtension:
        """Raises ExtensionFailure."""
        found = self.find_all().find(name)
        if found is None:
            raise ExtensionFailure(_("Extension not found."))
        return found

    def require_manifest(self, found: FoundExtension) -> ExtensionManifest:
        """Raises ExtensionFailure for an extension that is broken or blocked."""
        if found.manifest is None or found.state in (ExtensionState.BROKEN, ExtensionState.BLOCKED):
            message = _('Extension "{name}" cannot be used: {reason}', name=found.name, reason=found.reason)
            raise ExtensionFailure(message)
        return found.manifest

    def settings_store(self, found: FoundExtension) -> ExtensionSettingsStore:
        return ExtensionSettingsStore(
            self.paths,
            found.directory,
            found.name,
            extension_id(found.name, found.record),
            self.root,
            is_trusted=self.run_config.trust.is_trusted,
        )

    def read_contents(self, found: FoundExtension) -> ExtensionContents:
        """Raises ExtensionFailure and ConfigurationError."""
        return read_contents(found.path, self.require_manifest(found), workspace=self.root)

    def names_in_use(self, *, besides: str = "") -> NamesInUse:
        """Names of commands, skills, agents and servers that count already, without those of one extension."""
        commands = dict.fromkeys(builtin_names(), _("a built-in command"))
        custom = find_custom_commands(self.paths, self.root, self.run_config.trust).commands
        commands |= dict.fromkeys(custom, _("a command of yours or of this project"))
        servers = {
            name: setting.source
            for name, setting in self.settings.mcp_servers.items()
            if setting.tier is not SourceTier.EXTENSION
        }
        skills: dict[str, str] = {}
        agents: dict[str, str] = {}
        for found in self.find_all().extensions:
            if found.state is not ExtensionState.ENABLED or found.name.lower() == besides.lower():
                continue
            try:
                contents = self.read_contents(found)
            except (ConfigurationError, ExtensionFailure):
                continue
            owner = _("the extension {name}", name=found.name)
            commands |= dict.fromkeys(contents.commands, owner)
            servers |= dict.fromkeys(contents.servers, owner)
            skills |= {skill.name: owner for skill in contents.skills}
            agents |= {agent.name: owner for agent in contents.agents}
        return NamesInUse(commands, skills, agents, servers)


def origin_of(found: FoundExtension, consent: ExtensionConsent | None = None) -> ExtensionOrigin:
    """The origin of an installed extension."""
    record = found.record
    return ExtensionOrigin(
        source=_("unknown") if record is None else record.source,
        type=_("no install record") if record is None else record.type.value,
        place=found.path,
        ref="" if record is None else record.ref,
        revision=("" if record is None else record.release_tag) or ("" if consent is None else consent.revision),
        writers=describe_writers(found.path),
        follows=consent is not None and consent.follows,
    )


def describe_writers(path: str) -> str:
    """Who else can change a directory, empty if only the user can."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return _("its owner, another user")
    if status.st_mode & 0o002:
        return _("everybody")
    return _("its group") if status.st_mode & 0o020 else ""


def is_link(found: FoundExtension) -> bool:
    return found.record is not None and found.record.type is InstallType.LINK
