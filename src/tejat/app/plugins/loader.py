"""Loader of plugin code. Whatever the code raises becomes a problem in one line."""

import hashlib
import inspect
import os
import sys
import traceback
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from itertools import islice
from typing import cast

from tejat.app.plugins.discovery import Plugins, PythonTool
from tejat.config.files.reader import AllowedWriters, read_config_bytes
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.base import BaseTool
from tejat.core.tools.tool_check import check_tool
from tejat.tools.python.function_tool import tool as tool_of

MAX_TOOLS = 1_000
"""The maximum number of tools from one origin."""

_MAX_REASON_LENGTH = 300


def load_plugin_file(path: str, *, writers: AllowedWriters, origin: str, digest: str | None = None) -> Plugins:
    """Load the tools of a file: those in `TOOLS`, or else all with a public name.

    With a `digest` the file runs only if it has exactly this content. The source itself is run, never a compiled file
    beside it, which nobody has reviewed.
    """
    try:
        content = read_config_bytes(path, writers=writers)
    except ConfigurationError as error:
        return Plugins(problems=(sanitize_text(str(error)),))
    if content is None:
        return Plugins()
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        return load_failure(origin, _("it has changed since it was trusted. See `tejat trust`"))
    return load_plugin(origin, partial(_tools_in_file, path, content), path)


def collect_tools(thing: object) -> Iterator[BaseTool]:
    """Convert an object to tools. Raises TypeError if it is none, and whatever creating a tool raises.

    Accepted are a tool, a tool class with a constructor without arguments, a function with type hints, an iterable of
    these, or a callable that returns them. A function is called only if its return type hint names tools.
    """
    if isinstance(thing, BaseTool):
        yield thing
    elif make := _constructor(thing):
        yield make()
    elif inspect.isfunction(thing) or inspect.ismethod(thing):
        if _returns_tools(thing):
            yield from collect_tools(cast("object", thing()))
        else:
            yield tool_of(cast("Callable[..., object]", thing))
    elif _is_collection(thing):
        for each in cast("Iterable[object]", thing):
            yield from collect_tools(each)
    elif callable(thing) and not inspect.isclass(thing):
        yield from collect_tools(thing())
    else:
        raise TypeError(
            _(
                "{name} is not a tool, a function or a list of them",
                name=getattr(thing, "__name__", type(thing).__name__),
            )
        )


def _constructor(thing: object) -> Callable[[], BaseTool] | None:
    is_class_of_tools = inspect.isclass(thing) and issubclass(thing, BaseTool)
    return cast("Callable[[], BaseTool]", thing) if is_class_of_tools else None


def _is_collection(thing: object) -> bool:
    return isinstance(thing, Iterable) and not isinstance(thing, str | bytes | Mapping | type)


def _returns_tools(function: object) -> bool:
    """Whether the return type hint names tools."""
    try:
        return _is_tool_hint(typing.get_type_hints(function).get("return"))
    except NameError:
        return False  # reported when it becomes a tool


def _is_tool_hint(hint: object) -> bool:
    if isinstance(hint, type) and issubclass(hint, BaseTool):
        return True
    return any(map(_is_tool_hint, typing.get_args(hint)))


def _load_module(path: str, content: bytes) -> types.ModuleType:
    """Run the file as a module under a name that cannot be imported by accident. Raises what its code raises."""
    stem = os.path.basename(path).removesuffix(".py")
    module = types.ModuleType(f"_tejat_tools_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}_{stem}")
    module.__file__ = path
    code = compile(content, path, "exec", dont_inherit=True)
    # Classes look up their module by name.
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 -- the user put it there to be run
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def _tools_in_file(path: str, content: bytes) -> Iterator[BaseTool]:
    module = _load_module(path, content)
    public = {name: cast("object", thing) for name, thing in module.__dict__.items() if not name.startswith("_")}
    if "TOOLS" in public:
        yield from collect_tools(public["TOOLS"])
        return
    tools = {id(thing): thing for thing in public.values() if isinstance(thing, BaseTool)}
    yield from tools.values()


def load_plugin(origin: str, find: Callable[[], Iterable[BaseTool]], path: str | None = None) -> Plugins:
    """Load the tools that `find` returns, or the problem. `path` is the file it runs, if there is just one."""
    try:
        with redirect_stdout(sys.stderr):
            tools = list(islice(find(), MAX_TOOLS + 1))
            for each in tools:
                check_tool(each)
    except KeyboardInterrupt:  # by the user or a signal
        raise
    except BaseException as error:  # noqa: BLE001 -- not even a plug-in that would end the program does
        return load_failure(origin, describe_error(error, path))
    if not tools:
        return load_failure(origin, _("it has no tools. Mark functions with @tool, or list the tools in TOOLS"))
    if len(tools) > MAX_TOOLS:
        return load_failure(origin, _("it has more than {most} tools", most=MAX_TOOLS))
    return Plugins(tuple(PythonTool(tool, origin) for tool in tools))


def load_failure(origin: str, reason: str) -> Plugins:
    return Plugins(
        problems=(sanitize_text(_("Could not load the tools of {origin}: {reason}.", origin=origin, reason=reason)),)
    )


def describe_error(error: BaseException, path: str | None = None) -> str:
    """Describe an exception in one line: type, message, and where it happened, in the plugin if possible."""
    said = " ".join(str(error).split())
    reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if len(reason) > _MAX_REASON_LENGTH:
        reason = f"{reason[: _MAX_REASON_LENGTH - 1]}…"
    return f"{reason.removesuffix('.')}{_error_location(error, path)}"


def _error_location(error: BaseException, path: str | None) -> str:
    if isinstance(error, SyntaxError):
        return ""  # its message has the location
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_INTERNAL_PATHS)]
    there = [frame for frame in theirs if frame.filename == path] or theirs
    if not there:
        return ""
    return " (" + _("{file}, line {line}", file=there[-1].filename, line=there[-1].lineno) + ")"


_INTERNAL_PATHS = (
    "<frozen",
    os.path.join(os.path.dirname(os.__file__), "importlib", ""),
    os.path.abspath(__file__).removesuffix(os.path.join("app", "plugins", "loader.py")),
)
