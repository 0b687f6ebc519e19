"""Extensions in use."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tejat.core.frozen import field, frozen

if TYPE_CHECKING:
    from tejat.config.extensions.consent_store import ExtensionConsent
    from tejat.config.extensions.manifest import ExtensionManifest
    from tejat.config.extensions.pinned import PinnedExtension


@frozen
class ActiveExtension:
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

    def expand_places(self, text: str, workspace: str) -> str:
        """Fill in `${extensionPath}` and its like in a text for the model; never a value of a setting."""
        if "${" not in text:
            return text
        # Imported late: few texts have variables.
        from tejat.config.extensions.variables import ExtensionVariables

        return ExtensionVariables(self.path, workspace).expand_places(text)
