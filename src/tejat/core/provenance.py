"""Where a tool, rule, skill, agent or command comes from."""

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum


class ToolSource(StrEnum):
    """Origin of a tool, in the order of the declarations. Python tools are plug-ins or those of the calling program."""

    BUILT_IN = "built-in"
    PYTHON = "python"
    DISCOVERED = "discovered"
    MCP = "mcp"


class Party(StrEnum):
    """Whose configuration something is. Only the first three may loosen a restriction."""

    BUILT_IN = "builtin"
    MACHINE = "machine"
    USER = "user"
    EXTENSION = "extension"
    PROJECT = "project"

    @property
    def may_loosen(self) -> bool:
        return self not in (Party.EXTENSION, Party.PROJECT)


class Provenance(Frozen):
    """The party and the file of something, and the name of its extension. Built-in things have no path."""

    party: Party
    path: str = ""
    extension: str = ""

    @property
    def label(self) -> str:
        """The party in words, as shown to the user."""
        match self.party:
            case Party.BUILT_IN:
                return _("built-in")
            case Party.MACHINE:
                return _("administrator")
            case Party.USER:
                return _("user")
            case Party.EXTENSION:
                return _("extension {name}", name=self.extension)
            case Party.PROJECT:
                return _("project")

    @property
    def prefix(self) -> str:
        """What a qualified name begins with: `user` in `user:reviewer`, the extension's name for an extension."""
        return self.extension if self.party is Party.EXTENSION else self.party.value
