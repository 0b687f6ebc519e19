"""Calls that agent frameworks make: they run in a `Toolset` or `SyncTools`, with rules, approval and undo."""

from typing import TypeAlias

from tejat.app.tools.open_tools import ToolsContext
from tejat.app.tools.toolset import Toolset
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, JsonObject, Params, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.function_response import build_response
from tejat.sync_tools import SyncTools

FrameworkTools: TypeAlias = Toolset | SyncTools
"""The tools that a framework is given. Those of `SyncTools` can be called from any thread and event loop."""
Content: TypeAlias = Text | InlineData


class CallOutput(Frozen):
    """What a framework gives to its model: content, or the text of an error."""

    content: tuple[Content, ...]
    error: str | None = None

    @property
    def text(self) -> str:
        """The content without its media."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def media(self) -> tuple[InlineData, ...]:
        return tuple(part for part in self.content if isinstance(part, InlineData))


def check_tools(given: object) -> FrameworkTools:
    """Return what a program gives to an adapter. Raises TypeError if it is no `Toolset` or `SyncTools`."""
    if isinstance(given, Toolset | SyncTools):
        return given
    if isinstance(given, ToolsContext):
        raise TypeError("These tools are not open. Use them inside of `with open_tools() as tools`.")
    kind = f"the class {given.__name__}" if isinstance(given, type) else f"an object of the type {type(given).__name__}"
    raise TypeError(
        f"The tools must come from `open_tools` or `SyncTools`, not {kind}. "
        "Tools of your own are passed to these: `open_tools(tools=[...])`."
    )


def declare_tools(tools: FrameworkTools) -> list[FunctionDeclaration]:
    """The declarations for a framework, under names that every service takes: not all of them take a dot.

    Raises what `check_tools` raises, and UsageError for tools that are not open.
    """
    check_tools(tools)
    return [replace(tool, name=tool.to_openai_responses()["name"]) for tool in tools.declarations()]


async def run_call(tools: FrameworkTools, name: str, arguments: Params, call_id: str | None = None) -> CallOutput:
    """Run a call of a declared tool. Raises what `Toolset.call` raises."""
    call = FunctionCall(_own_name(tools, name), arguments, call_id)
    return _output(call, await (tools.call(call) if isinstance(tools, Toolset) else tools.call_async(call)))


def run_call_sync(tools: FrameworkTools, name: str, arguments: Params) -> CallOutput:
    """Run a call from code that is not asynchronous. Raises UsageError for tools that belong to an event loop."""
    if isinstance(tools, Toolset):
        raise UsageError("These tools are asynchronous. For synchronous calls, open them with SyncTools.")
    call = FunctionCall(_own_name(tools, name), arguments)
    return _output(call, tools.call(call))


def _own_name(tools: FrameworkTools, name: str) -> str:
    """The name of the tool that was declared under a name."""
    if name in tools.registry:
        return name
    return next((tool.name for tool in tools.declarations() if tool.to_openai_responses()["name"] == name), name)


def missing_package(package: str, extra: str) -> ImportError:
    """The error for a framework that is not installed."""
    return ImportError(f"{package} is not installed. Install it with `pip install 'tejat[{extra}]'`.")


def _output(call: FunctionCall, result: ToolResult) -> CallOutput:
    first, *rest = build_response(call, result)
    fields: JsonObject = first.response if isinstance(first, FunctionResponse) else {}
    if result.error is not None:
        return CallOutput((), "\n".join(str(value) for value in fields.values()))
    output = fields.get("output")
    text = output if isinstance(output, str) else dump_json(fields)
    return CallOutput((Text(text), *(_content(part) for part in rest)))


def _content(part: object) -> Content:
    match part:
        case Text() | InlineData():
            return part
        case FileData(file_uri=address):
            return Text(address)
        case _:
            return Text(str(part))
