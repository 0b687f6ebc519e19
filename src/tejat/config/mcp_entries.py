"""The entries of MCP servers in the settings files that a command may change: the person's own and the project's."""

import os
from collections.abc import Callable, Mapping
from enum import StrEnum

from tejat.config.own_file import Writers
from tejat.config.places import Places, SourceTier
from tejat.config.settings_edit import edit_settings, with_member, without_member
from tejat.config.settings_file import Key, is_same_directory, read_settings_file
from tejat.config.trust_renewal import Standing, edit_project_settings
from tejat.core.errors import UsageError
from tejat.core.types import JsonObject
from tejat.core.words import phrase
from tejat.workspace.http.address import read_url
from tejat.workspace.http.values import HttpFailure

_KEY = "mcpServers"


class Scope(StrEnum):
    """Whose settings are meant."""

    USER = "user"
    PROJECT = "project"


class ServerEntries:
    """The entries for the project in `root`, an absolute path. `environment` is the real one.

    Everything raises ConfigurationError for settings that cannot be relied on; what changes something raises UsageError
    and OSError too, and nothing is changed then.
    """

    def __init__(self, places: Places, root: str, environment: Mapping[str, str]) -> None:
        self._places = places
        self._root = root
        self._environment = environment

    @property
    def is_home(self) -> bool:
        """Whether the project's settings would be the person's own."""
        home = (self._places.home, os.path.dirname(self._places.gemini))
        own = is_same_directory(os.path.join(self._root, ".gemini"), self._places.gemini)
        return own or any(is_same_directory(self._root, directory) for directory in home)

    def path(self, scope: Scope) -> str:
        return os.path.join(self._places.gemini if scope is Scope.USER else f"{self._root}/.gemini", "settings.json")

    def names(self, scope: Scope) -> tuple[str, ...]:
        """The servers in the settings of that scope, whether they count or not."""
        if scope is Scope.PROJECT and self.is_home:
            return ()
        tier = SourceTier.USER if scope is Scope.USER else SourceTier.WORKSPACE
        file = read_settings_file(self.path(scope), tier, {})
        found = None if file is None else file.find(Key(_KEY))
        return () if found is None else tuple(found.members())

    def put(self, scope: Scope, name: str, entry: JsonObject) -> Standing:
        """Make this the entry of that name."""
        return self._edit(scope, lambda text: with_member(text, (_KEY, name), entry))

    def remove(self, scope: Scope, name: str) -> Standing:
        """Take out the entry of that name, if there is one."""
        return self._edit(scope, lambda text: without_member(text, (_KEY, name)))

    def _edit(self, scope: Scope, change: Callable[[str], str]) -> Standing:
        if scope is Scope.USER:
            edit_settings(self._places, self.path(scope), change, writers=Writers.TRUSTED)
            return Standing.TRUSTED
        self._refuse_to_leave()
        return edit_project_settings(self._places, self._root, change, environment=self._environment)

    def _refuse_to_leave(self) -> None:
        """A folder of somebody else's must not lead us to files that are none of its own."""
        path, root = self.path(Scope.PROJECT), os.path.realpath(self._root)
        if not os.path.realpath(path).startswith(f"{root.rstrip('/')}/"):
            raise UsageError(
                phrase(
                    "{path} leads out of {root} by a link, so it is not written. Edit the file it leads to.",
                    path=path,
                    root=root,
                )
            )


def check_address(url: str) -> None:
    """Raises UsageError for what is no address of a server. With references in it, it is known only when it is used."""
    if not url.lower().startswith(("http://", "https://")):
        raise UsageError(phrase("The address of a server begins with http:// or https://."))
    if "$" in url:
        return
    try:
        read_url(url)
    except HttpFailure as failure:
        raise UsageError(failure.message) from None
