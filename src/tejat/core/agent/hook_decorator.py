"""Python functions as hooks: the decorator, and the check of what a program gives."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.agent.hooks import DEFAULT_TIMEOUT, Hook, HookEvent, HookFunction
from tejat.core.approval.approver import takes_arguments


def hook(
    event: HookEvent | str, /, *, matcher: str = "", name: str = "", timeout: float = DEFAULT_TIMEOUT
) -> Callable[[HookFunction], Hook]:
    """Make a hook of a function: `@hook("BeforeTool", matcher="write_file")`. It can still be called directly.

    `event` is the name of an event or a HookEvent. See `Hook` for the options. Pass the hook to an agent as
    `hooks=[...]`.

    Raises TypeError for a wrong type, and ValueError for an unknown event or an invalid timeout.
    """
    if callable(event):
        raise TypeError('@hook needs the name of an event: @hook("BeforeTool").')
    if event not in list(HookEvent):
        raise ValueError(f"Unknown hook event {event!r}. Use one of {', '.join(HookEvent)}.")

    def decorate(function: HookFunction) -> Hook:
        return _checked(Hook(function, matcher, name, timeout, HookEvent(event)))

    return decorate


def list_hooks(given: object) -> tuple[tuple[HookEvent, Hook], ...]:
    """List the hooks that a program gave, as `HooksLike`. Raises TypeError and ValueError."""
    if isinstance(given, Mapping):
        by_event = cast("Mapping[object, object]", given)
        return tuple(pair for event, hooks in by_event.items() for pair in _under_event(event, hooks))
    return tuple(_named_event(each) for each in _several(given))


def _under_event(event: object, given: object) -> list[tuple[HookEvent, Hook]]:
    if event not in list(HookEvent):
        raise ValueError(f"hooks: unknown event {event!r}. Use one of {', '.join(HookEvent)}.")
    hooks = [_checked(each if isinstance(each, Hook) else _as_hook(each)) for each in _several(given)]
    for each in hooks:
        if each.event and each.event != event:
            raise ValueError(f"hooks: the hook {_name(each)!r} is for {each.event}, but is listed under {event}.")
    return [(HookEvent(cast("str", event)), each) for each in hooks]


def _named_event(given: object) -> tuple[HookEvent, Hook]:
    if not isinstance(given, Hook):
        raise TypeError(
            f"hooks must be a list of hooks or a mapping from events to functions, not {_describe(given)}. "
            'A function needs an event: decorate it with @hook("BeforeTool"), or pass {"BeforeTool": function}.'
        )
    if not given.event:
        name = _name(given)
        raise ValueError(f'hooks: the hook {name!r} has no event. Pass {{"BeforeTool": {name}}}, or set `event`.')
    return HookEvent(given.event), _checked(given)


def _several(given: object) -> Sequence[object]:
    return cast("Sequence[object]", given) if isinstance(given, list | tuple) else (given,)


def _as_hook(given: object) -> Hook:
    if not callable(given) or isinstance(given, type):
        raise TypeError(f"hooks must be functions or `Hook` objects, not {_describe(given)}.")
    return Hook(cast("HookFunction", given))


def _checked(hook: Hook) -> Hook:
    if not takes_arguments(hook.function, 1):
        raise TypeError(f"The hook {_name(hook)!r} must take one argument, the event.")
    return hook


def _name(hook: Hook) -> str:
    return hook.name or getattr(hook.function, "__name__", type(hook.function).__name__)


def _describe(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else repr(given)[:_MAX_SHOWN]


_MAX_SHOWN = 60
