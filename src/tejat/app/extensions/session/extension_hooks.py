"""Hooks of an extension, from its `hooks/hooks.json`."""

import os
from collections.abc import Mapping

from tejat.config.extensions.pins import HOOKS_FILE
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


def hooks_path(directory: str) -> str:
    return os.path.join(directory, HOOKS_FILE)


def _read_events(path: str, text: str) -> dict[str, list[Setting[JsonValue]]]:
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


def program_environment(values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the programs of an extension: its settings, and what keeps its directory unchanged."""
    # Compiled modules in its directory would be a change of the extension.
    return {"PYTHONDONTWRITEBYTECODE": "1", **values}


def missing_settings_message(missing: Mapping[str, str], variables: set[str]) -> str:
    """The reason why a program is not started."""
    return lazy("missing settings: {names}", names=", ".join(missing[each] for each in missing if each in variables))
