"""The settings of a run: what system, person and project say, merged, each value with where it came from."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tejat.config.places import Places, SourceTier
from tejat.config.settings_file import Found, Key, SettingsFile, is_same_directory, read_settings_file
from tejat.core.errors import UsageError
from tejat.core.sandbox_wish import SandboxWish

Value = TypeVar("Value")
Default = TypeVar("Default", bound="Setting[object] | None")
Kept_co = TypeVar("Kept_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Setting(Generic[Kept_co]):
    """A value, who set it, and where: file and line, the name of an environment variable, or `default`."""

    value: Kept_co
    source: str = "default"
    tier: SourceTier = SourceTier.DEFAULT


_CONTEXT_FILE_NAMES = ("GEMINI.md",)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set. None in place of a Setting: nobody set it; a limit whose value is None: there is none.

    `exclude` and `mcp_excluded` unite all files, entry by entry. `files` were read, the last one has the last word;
    `ignored` are those of a project that is not trusted which set more than their exclude lists.
    """

    core: Setting[tuple[str, ...]] | None = None
    allowed: Setting[tuple[str, ...]] | None = None
    exclude: tuple[Setting[str], ...] = ()
    mcp_allowed: Setting[tuple[str, ...]] | None = None
    mcp_excluded: tuple[Setting[str], ...] = ()
    sandbox: Setting[SandboxWish] = Setting(SandboxWish.AUTO)
    sandbox_network: Setting[bool] = Setting(value=False)
    shell_idle_seconds: Setting[float | None] = Setting(300.0)
    shell_environment: Setting[tuple[str, ...]] = Setting(())
    output_characters: Setting[int | None] = Setting(40_000)
    context_file_names: Setting[tuple[str, ...]] = Setting(_CONTEXT_FILE_NAMES)
    preferred_editor: Setting[str] | None = None
    yolo_disabled: Setting[bool] = Setting(value=False)
    files: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def load_settings(places: Places, roots: Sequence[str], *, trusted: bool, environment: Mapping[str, str]) -> Settings:
    """The settings for these root directories; the first is the project, of the others only exclude lists count.

    Raises SettingsError for a file that is broken or holds a wrong value, UsageError for one that cannot be read.
    """
    obeyed = _project_files(places, roots[:1] if trusted else [])
    partly = _project_files(places, roots[1:] if trusted else roots)
    whole = [
        *_admin_files(places, "system-defaults.json", environment.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")),
        *_read_all([os.path.join(places.gemini, _FILE_NAME)], SourceTier.USER),
        *obeyed,
        *_admin_files(places, _FILE_NAME, environment.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")),
    ]
    default = Settings()
    return Settings(
        core=_last(whole, Key("tools.core", "coreTools"), Found.texts, None),
        allowed=_last(whole, Key("tools.allowed", "allowedTools"), Found.texts, None),
        exclude=_united([*partly, *whole], _EXCLUDE),
        mcp_allowed=_last(whole, Key("mcp.allowed", "allowMCPServers"), Found.texts, None),
        mcp_excluded=_united([*partly, *whole], _MCP_EXCLUDED),
        sandbox=_sandbox_of(environment, _last(whole, Key("tools.sandbox", "sandbox"), _sandbox, default.sandbox)),
        sandbox_network=_last(whole, Key("tools.sandboxNetworkAccess"), Found.boolean, default.sandbox_network),
        shell_idle_seconds=_last(
            whole, Key("tools.shell.inactivityTimeout"), Found.seconds, default.shell_idle_seconds
        ),
        shell_environment=_last(whole, Key("tools.shell.environment"), _variables, default.shell_environment),
        output_characters=_last(
            whole, Key("tools.truncateToolOutputThreshold"), Found.limit, default.output_characters
        ),
        context_file_names=_last(
            whole, Key("context.fileName", "contextFileName"), _file_names, default.context_file_names
        ),
        preferred_editor=_last(whole, Key("general.preferredEditor", "preferredEditor"), Found.text, None),
        yolo_disabled=_last(whole, Key("security.disableYoloMode"), Found.boolean, default.yolo_disabled),
        files=tuple(file.path for file in [*partly, *whole]),
        ignored=tuple(file.path for file in partly if file.has_other_than((_EXCLUDE, _MCP_EXCLUDED))),
    )


def is_required_by_admin(sandbox: Setting[SandboxWish]) -> bool:
    """Whether nobody else can have it otherwise."""
    return sandbox.tier is SourceTier.ADMIN and sandbox.value is SandboxWish.REQUIRED


def _admin_files(places: Places, name: str, added: str | None) -> list[SettingsFile]:
    """The files of whoever runs the machine, the one with the last word last. A file named by a variable only adds."""
    paths = [os.path.join(directory, name) for directory in reversed(places.admin)]
    if added:
        paths.insert(0, os.path.abspath(added))
    return _read_all(paths, SourceTier.ADMIN)


def _project_files(places: Places, roots: Sequence[str]) -> list[SettingsFile]:
    """The files of the projects. In the home directory it would be the person's own, whatever it is called there."""
    directories = (os.path.join(root, ".gemini") for root in dict.fromkeys(roots))
    own = [directory for directory in directories if not is_same_directory(directory, places.gemini)]
    return _read_all([os.path.join(directory, _FILE_NAME) for directory in own], SourceTier.WORKSPACE)


def _read_all(paths: list[str], tier: SourceTier) -> list[SettingsFile]:
    files = (read_settings_file(path, tier) for path in paths)
    return [file for file in files if file is not None]


def _last(
    files: Sequence[SettingsFile], key: Key, read: Callable[[Found], Value], default: Default
) -> Setting[Value] | Default:
    """The value that the last file gives. The others are read all the same, so that no wrong value goes unseen."""
    kept: Setting[Value] | Default = default
    for file in files:
        if found := file.find(key):
            kept = Setting(read(found), found.source, file.tier)
    return kept


def _united(files: Sequence[SettingsFile], key: Key) -> tuple[Setting[str], ...]:
    united: dict[str, Setting[str]] = {}
    for file in files:
        if found := file.find(key):
            for entry in found.entries():
                united[entry.text()] = Setting(entry.text(), entry.source, file.tier)
    return tuple(united.values())


def _sandbox(found: Found) -> SandboxWish:
    value = found.node.value
    mode = _SANDBOX_WORDS.get(value.lower() if isinstance(value, str) else str(value).lower())
    if mode is None or not isinstance(value, str | bool):
        raise found.wrong(_SANDBOX_WANTED)
    return mode


def _sandbox_of(environment: Mapping[str, str], otherwise: Setting[SandboxWish]) -> Setting[SandboxWish]:
    word = environment.get("GEMINI_SANDBOX", "").strip().lower()
    if not word:
        return otherwise
    if word not in _SANDBOX_WORDS:
        raise UsageError(f"The environment variable GEMINI_SANDBOX must be {_SANDBOX_WANTED}, but is {word!r}.")
    if is_required_by_admin(otherwise):
        return otherwise
    return Setting(_SANDBOX_WORDS[word], "GEMINI_SANDBOX", SourceTier.USER)


def _variables(found: Found) -> tuple[str, ...]:
    for entry in found.entries():
        if not (entry.text().isascii() and entry.text().isidentifier()):
            raise entry.wrong("a list of names of environment variables")
    return found.texts()


def _file_names(found: Found) -> tuple[str, ...]:
    """Names to look for in a directory, so none may lead out of it."""
    entries = found.entries_or_one()
    for entry in entries:
        name = entry.text()
        if name.startswith("/") or not name.isprintable() or {".", "..", ""} & set(name.split("/")):
            raise entry.wrong("a file name or a list of file names")
    return tuple(entry.text() for entry in entries) or _CONTEXT_FILE_NAMES


_FILE_NAME = "settings.json"
_EXCLUDE = Key("tools.exclude", "excludeTools")
_MCP_EXCLUDED = Key("mcp.excluded", "excludeMCPServers")
_SANDBOX_WANTED = "auto, required, off, true or false"
_SANDBOX_WORDS = {
    "auto": SandboxWish.AUTO,
    "required": SandboxWish.REQUIRED,
    "true": SandboxWish.REQUIRED,
    "1": SandboxWish.REQUIRED,
    "off": SandboxWish.OFF,
    "false": SandboxWish.OFF,
    "0": SandboxWish.OFF,
}
