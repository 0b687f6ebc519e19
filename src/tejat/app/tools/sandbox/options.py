"""Options of the sandbox of a run: who asks for which one, and what the variables of Gemini CLI add to it."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from tejat.app.run_config import RunConfig
from tejat.config.extensions.active import SETTINGS_FILE
from tejat.config.paths import SourceTier
from tejat.config.settings.sandbox import override_sandbox, require_sandbox
from tejat.config.settings.types import Setting, Settings
from tejat.core.approval.modes import SandboxMode, SandboxRequest, parse_sandbox_word
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy
from tejat.workspace.paths.secret_paths import is_sensitive_path
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.sandbox.container.options import (
    ENGINES,
    ContainerOptions,
    client_environment,
    parse_flags,
)
from tejat.workspace.sandbox.types import SandboxMount

_KNOWN_NAMES = (*ENGINES, "lxc", "sandbox-exec", "windows-native")
_PROXY = "GEMINI_SANDBOX_PROXY_COMMAND"
_PROFILE = "SEATBELT_PROFILE"
_SWITCHED_ON = ("true", "1")


class SandboxOptions(Frozen):
    """How commands are sandboxed. `is_offline` means that no command may use the network, whoever agrees."""

    mode: SandboxMode
    container: ContainerOptions
    mounts: tuple[SandboxMount, ...] = ()
    network: bool = False
    is_offline: bool = False


def resolve_sandbox(word: str | None, settings: Settings, *, names_arguments: bool = False) -> Setting[SandboxRequest]:
    """The request of the flag or the argument, or else of the variable or the settings.

    Raises UsageError for an unknown word.
    """
    setting = settings.sandbox
    if word is not None:
        if not word or ((named := parse_sandbox_word(word).command) and named not in _KNOWN_NAMES):
            known = ", ".join(("auto", "required", "off", "true", "false", *_KNOWN_NAMES))
            raise UsageError(_("The sandbox must be one of {known}, not {wish!r}.", known=known, wish=word))
        setting = override_sandbox(setting, word, f"sandbox={word!r}" if names_arguments else "--sandbox")
    return require_sandbox(setting, settings.tool_sandboxing)


def sandbox_options(run_config: RunConfig, wanted: Setting[SandboxRequest]) -> SandboxOptions:
    """What the request, the settings and the user's environment make together. Raises SandboxUnavailable."""
    settings, environment, request = run_config.settings, run_config.environment, wanted.value
    said = [value for value in (_switch(settings.sandbox_network), request.network) if value is not None]
    network = bool(said) and all(said)
    is_offline = bool(environment.get(_PROXY, "").strip())
    if request.mode is SandboxMode.OFF:
        return SandboxOptions(SandboxMode.OFF, ContainerOptions())
    if network and is_offline:
        message = _("{name} is not supported, and the settings allow network access without it.", name=_PROXY)
        raise SandboxUnavailable(f"{message}\n" + _("Unset it, or set tools.sandboxNetworkAccess to false."))
    _check_profile(environment)
    container = _container_options(run_config, wanted)
    shown = (*_shown_paths(run_config, request), *_extension_paths(run_config))
    mounts = (*(SandboxMount(path, path) for path in shown), *_mounts(run_config))
    return SandboxOptions(request.mode, container, mounts, network, is_offline)


def sandbox_notes(run_config: RunConfig, wanted: Setting[SandboxRequest]) -> tuple[str, ...]:
    """What the user must know at the start about paths and variables that have no effect."""
    if wanted.value.mode is SandboxMode.OFF:
        return ()
    notes = [
        _("{source}: a project cannot add paths to the sandbox.", source=entry.source)
        for entry in run_config.settings.sandbox_allowed_paths
        if entry.tier is SourceTier.WORKSPACE and entry.value
    ]
    for path in _allowed_paths(run_config, wanted.value):
        if not os.path.exists(path):
            notes.append(_("tools.sandboxAllowedPaths: {path} does not exist.", path=path))
        elif _is_sensitive(run_config, path):
            notes.append(_("tools.sandboxAllowedPaths: {path} is never mounted in the sandbox.", path=path))
    if run_config.environment.get(_PROXY, "").strip():
        notes.append(_("{name} is not supported: commands have no network at all.", name=_PROXY))
    if sys.platform == "darwin" and run_config.environment.get(_PROFILE, "").startswith("permissive-"):
        notes.append(_("{name} has no effect: the sandbox is stricter than that profile.", name=_PROFILE))
    return tuple(notes)


def _switch(setting: Setting[bool] | None) -> bool | None:
    return None if setting is None else setting.value


