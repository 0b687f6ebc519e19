"""Programs of an extension: its servers, their variables, and what keeps them from being started."""

from collections.abc import Iterator, Mapping

from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.extensions.variables import ExtensionVariables, find_references, leads_out
from tejat.config.jsonc import JsonNode
from tejat.config.settings.types import McpServer, Setting
from tejat.core.frozen import replace
from tejat.core.i18n import lazy


def read_servers(manifest: ExtensionManifest, variables: ExtensionVariables) -> dict[str, Setting[McpServer]]:
    """The servers of an extension with all variables filled in. Raises ConfigurationError."""
    added = program_environment(variables.settings)
    return {
        alias: replace(setting, value=replace(setting.value, environment={**added, **setting.value.environment}))
        for alias, setting in manifest.servers(variables.expand).items()
    }


def program_environment(values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the programs of an extension: its settings, and what keeps its directory unchanged."""
    # Compiled modules in its directory would be a change of the extension.
    return {"PYTHONDONTWRITEBYTECODE": "1", **values}


def blocked_servers(manifest: ExtensionManifest, missing: Mapping[str, str]) -> dict[str, str]:
    """The servers that are not started, with the reason: they name a setting without a value, or a path outside.

    `missing` are the names of settings by variable.
    """
    node = manifest.members.get("mcpServers")
    blocked: dict[str, str] = {}
    for alias, member in node.value.items() if node is not None and isinstance(node.value, dict) else ():
        texts = list(_texts_in(member))
        unset = {name for text in texts for name in find_references(text, missing)}
        if any(map(leads_out, texts)):
            blocked[alias] = lazy("It uses a path that leads out of the extension.")
        elif unset:
            blocked[alias] = missing_settings_message(missing, unset)
    return blocked


def missing_settings_message(missing: Mapping[str, str], variables: set[str]) -> str:
    """The reason why a program is not started. `missing` are the names of settings by variable."""
    return lazy("missing settings: {names}", names=", ".join(missing[each] for each in missing if each in variables))


def _texts_in(node: JsonNode) -> Iterator[str]:
    match node.value:
        case str(text):
            yield text
        case list(items):
            for item in items:
                yield from _texts_in(item)
        case dict(members):
            for member in members.values():
                yield from _texts_in(member)
        case _:
            pass
