"""Variables in the texts of an extension: `${extensionPath}` and its like, and environment variables."""

import os
import re
from collections.abc import Collection, Mapping

from tejat.config.env_expansion import is_secret
from tejat.config.extensions.active import ActiveExtension
from tejat.core.frozen import Frozen, field

_PLACES = r"\$\{(?P<place>extensionPath|workspacePath|/|pathSeparator)\}"
_REFERENCE = (
    _PLACES
    + r"|\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<otherwise>[^}]*))?\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))"
)
_BUILT_PATH = r"\$\{extensionPath\}((?:\$\{(?:/|pathSeparator)\}|[^\s\"'`:;,|&<>()$])*)"
_SEPARATOR = r"\$\{(?:/|pathSeparator)\}"


class ExtensionVariables(Frozen):
    """The values of the variables of one extension in one session. `settings` are the values the user gave it."""

    extension_path: str
    workspace_path: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    settings: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def places(self) -> dict[str, str]:
        """The variables of the extension itself with their values, as written."""
        return ActiveExtension("", "", self.extension_path).places(self.workspace_path)

    def expand(self, text: str) -> str:
        """Fill in all variables, for the manifest and for hooks. What is filled in is not expanded again.

        Variables that look like secrets are filled in only if they are settings of this extension. Unknown names stay
        as they are written.
        """
        return re.sub(_REFERENCE, self._value_of, text) if "$" in text else text

    def _value_of(self, found: re.Match[str]) -> str:
        if found["place"] is not None:
            return self.places[found[0]]
        name = found["braced"] or found["bare"]
        value = self.settings.get(name)
        if value is None:
            value = self.environment.get(name)
            if value is not None and is_secret(name, value):
                return found[0]
        # As in a shell, `:-` also replaces an empty value.
        if found["otherwise"] is not None:
            return value or found["otherwise"]
        return found[0] if value is None else value


def find_references(text: str, names: Collection[str]) -> set[str]:
    """Which of these variables a text refers to, without a default for them."""
    found = (each for each in re.finditer(_REFERENCE, text) if each["otherwise"] is None)
    return {name for each in found if (name := each["braced"] or each["bare"]) in names}


def leads_out(text: str) -> bool:
    """Whether a text builds a path from `${extensionPath}` with `..` that leads out of the extension."""
    for found in re.finditer(_BUILT_PATH, text):
        rest = re.sub(_SEPARATOR, "/", found[1]).lstrip("/")
        if os.path.normpath(rest or ".").split("/")[0] == "..":
            return True
    return False