def _check_profile(environment: Mapping[str, str]) -> None:
    """Raises SandboxUnavailable for a profile of macOS that may protect more than ours."""
    profile = environment.get(_PROFILE, "").strip()
    if sys.platform != "darwin" or not profile:
        return
    if not profile.startswith("permissive-") or profile.endswith("-proxied"):
        message = _("{name}={profile} is not supported.", name=_PROFILE, profile=profile)
        raise SandboxUnavailable(f"{message}\n" + _("Unset it to use the sandbox of Tejat, or use docker or podman."))


def _container_options(run_config: RunConfig, wanted: Setting[SandboxRequest]) -> ContainerOptions:
    settings, environment, request = run_config.settings, run_config.environment, wanted.value
    if request.mode is SandboxMode.AUTO:  # never a container, so what is wrong with its options does not matter
        return ContainerOptions()
    if request.command in ENGINES and environment.get("BUILD_SANDBOX", "").strip().lower() in _SWITCHED_ON:
        raise SandboxUnavailable(
            _("BUILD_SANDBOX is not supported. Unset it, and build the image with: tejat sandbox build")
        )
    own_image = "" if settings.sandbox_image is None else settings.sandbox_image.value
    try:
        flags = parse_flags(environment.get("SANDBOX_FLAGS", ""))
    except ValueError as error:
        raise SandboxUnavailable(str(error)) from None
    return ContainerOptions(
        engine=request.command,
        source=wanted.source,
        home=os.path.realpath(run_config.paths.home),
        private_directories=tuple(map(os.path.realpath, (run_config.paths.gemini, run_config.paths.config))),
        image=environment.get("GEMINI_SANDBOX_IMAGE", "").strip() or request.image or own_image,
        flags=flags,
        environment=tuple(_variables(environment.get("SANDBOX_ENV", ""))),
        client_environment=client_environment(environment),
    )


def _variables(text: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of SANDBOX_ENV. Raises SandboxUnavailable for a name that no command may get."""
    for entry in filter(None, map(str.strip, text.split(","))):
        name, equals, value = entry.partition("=")
        try:
            child_environment({}, extra={name.strip(): value})
        except UsageError as error:
            raise SandboxUnavailable(f"SANDBOX_ENV: {error}") from None
        if not equals:
            raise SandboxUnavailable(_("SANDBOX_ENV: {entry!r} is not of the form NAME=VALUE.", entry=entry))
        yield name.strip(), value


def _allowed_paths(run_config: RunConfig, request: SandboxRequest) -> Sequence[str]:
    listed = (
        path
        for entry in run_config.settings.sandbox_allowed_paths
        if entry.tier is not SourceTier.WORKSPACE
        for path in entry.value
    )
    return list(dict.fromkeys((*listed, *request.allowed_paths)))


def _shown_paths(run_config: RunConfig, request: SandboxRequest) -> Iterator[str]:
    for path in _allowed_paths(run_config, request):
        if os.path.exists(path) and not _is_sensitive(run_config, path):
            yield os.path.realpath(path)


def _extension_paths(run_config: RunConfig) -> Iterator[str]:
    """Yield the files of extensions in use, which lie in a hidden directory, without the user's values for them."""
    hidden = os.path.realpath(run_config.paths.gemini)
    for extension in run_config.extensions:
        path = os.path.realpath(extension.path)
        if not path.startswith(f"{hidden}/"):
            continue
        names = os.listdir(path)
        if SETTINGS_FILE not in names:
            yield path
        else:
            yield from (os.path.join(path, name) for name in sorted(names) if name != SETTINGS_FILE)


def _mounts(run_config: RunConfig) -> Iterator[SandboxMount]:
    """Yield the mounts of SANDBOX_MOUNTS: `from:to:opts`, read-only by default. Raises SandboxUnavailable."""
    text = run_config.environment.get("SANDBOX_MOUNTS", "")
    for entry in filter(None, map(str.strip, text.split(","))):
        source, _colon, rest = entry.partition(":")
        target, _colon, option = rest.partition(":")
        target = target or source
        if not os.path.isabs(source) or not os.path.isabs(target) or option not in ("", "ro", "rw"):
            raise SandboxUnavailable(lazy("SANDBOX_MOUNTS: {entry!r} is not of the form FROM:TO:ro.", entry=entry))
        if not os.path.exists(source):
            raise SandboxUnavailable(lazy("SANDBOX_MOUNTS: {path} does not exist.", path=source))
        if _is_sensitive(run_config, source):
            raise SandboxUnavailable(lazy("SANDBOX_MOUNTS: {path} is never mounted in the sandbox.", path=source))
        real = os.path.realpath(source)
        yield SandboxMount(real, real if target == source else target, is_writable=option == "rw")


def _is_sensitive(run_config: RunConfig, path: str) -> bool:
    paths = run_config.paths
    own = tuple(map(os.path.realpath, (paths.config, paths.state, paths.runtime)))
    return is_sensitive_path(os.path.realpath(path), home=os.path.realpath(paths.home), own_directories=own)
