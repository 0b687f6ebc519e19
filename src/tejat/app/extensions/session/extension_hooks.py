"""Hooks of an extension, from its `hooks/hooks.json`."""

import json
from collections.abc import Mapping
from typing import cast

from tejat.app.extensions.session.programs import missing_settings_message, program_environment
from tejat.config.extensions.variables import ExtensionVariables, find_references, leads_out
from tejat.config.hooks import HookConfig, parse_hook_events
from tejat.config.jsonc import JsoncError, parse_jsonc
from tejat.config.paths import SourceTier
from tejat.config.settings.file import to_json
from tejat.config.settings.types import Setting
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonValue
from tejat.engine.prompt.shell_quote import UnsafePlaceholder, substitute_places


def parse_extension_hooks(
    name: str, path: str, text: str, variables: ExtensionVariables, missing: Mapping[str, str]
) -> tuple[HookConfig, ...]:
    """Parse the text of the hooks file of an extension at `path`.

    `missing` are the names of settings without a value, by variable: hooks that refer to them are not started. Raises
    ConfigurationError for anything invalid, and for variables in a command where quoting cannot protect them.
    """
    hooks, warnings = parse_hook_events(_read_events(path, text))
    problem = next((hook.problem for hook in hooks if hook.problem), None) or next(iter(warnings), None)
    if problem is not None:
        raise ConfigurationError(problem, path=path)
    return tuple(_prepare(hook, name, path, variables, missing) for hook in hooks)


def _read_events(path: str, text: str) -> Mapping[str, list[Setting[JsonValue]]]:
    """The entries by event. Raises ConfigurationError."""
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        # Comments, or a mistake: the position is known after parsing it again.
        return _parse_with_positions(path, text)
    events = cast("dict[str, object]", content).get("hooks") if isinstance(content, dict) else None
    if not isinstance(events, dict):
        return _parse_with_positions(path, text)
    found: dict[str, list[Setting[JsonValue]]] = {}
    for event, entries in cast("dict[str, JsonValue]", events).items():
        if not isinstance(entries, list):
            return _parse_with_positions(path, text)
        found[event] = [Setting(entry, path, SourceTier.EXTENSION) for entry in entries]
    return found


def _parse_with_positions(path: str, text: str) -> Mapping[str, list[Setting[JsonValue]]]:
    try:
        top = parse_jsonc(text).value
    except JsoncError as error:
        raise ConfigurationError(lazy("Error in {path}: {why}", path=path, why=error), path=path) from None
    node = top.get("hooks") if isinstance(top, dict) else None
    if node is None or not isinstance(node.value, dict):
        raise ConfigurationError(lazy("Error in {path}: it must be an object with hooks", path=path), path=path)
    events: dict[str, list[Setting[JsonValue]]] = {}
    for event, entries in node.value.items():
        if not isinstance(entries.value, list):
            why = lazy("line {line}: {event} must be a list", line=entries.line, event=event)
            raise ConfigurationError(lazy("Error in {path}: {why}", path=path, why=why), path=path)
        events[event] = [
            Setting(to_json(entry), f"{path}:{entry.line}", SourceTier.EXTENSION) for entry in entries.value
        ]
    return events


def _prepare(
    hook: HookConfig, name: str, path: str, variables: ExtensionVariables, missing: Mapping[str, str]
) -> HookConfig:
    texts = (hook.command, *hook.environment.values())
    refusal = ""
    if any(map(leads_out, texts)):
        refusal = lazy("it uses a path that leads out of the extension")
    unset = {each for text in texts for each in find_references(text, missing)}
    if unset:
        refusal = missing_settings_message(missing, unset)
    try:
        # Other variables are for the shell.
        command = substitute_places(hook.command, variables.places)
    except UnsafePlaceholder as error:
        raise ConfigurationError(lazy("{path}: {why}", path=path, why=error), path=path) from None
    own = {key: variables.expand(value) for key, value in hook.environment.items()}
    return replace(
        hook,
        command=command,
        extension=name,
        environment={**program_environment(variables.settings), **own},
        refusal=refusal,
    )
