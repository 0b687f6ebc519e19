"""Extensions in use."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tejat.core.frozen import Frozen, field

if TYPE_CHECKING:
    from tejat.config.extensions.consent_store import ExtensionConsent
    from tejat.config.extensions.loader import FoundExtension
    from tejat.config.extensions.manifest import ExtensionManifest
    from tejat.config.extensions.pinned import PinnedExtension
    from tejat.config.hooks import HookConfig
    from tejat.config.policy_files import PolicyFile

SETTINGS_FILE = ".env"
"""The user's values for an extension, in its directory. They are not part of it."""


class ActiveExtension(Frozen):
    """An extension whose content was agreed to and checked. `path` is the directory with its files.

    `directory` is the one in `~/.gemini/extensions`, another than `path` for a link. `values` are its settings by
    variable, `missing_settings` the names of those without a value. `blocked_servers` are servers that are not started,
    with the reason. `pinned` tells whether its files are still what was agreed to.
    """

    name: str
    version: str
    path: str
    directory: str = ""
    manifest: "ExtensionManifest | None" = field(default=None, repr=False, compare=False)
    consent: "ExtensionConsent | None" = field(default=None, repr=False, compare=False)
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    missing_settings: tuple[str, ...] = ()
    blocked_servers: Mapping[str, str] = field(default_factory=dict[str, str])
    pinned: "PinnedExtension | None" = field(default=None, repr=False, compare=False)

    @property
    def plan_directory(self) -> str:
        """Where it wants plans to be written, relative to the project; empty for nowhere."""
        return "" if self.manifest is None else self.manifest.plan_directory

    def places(self, workspace: str) -> dict[str, str]:
        """The variables `${extensionPath}` and its like with their values in a workspace."""
        return {
            "${extensionPath}": self.path,
            "${workspacePath}": workspace,
            "${/}": os.sep,
            "${pathSeparator}": os.sep,
        }

    def expand_places(self, text: str, workspace: str) -> str:
        """Fill in these variables in a text for the model, which never gets a value of a setting."""
        return fill_places(text, self.places(workspace)) if "${" in text else text


def fill_places(text: str, places: Mapping[str, str]) -> str:
    """Fill in the variables of an extension. What is filled in is not looked at again."""
    return re.sub(_PLACE, lambda found: places.get(found[0], found[0]), text)


_PLACE = r"\$\{(?:extensionPath|workspacePath|/|pathSeparator)\}"


class ExtensionEffects(Frozen):
    """What extensions bring into a session beside settings.

    `rules` are policy files of those in use and of those that changed since they were agreed to, `hooks` of those in
    use, `secrets` the values of their settings that must not be stored or sent anywhere, by variable. `warnings` say
    which are left out, `unreviewed` are those of them that are new or changed.
    """

    rules: "tuple[PolicyFile, ...]" = ()
    hooks: "tuple[HookConfig, ...]" = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    warnings: tuple[str, ...] = ()
    unreviewed: "tuple[FoundExtension, ...]" = ()


NO_EFFECTS = ExtensionEffects()
