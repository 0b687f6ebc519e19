"""The registry: every tool by name, what the model is told of them, which of them are in use."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.nearest import distance
from tejat.core.tool import BaseTool, FunctionDeclaration, Kind
from tejat.core.value import value

ALIASES: Mapping[str, tuple[str, ...]] = {"search_file_content": ("grep", "grep_search")}
"""Other names under which the documents know a tool."""

CLASS_ALIASES: Mapping[str, tuple[str, ...]] = {"GrepTool": ("RipGrepTool",)}


class Source(StrEnum):
    """Where a tool comes from, in the order in which the model is told of them."""

    BUILT_IN = "built-in"
    DISCOVERED = "discovered"
    MCP = "mcp"


@value
class Entry:
    """One registered tool. `load` gives the tool itself, and may import its code only then."""

    declaration: FunctionDeclaration
    display_name: str
    class_name: str
    kind: Kind
    source: Source
    load: Callable[[], BaseTool]

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def names(self) -> frozenset[str]:
        """Every name it can be called by."""
        return frozenset({self.name, *ALIASES.get(self.name, ())})

    @property
    def names_in_settings(self) -> frozenset[str]:
        return self.names | {self.class_name, *CLASS_ALIASES.get(self.class_name, ())}


class ToolRegistry:
    """All tools of a session.

    A tool that settings switch off stays registered but is hidden: neither found nor declared.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._loaded: dict[str, BaseTool] = {}
        self._only: frozenset[str] | None = None
        self._without: frozenset[str] = frozenset()

    def register(self, tool: BaseTool, *, source: Source = Source.BUILT_IN) -> None:
        """Add a tool. Raises UsageError when its name or one of its aliases is taken."""
        entry = Entry(
            declaration=tool.schema,
            display_name=tool.display_name,
            class_name=type(tool).__name__.lstrip("_"),
            kind=tool.kind,
            source=source,
            load=lambda: tool,
        )
        self.register_entry(entry)

    def register_entry(self, entry: Entry) -> None:
        """Add a tool that is loaded when it is first used. Raises UsageError when one of its names is taken."""
        for other in self._entries.values():
            taken = sorted(entry.names & other.names)
            if taken:
                raise UsageError(
                    f'Tool "{entry.name}" cannot be registered: the name "{taken[0]}" already belongs to '
                    f"{other.display_name} ({other.source}). Give one of the two another name."
                )
        self._entries[entry.name] = entry

    def unregister(self, name: str) -> None:
        """Forget a tool. Unknown names are fine."""
        self._entries.pop(name, None)
        self._loaded.pop(name, None)

    def select(self, *, core: Iterable[str] | None = None, exclude: Iterable[str] = ()) -> None:
        """Say which tools are in use, as the settings `tools.core` and `tools.exclude` do.

        Entries are tool names, aliases or class names. `run_shell_command(git status)` in `core` enables the tool; in
        `exclude` it only restricts commands, which is for the policy. Exclusion wins.
        """
        self._only = None if core is None else frozenset(map(_plain_name, core))
        self._without = frozenset(_plain_name(name) for name in exclude if "(" not in name)

    def get(self, name: str) -> BaseTool | None:
        """The tool of this name or alias, if it is in use."""
        entry = self._entry(name)
        if entry is None:
            return None
        tool = self._loaded.get(entry.name)
        if tool is None:
            tool = self._loaded[entry.name] = entry.load()
        return tool

    def __getitem__(self, name: str) -> BaseTool:
        """The tool of this name or alias. Raises ToolFailure (tool_not_registered) that names the nearest ones."""
        tool = self.get(name)
        if tool is None:
            raise ToolFailure(
                f'Tool "{name}" not found in registry. Tools must use the exact names that are registered.'
                + _suggestion(name, [entry.name for entry in self.entries()]),
                ErrorType.TOOL_NOT_REGISTERED,
            )
        return tool

    def kind_of(self, name: str) -> Kind | None:
        """What kind of tool this is, without loading it; None for a name that is unknown or not in use."""
        entry = self._entry(name)
        return None if entry is None else entry.kind

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._entry(name) is not None

    def entries(self) -> list[Entry]:
        """The tools in use: built-ins, then discovered ones, then MCP, each in the order of their registration."""
        order = list(Source)
        active = [entry for entry in self._entries.values() if self._is_active(entry)]
        return sorted(active, key=lambda entry: order.index(entry.source))

    def all_tools(self) -> list[BaseTool]:
        """Every tool in use, loaded, by display name."""
        tools = [self[entry.name] for entry in self.entries()]
        return sorted(tools, key=lambda tool: tool.display_name)

    def names(self) -> list[str]:
        return [entry.name for entry in self.entries()]

    def declarations(self) -> list[FunctionDeclaration]:
        return [entry.declaration for entry in self.entries()]

    def declarations_for(self, names: Iterable[str]) -> list[FunctionDeclaration]:
        """The declarations of these tools in this order; unknown ones are left out."""
        found = {entry.name: entry for name in names if (entry := self._entry(name))}
        return [entry.declaration for entry in found.values()]

    def _entry(self, name: str) -> Entry | None:
        entry = self._entries.get(name) or next((each for each in self._entries.values() if name in each.names), None)
        return entry if entry is not None and self._is_active(entry) else None

    def _is_active(self, entry: Entry) -> bool:
        names = entry.names_in_settings
        if names & self._without:
            return False
        return self._only is None or bool(names & self._only)


def _plain_name(name: str) -> str:
    """A name from the settings without its command part."""
    return name.partition("(")[0].strip()


def _suggestion(name: str, known: list[str]) -> str:
    nearest = sorted(known, key=lambda candidate: distance(name[:64], candidate))[:3]
    quoted = [f'"{candidate}"' for candidate in nearest]
    if not quoted:
        return ""
    return f" Did you mean {quoted[0]}?" if len(quoted) == 1 else f" Did you mean one of: {', '.join(quoted)}?"
