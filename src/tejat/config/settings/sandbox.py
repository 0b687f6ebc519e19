"""Setting of the sandbox: its values, and who may change it."""

import os
from typing import cast

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingValue
from tejat.config.settings.reader import SettingReader
from tejat.config.settings.types import Setting
from tejat.core.approval.modes import SandboxMode, SandboxRequest, parse_sandbox_word
from tejat.core.frozen import replace
from tejat.core.i18n import lazy


def parse_sandbox(found: SettingValue) -> SandboxRequest:
    """Parse `tools.sandbox`: a word, true or false, or an object with a command, an image and paths.

    A project can neither allow the network nor show more paths.
    """
    value = found.node.value
    if isinstance(value, dict):
        return _parse_object(found)
    if isinstance(value, bool | int):
        return parse_sandbox_word(str(value))
    if isinstance(value, str):
        return parse_sandbox_word(found.string())
    raise found.error(lazy("true, false, a sandbox name or an object"))


def _parse_object(found: SettingValue) -> SandboxRequest:
    given = {name: member for name, member in found.members().items() if not member.is_blank}
    is_of_project = found.file.tier is SourceTier.WORKSPACE
    command = given["command"].string() if "command" in given else "true"
    request = parse_sandbox_word(command)
    if "enabled" in given and not given["enabled"].boolean():
        request = SandboxRequest(SandboxMode.OFF)
    network = given["networkAccess"].boolean() if "networkAccess" in given else None
    paths = parse_absolute_paths(given["allowedPaths"]) if "allowedPaths" in given else ()
    return replace(
        request,
        image=given["image"].string() if "image" in given else "",
        network=None if is_of_project and network else network,
        allowed_paths=() if is_of_project else paths,
    )


def parse_absolute_paths(found: SettingValue) -> tuple[str, ...]:
    """Parse a list of absolute paths, in which `~` is the home directory."""
    paths: list[str] = []
    for entry in found.entries():
        path = os.path.expanduser(entry.string())
        if not os.path.isabs(path):
            raise entry.error(lazy("a list of absolute paths"))
        paths.append(path)
    return tuple(paths)


def merge_sandbox(reader: SettingReader, default: object) -> object:
    """The last file wins; of objects, later members over earlier ones. A project is heard if it asks for more."""
    kept = cast("Setting[SandboxRequest]", default)
    for parsed in reader.without_project().values():
        setting = cast("Setting[SandboxRequest]", parsed.setting)
        if isinstance(parsed.found.node.value, dict):
            setting = replace(setting, value=_complete(setting.value, kept.value))
        kept = setting
    if kept.tier is SourceTier.ADMIN and kept.value.mode is SandboxMode.REQUIRED:
        kept = replace(kept, value=replace(kept.value, floor=kept.value.strictness))
    for parsed in reader.of_project().values():
        kept = _tighten(kept, cast("Setting[SandboxRequest]", parsed.setting))
    return kept


def _tighten(kept: Setting[SandboxRequest], of_project: Setting[SandboxRequest]) -> Setting[SandboxRequest]:
    """The setting, made stricter by a project in what it asks for more of, and no laxer in anything else."""
    if of_project.value.network is False:
        kept = replace(kept, value=replace(kept.value, network=False))
    if of_project.value.strictness <= kept.value.strictness:
        return kept
    request = replace(kept.value, mode=of_project.value.mode, command=of_project.value.command)
    return replace(of_project, value=replace(request, image=of_project.value.image or request.image))


def override_sandbox(setting: Setting[SandboxRequest], word: str, source: str) -> Setting[SandboxRequest]:
    """The setting after a variable or flag with this word. It cannot loosen what the administrator requires.

    One that only asks for some sandbox keeps the one that the setting names.
    """
    request = parse_sandbox_word(word)
    kept = setting.value
    if not request.command and request.mode is SandboxMode.REQUIRED and kept.mode is SandboxMode.REQUIRED:
        return setting
    if kept.floor and request.strictness <= kept.floor:
        return setting
    changed = replace(kept, mode=request.mode, command=request.command)
    return Setting(changed, source, SourceTier.USER)


def require_sandbox(setting: Setting[SandboxRequest], required: Setting[bool]) -> Setting[SandboxRequest]:
    """The setting, or a required sandbox if another setting demands one and this one asks for less."""
    wanted = SandboxRequest(SandboxMode.REQUIRED)
    if not required.value or setting.value.strictness >= wanted.strictness:
        return setting
    return Setting(replace(setting.value, mode=SandboxMode.REQUIRED), required.source, required.tier)


def _complete(request: SandboxRequest, earlier: SandboxRequest) -> SandboxRequest:
    if request.mode is not SandboxMode.REQUIRED:
        return request
    return replace(
        request,
        command=request.command or earlier.command,
        image=request.image or earlier.image,
        network=earlier.network if request.network is None else request.network,
        allowed_paths=request.allowed_paths or earlier.allowed_paths,
    )
