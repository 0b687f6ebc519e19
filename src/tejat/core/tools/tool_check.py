"""Checks of tools of other authors, before a model is told of them."""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping

from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import BaseTool, ParsingTool, ProposingTool, TypedTool

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_ASYNC_METHODS: Mapping[type[BaseTool], tuple[str, ...]] = {
    BaseTool: ("execute", "should_confirm_execute"),
    TypedTool: ("run",),
    ProposingTool: ("propose",),
}
_PLAIN_METHODS: Mapping[type[BaseTool], tuple[str, ...]] = {
    BaseTool: ("validate_tool_params", "get_description", "tool_locations", "rejection"),
    ParsingTool: ("parse",),
    TypedTool: ("check", "describe", "locations"),
}
_CALLS: Mapping[type[BaseTool], tuple[str, ...]] = {BaseTool: ("execute",), TypedTool: ("run",)}
_ATTRIBUTES: Mapping[str, type] = {
    "name": str,
    "display_name": str,
    "description": str,
    "parameter_schema": Mapping,
    "kind": Kind,
    "is_output_markdown": bool,
    "can_update_output": bool,
}


def check_tool(tool: object) -> BaseTool:
    """Return the tool if it can be declared and called.

    Raises TypeError for a class that breaks the contract of `BaseTool`, ValueError for an invalid name.
    """
    if isinstance(tool, type) and issubclass(tool, BaseTool):
        raise TypeError(f"{tool.__name__} is a class. Pass a tool, for example {tool.__name__}().")
    if not isinstance(tool, BaseTool):
        raise TypeError(f"{tool!r} is not a tool. A function becomes one with `@tool`.")
    cls = type(tool).__name__
    for name, expected in _ATTRIBUTES.items():
        if not hasattr(tool, name):
            raise TypeError(f"{cls} has no {name!r}. Call `super().__init__(...)` in its constructor.")
        if not isinstance(getattr(tool, name), expected):
            raise TypeError(f"{cls}.{name} must be a {expected.__name__}, not {getattr(tool, name)!r}")
    check_tool_name(tool.name)
    _check_schema(tool, cls)
    _check_methods(tool, cls)
    return tool


def check_tool_name(name: object) -> None:
    """Raise TypeError or ValueError for a name that no model service accepts."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a tool is a str, not {name!r}")
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{name!r} is not a valid tool name: use letters, digits, '_' and '-', at most 64")


def _check_schema(tool: BaseTool, cls: str) -> None:
    declared = tool.parameter_schema.get("type", "object")
    if declared != "object":
        raise TypeError(f"{cls}.parameter_schema must be the JSON Schema of an object, not of {declared!r}")
    try:
        json.dumps(tool.schema.to_json(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{cls}.parameter_schema cannot be written as JSON: {error}") from None


def _check_methods(tool: BaseTool, cls: str) -> None:
    for name, method in _methods(tool, _ASYNC_METHODS):
        if not inspect.iscoroutinefunction(inspect.unwrap(method)):
            raise TypeError(f"{cls}.{name} must be `async def`")
    for name, method in _methods(tool, _PLAIN_METHODS):
        if inspect.iscoroutinefunction(inspect.unwrap(method)):
            raise TypeError(f"{cls}.{name} must not be `async def`")
    for name, method in _methods(tool, _CALLS):
        if not _takes_two(method):
            raise TypeError(f"{cls}.{name} must take the parameters and the context: `{name}(self, params, context)`")


def _methods(
    tool: BaseTool, names: Mapping[type[BaseTool], tuple[str, ...]]
) -> Iterator[tuple[str, Callable[..., object]]]:
    for base, methods in names.items():
        if isinstance(tool, base):
            yield from ((name, getattr(tool, name)) for name in methods)


def _takes_two(method: Callable[..., object]) -> bool:
    try:
        inspect.signature(method).bind(None, None)
    except TypeError:
        return False
    return True
