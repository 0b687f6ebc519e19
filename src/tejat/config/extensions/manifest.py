"""The manifest of an extension, `gemini-extension.json`."""

import json
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, cast

from tejat.config.credentials import API_KEY_NAMES
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.jsonc import JsoncError, JsonNode, parse_jsonc
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsError, SettingsFile, SettingValue
from tejat.config.settings.types import McpServer, Setting
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.config.env_expansion import ResolveEnv
    from tejat.config.jsonc import JsoncValue
    from tejat.core.ui.theme_colours import ThemeColours

MANIFEST = "gemini-extension.json"
DEFAULT_CONTEXT_FILE = "GEMINI.md"
MAX_NAME = 64
RESERVED_NAMES = frozenset({"none", "all", "user", "project", "builtin"})
"""Names with another meaning in flags and commands."""

FIELDS = frozenset(
    {
        *("name", "version", "description", "mcpServers", "contextFileName", "excludeTools", "settings", "themes"),
        *("plan", "migratedTo"),
    }
)
_NAME = re.compile(r"[a-zA-Z0-9-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFUSED_VARIABLES = frozenset({"PATH", "HOME", *API_KEY_NAMES, "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"})
_REFUSED_PREFIXES = ("LD_", "DYLD_", "PYTHON", "NODE_", "GIT_", "SSL_", "GEMINI_CLI_", "TEJAT_")
_REFUSED_SUFFIX = "_PROXY"


class ExtensionSetting(Frozen):
    """A value that the user gives to an extension, passed to its programs as the variable `variable`.

    `refusal` is the reason why it is never passed, empty if it is.
    """

    name: str
    variable: str
    description: str = ""
    is_sensitive: bool = False
    refusal: str = ""


class ExtensionManifest(Frozen):
    """A valid manifest. Variables in its texts are not expanded.

    `context_files` are relative paths, None without the field: then GEMINI.md counts if it exists. `settings` are all
    declared ones, also those that are refused. `unknown_fields` are names that nobody knows.
    """

    path: str
    name: str
    version: str
    description: str = ""
    context_files: tuple[str, ...] | None = None
    excluded_tools: tuple[Setting[str], ...] = ()
    settings: tuple[ExtensionSetting, ...] = ()
    server_names: tuple[str, ...] = ()
    theme_names: tuple[str, ...] = ()
    plan_directory: str = ""
    migrated_to: str = ""
    unknown_fields: tuple[str, ...] = ()
    members: Mapping[str, JsonNode] = field(default_factory=dict[str, JsonNode], repr=False)

    @property
    def effective_settings(self) -> tuple[ExtensionSetting, ...]:
        """The settings that are passed to programs."""
        return tuple(setting for setting in self.settings if not setting.refusal)

    @property
    def possible_context_files(self) -> tuple[str, ...]:
        return (DEFAULT_CONTEXT_FILE,) if self.context_files is None else self.context_files

    def servers(self, resolve: "ResolveEnv" = str) -> dict[str, Setting[McpServer]]:
        """The MCP servers by alias, with the variables in their texts expanded by `resolve`, those of `env` too.

        They are never trusted, and may not use the session's model. Raises SettingsError.
        """
        if not self.server_names:
            return {}
        # Imported late: many extensions have no servers.
        from tejat.config.mcp.server_parser import parse_mcp_server

        found = self._file(resolve).find(SettingKey("mcpServers"))
        servers: dict[str, Setting[McpServer]] = {}
        for name, member in () if found is None else found.members().items():
            server = parse_mcp_server(member)
            expanded = {key: resolve(value) for key, value in server.environment.items()}
            servers[name] = Setting(replace(server, environment=expanded), self.path, SourceTier.EXTENSION)
        return servers

    def themes(self) -> "dict[str, ThemeColours]":
        """The themes by their own names. Raises SettingsError."""
        # Imported late: few extensions have themes.
        from tejat.config.settings.themes.custom_theme import read_theme

        found = self._file(str).find(SettingKey("themes"))
        entries = () if found is None else found.items_or_one()
        return {name: read_theme(entry, name) for name, entry in zip(self.theme_names, entries, strict=True)}

    def _file(self, resolve: "ResolveEnv") -> SettingsFile:
        return SettingsFile(self.path, SourceTier.EXTENSION, dict(self.members), resolve)


def read_manifest(directory: str) -> ExtensionManifest:
    """Read the manifest in a directory.

    Raises ConfigurationError that names the file and, for a wrong value, its line and key.
    """
    path = os.path.join(directory, MANIFEST)
    text = read_config_file(path, writers=AllowedWriters.ANYONE)
    if text is None:
        raise ConfigurationError(lazy("{path} does not exist.", path=path), path=path)
    return parse_manifest(path, text)


def parse_manifest(path: str, text: str) -> ExtensionManifest:
    """Parse the text of the manifest at `path`. Raises ConfigurationError as `read_manifest` does."""
    try:
        return _read(_parse_plain(path, text), text)
    except (ValueError, RecursionError, SettingsError):
        # Not plain JSON, or something is wrong: parsed again for the positions.
        return _read(_parse_with_positions(path, text), text)


def find_name_problem(name: str, command_names: Collection[str] = ()) -> str:
    """The reason why an extension must not have this name, empty if it may. `command_names` are built-in commands."""
    if len(name) > MAX_NAME:
        return lazy("its name is longer than {most} characters", most=MAX_NAME)
    if name.lower() in RESERVED_NAMES:
        return lazy("the name {name} is reserved", name=name)
    if name in command_names:
        return lazy("/{name} is a built-in command", name=name)
    return ""


def is_within(relative: str) -> bool:
    """Whether a relative path does not lead out of its directory, links aside."""
    parts = os.path.normpath(relative).split("/")
    return not os.path.isabs(relative) and parts[0] != ".."


def _parse_plain(path: str, text: str) -> SettingsFile:
    """Parse strict JSON, which is much faster, without positions. Raises ValueError."""
    top = _node(_DECODER.decode(text))
    if not isinstance(top.value, dict):
        raise ValueError(path)
    return SettingsFile(path, SourceTier.EXTENSION, top.value, str)


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is used twice")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_members)


def _node(value: object) -> JsonNode:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return JsonNode({name: _node(member) for name, member in members.items()}, 1, 1)
    if isinstance(value, list):
        return JsonNode([_node(item) for item in cast("list[object]", value)], 1, 1)
    return JsonNode(cast("JsoncValue", value), 1, 1)


def _parse_with_positions(path: str, text: str) -> SettingsFile:
    try:
        top = parse_jsonc(text)
    except JsoncError as error:
        raise SettingsError(str(error), path=path) from None
    if not isinstance(top.value, dict):
        raise SettingsError(lazy("line {line}: it must be an object in {{}}", line=top.line), path=path)
    return SettingsFile(path, SourceTier.EXTENSION, top.value, str)


def _read(file: SettingsFile, text: str) -> ExtensionManifest:
    """Raises SettingsError."""
    name, excluded = _required(file, "name"), _find(file, "excludeTools")
    if not _NAME.fullmatch(name.string()):
        raise name.error(lazy("letters, digits and dashes"))
    servers, plan = _find(file, "mcpServers"), _find(file, "plan")
    plan_directory = None if plan is None else plan.members().get("directory")
    manifest = ExtensionManifest(
        file.path,
        name.string(),
        _required(file, "version").string(),
        _text(file, "description"),
        _read_context_files(_find(file, "contextFileName")),
        () if excluded is None else tuple(_at_line(file, entry, text) for entry in excluded.entries()),
        _read_settings(_find(file, "settings")),
        () if servers is None else tuple(servers.members()),
        _read_theme_names(_find(file, "themes")),
        "" if plan_directory is None or plan_directory.is_blank else plan_directory.string(),
        _text(file, "migratedTo"),
        tuple(member for member in file.members if member not in FIELDS),
        file.members,
    )
    if servers is not None:
        manifest.servers()
    return manifest


def _find(file: SettingsFile, name: str) -> SettingValue | None:
    """The value of a field. Most manifests have few of them."""
    return file.find(SettingKey(name)) if name in file.members else None


def _required(file: SettingsFile, name: str) -> SettingValue:
    found = _find(file, name)
    if found is None:
        raise SettingsError(lazy("{name} is missing", name=name), path=file.path)
    found.string()
    return found


def _text(file: SettingsFile, name: str) -> str:
    found = _find(file, name)
    return "" if found is None or found.is_blank else found.string()


def _at_line(file: SettingsFile, entry: SettingValue, text: str) -> Setting[str]:
    """An excluded tool with its position, which is looked up in the text: plain parsing knows none."""
    line = entry.node.line
    if line == 1 and (at := text.find(json.dumps(entry.node.value), text.find('"excludeTools"'))) > 0:
        line = text.count("\n", 0, at) + 1
    return Setting(entry.string(), f"{file.path}:{line}", SourceTier.EXTENSION)


def _read_context_files(found: SettingValue | None) -> tuple[str, ...] | None:
    if found is None or found.is_blank:
        return None
    names: list[str] = []
    for entry in found.entries_or_one():
        if not is_within(entry.string()):
            raise entry.error(lazy("a path inside the extension"))
        names.append(os.path.normpath(entry.string()))
    return tuple(dict.fromkeys(names))


def _read_settings(found: SettingValue | None) -> tuple[ExtensionSetting, ...]:
    if found is None:
        return ()
    if not isinstance(found.node.value, list):
        raise found.error(lazy("a list of objects"))
    settings: list[ExtensionSetting] = []
    for entry in found.items_or_one():
        given = entry.members()
        for required in ("name", "envVar"):
            if required not in given:
                raise entry.error(lazy("an object with name and envVar"))
        variable = given["envVar"].string()
        if not _VARIABLE.fullmatch(variable):
            raise given["envVar"].error(lazy("the name of an environment variable"))
        description = given.get("description")
        settings.append(
            ExtensionSetting(
                given["name"].string(),
                variable,
                "" if description is None or description.is_blank else description.string(),
                "sensitive" in given and given["sensitive"].boolean(),
                _variable_refusal(variable, {setting.variable for setting in settings}),
            )
        )
    return tuple(settings)


def _variable_refusal(variable: str, known: Collection[str]) -> str:
    upper = variable.upper()
    if variable in known:
        return lazy("{variable} is declared twice", variable=variable)
    if upper in _REFUSED_VARIABLES or upper.startswith(_REFUSED_PREFIXES) or upper.endswith(_REFUSED_SUFFIX):
        return lazy("an extension cannot set {variable}", variable=variable)
    return ""


def _read_theme_names(found: SettingValue | None) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found.node.value, list):
        raise found.error(lazy("a list of objects"))
    names: list[str] = []
    for entry in found.items_or_one():
        given = entry.members()
        if "name" not in given:
            raise entry.error(lazy("an object with a name"))
        names.append(given["name"].string())
    return tuple(names)
