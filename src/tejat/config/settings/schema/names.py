"""Names in settings files that are not in the schema."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tejat.config.settings.schema import SETTINGS

if TYPE_CHECKING:
    from tejat.config.jsonc import JsonNode
    from tejat.config.settings.file import SettingsFile

_FREE_FORM = ("mcpServers.", "agents.overrides.")
"""Objects in the schema whose members have free names."""


def has_other_names(files: "Iterable[SettingsFile]") -> bool:
    """Whether a file has a name that is not in the schema, so that the table of known keys must be read."""
    known = {name for row in SETTINGS for name in row.key.names}
    return any(
        name not in known and not name.startswith(_FREE_FORM) for file in files for name in leaf_names(file.members)
    )


def leaf_names(members: "Mapping[str, JsonNode]", before: str = "") -> Iterator[str]:
    """The names of the values in these members and in the objects among them. Null is no value."""
    for name, node in members.items():
        if isinstance(node.value, dict) and node.value:
            yield from leaf_names(node.value, f"{before}{name}.")
        elif node.value is not None:
            yield before + name
