"""The registry: every tool by name, what the model is told of them, which of them are in use."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.nearest import distance
from tejat.core.tool import BaseTool, FunctionDeclaration, Kind
from tejat.core.value import replace, value
from tejat.core.words import joined, phrase

ALIASES: Mapping[str, tuple[str, ...]] = {"search_file_content": ("grep", "grep_search")}
"""Other names under which the documents know a tool."""

CLASS_ALIASES: Mapping[str, tuple[str, ...]] = {"GrepTool": ("RipGrepTool",)}

FIND_TOOLS = "find_tools"
"""The tool that looks for others where there are too many to tell of."""


class Source(StrEnum):
    """Where a tool comes from, in the order in which the model is told of them."""

    BUILT_IN = "built-in"
    PYTHON = "python"
    DISCOVERED = "discovered"
    MCP = "mcp"


@value
class Entry:
    """One registered tool. `load` gives the tool itself, and may import its code only then.

    `server` is the server it belongs to, and `own_name` its name there. `spellings` are further names it may be called
    by, as long as they mean no other tool. `origin` tells a person where it was found.
    """

    declaration: FunctionDeclaration
    display_name: str
    class_name: str
    kind: Kind
    source: Source
    load: Callable[[], BaseTool]
    server: str | None = None
    own_name: str = ""
    spellings: frozenset[str] = frozenset()
    origin: str = ""

    def __post_init__(self) -> None:
        if not self.own_name:
            object.__setattr__(self, "own_name", self.name)

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def names(self) -> frozenset[str]:
        """The names that are its own, and nobody else's."""
        return frozenset({self.name, *ALIASES.get(self.name, ())})

    @property
    def names_in_settings(self) -> frozenset[str]:
        return self.names | self.spellings | {self.own_name, self.class_name, *CLASS_ALIASES.get(self.class_name, ())}


def entry_of(
    tool: BaseTool, *, source: Source = Source.BUILT_IN, spellings: Iterable[str] = (), origin: str = ""
) -> Entry:
    """The entry of a tool that is there already."""
    return Entry(
        declaration=tool.schema,
        display_name=tool.display_name,
        class_name=type(tool).__name__.lstrip("_"),
        kind=tool.kind,
        source=source,
        load=lambda: tool,
        server=tool.server_name,
        own_name=tool.own_name,
        spellings=frozenset(spellings),
        origin=origin,
    )


class ToolRegistry:
    """All tools of a session.

    A tool that settings switch off stays registered but is hidden: neither found nor declared. `version` is another
    number whenever something has changed.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._owners: dict[str, str] = {}
        self._reserved: dict[str, str] = {FIND_TOOLS: FIND_TOOLS}
        self._loaded: dict[str, BaseTool] = {}
        self._only: frozenset[str] | None = None
        self._without: frozenset[str] = frozenset()
        self._descriptions: dict[str, str] = {}
        self._called: dict[str, None] = {}
        self._known: _InUse | None = None
        self.version = 0

    def register(self, tool: BaseTool, *, source: Source = Source.BUILT_IN, origin: str = "") -> None:
        """Add a tool. Raises UsageError when its name or one of its aliases is taken."""
        self.register_entry(entry_of(tool, source=source, origin=origin))

    def register_entry(self, entry: Entry) -> None:
        """Add a tool that is loaded when it is first used. Raises UsageError when one of its names is taken.

        A name that was ever that of a built-in tool is kept for built-in ones: rules know them by it.
        """
        problem = self._clash(entry)
        if problem:
            raise UsageError(problem)
        self._entries[entry.name] = entry
        self._owners |= dict.fromkeys(entry.names, entry.name)
        if entry.source is Source.BUILT_IN:
            self._reserved |= dict.fromkeys(entry.names_in_settings, entry.display_name)
        self._has_changed()

    def unregister(self, name: str) -> None:
        """Forget a tool. Unknown names are fine."""
        entry = self._entries.pop(name, None)
        if entry is None:
            return
        self._loaded.pop(name, None)
        for taken in entry.names:
            del self._owners[taken]
        self._has_changed()

    def replace_server(self, alias: str, entries: Iterable[Entry], *, description: str = "") -> list[str]:
        """Put these in the place of all tools of a server, in one step; other tools are left alone.

        Returns what is wrong with those that could not be taken, in words that hold the names as the server gave them.
        """
        given = [replace(entry, source=Source.MCP, server=alias) for entry in entries]
        problems = self._exchange(lambda entry: entry.source is Source.MCP and entry.server == alias, given)
        self._descriptions[alias] = description
        return problems

    def replace_discovered(self, entries: Iterable[Entry]) -> list[str]:
        """The same for all tools that a command told of."""
        given = [replace(entry, source=Source.DISCOVERED, server=None) for entry in entries]
        return self._exchange(lambda entry: entry.source is Source.DISCOVERED, given)

    def select(self, *, core: Iterable[str] | None = None, exclude: Iterable[str] = ()) -> None:
        """Say which tools are in use, as the settings `tools.core` and `tools.exclude` do.

        Entries are tool names, aliases or class names; a server's tool is excluded by its name with the server or
        without. `core` is about built-in tools only. `run_shell_command(git status)` in `core` enables the tool; in
        `exclude` it only restricts commands, which is for the policy. Exclusion wins.
        """
        self._only = None if core is None else frozenset(map(_plain_name, core))
        self._without = frozenset(_plain_name(name) for name in exclude if "(" not in name)
        self._has_changed()

    def get(self, name: str) -> BaseTool | None:
        """The tool of this name, alias or other spelling, if it is in use.

        A name without its server will do as long as no other tool in use has it.
        """
        entry = self.entry(name)
        return None if entry is None else self._tool(entry)

    def __getitem__(self, name: str) -> BaseTool:
        """The tool of this name or alias, for a call: the model is told of it from now on, if it was not.

        Raises ToolFailure (tool_not_registered) that names the nearest ones.
        """
        entry = self.entry(name)
        if entry is None:
            told = phrase(
                'Tool "{name}" not found in registry. Tools must use the exact names that are registered.', name=name
            )
            hint = _suggestion(name, self.names())
            raise ToolFailure(joined(" ", (told, hint)) if hint else told, ErrorType.TOOL_NOT_REGISTERED)
        self.tell_of([entry.name])
        return self._tool(entry)

    def entry(self, name: str) -> Entry | None:
        """What is known of the tool of this name or alias without loading it; None if it is unknown or not in use."""
        owner = self._owners.get(name)
        in_use = self._in_use()
        return in_use.by_name.get(owner) if owner is not None else in_use.other_names.get(name)

    def kind_of(self, name: str) -> Kind | None:
        """What kind of tool this is, without loading it; None for a name that is unknown or not in use."""
        entry = self.entry(name)
        return None if entry is None else entry.kind

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.entry(name) is not None

    def entries(self) -> list[Entry]:
        """The tools in use: built-ins, those from Python, discovered ones, then MCP by the names of the servers.

        Those of one source are in the order of their registration, whoever was connected first.
        """
        return list(self._in_use().by_name.values())

    def all_tools(self) -> list[BaseTool]:
        """Every tool in use, loaded, by display name."""
        return sorted(map(self._tool, self.entries()), key=lambda tool: tool.display_name)

    def tools_by_server(self, alias: str) -> list[Entry]:
        """The tools in use of one server, by name."""
        own = (entry for entry in self.entries() if entry.server == alias)
        return sorted(own, key=lambda entry: entry.name)

    def description_of_server(self, alias: str) -> str:
        return self._descriptions.get(alias, "")

    def names(self) -> list[str]:
        return list(self._in_use().by_name)

    def declarations(self) -> list[FunctionDeclaration]:
        return [entry.declaration for entry in self.entries()]

    def declarations_for(self, names: Iterable[str]) -> list[FunctionDeclaration]:
        """The declarations of these tools in this order; unknown ones are left out."""
        found = {entry.name: entry for name in names if (entry := self.entry(name))}
        return [entry.declaration for entry in found.values()]

    def tell_of(self, names: Iterable[str]) -> None:
        """Declare these to the model from now on, even where there are too many tools to tell of all."""
        foreign = (
            name for name in names if name in self._entries and self._entries[name].source is not Source.BUILT_IN
        )
        new = [name for name in foreign if name not in self._called]
        if new:
            self._called |= dict.fromkeys(new)
            self.version += 1

    @property
    def told_of(self) -> list[str]:
        """The names of the tools beside the built-in ones that were called or looked up so far, in that order."""
        return list(self._called)

    def _tool(self, entry: Entry) -> BaseTool:
        tool = self._loaded.get(entry.name)
        if tool is None:
            tool = self._loaded[entry.name] = entry.load()
        return tool

    def _exchange(self, is_old: Callable[[Entry], bool], new: Sequence[Entry]) -> list[str]:
        for name in [entry.name for entry in self._entries.values() if is_old(entry)]:
            self.unregister(name)
        problems: list[str] = []
        for entry in new:
            try:
                self.register_entry(entry)
            except UsageError as error:
                problems.append(str(error))
        self._has_changed()
        return problems

    def _clash(self, entry: Entry) -> str | None:
        for name in sorted(entry.names):
            holder = self._holder(name)
            if holder is None and entry.source is not Source.BUILT_IN and name in self._reserved:
                holder = f"{self._reserved[name]} ({Source.BUILT_IN})"
            if holder is not None:
                return (
                    f'Tool "{entry.name}" cannot be registered: the name "{name}" already belongs to {holder}. '
                    "Give one of the two another name."
                )
        return None

    def _holder(self, name: str) -> str | None:
        if name not in self._owners:
            return None
        owner = self._entries[self._owners[name]]
        whose = owner.source if owner.server is None else f"server {owner.server}"
        return f"{owner.display_name} ({owner.origin or whose})"

    def _has_changed(self) -> None:
        self._known = None
        self.version += 1

    def _in_use(self) -> "_InUse":
        if self._known is None:
            self._known = _in_use(filter(self._is_active, self._entries.values()), {*self._owners, *self._reserved})
        return self._known

    def _is_active(self, entry: Entry) -> bool:
        names = entry.names_in_settings
        if names & self._without:
            return False
        if self._only is None or entry.source is not Source.BUILT_IN or entry.name == FIND_TOOLS:
            return True
        return bool(names & self._only)


class _InUse(NamedTuple):
    """The tools in use in their order, and what else they can be called by: only names that mean a single one."""

    by_name: dict[str, Entry]
    other_names: dict[str, Entry]


def _in_use(active: Iterable[Entry], taken: set[str]) -> _InUse:
    order = list(Source)
    entries = sorted(active, key=lambda entry: (order.index(entry.source), entry.server or ""))
    spelled = _meaning_one((spelling, entry) for entry in entries for spelling in entry.spellings)
    bare = _meaning_one((entry.own_name, entry) for entry in entries if entry.own_name != entry.name)
    others = {name: entry for name, entry in (bare | spelled).items() if entry is not None and name not in taken}
    return _InUse({entry.name: entry for entry in entries}, others)


def _meaning_one(pairs: Iterable[tuple[str, Entry]]) -> dict[str, Entry | None]:
    """What each name means, None where that is more than one tool."""
    meant: dict[str, Entry | None] = {}
    for name, entry in pairs:
        meant[name] = entry if meant.setdefault(name, entry) is entry else None
    return meant


def _plain_name(name: str) -> str:
    """A name from the settings without its command part."""
    return name.partition("(")[0].strip()


def _suggestion(name: str, known: list[str]) -> str:
    name = name[:_LONGEST_COMPARED]
    nearest = sorted(_likely(name, known), key=lambda candidate: distance(name, candidate))[:3]
    quoted = [f'"{candidate}"' for candidate in nearest]
    if not quoted:
        return ""
    if len(quoted) == 1:
        return phrase("Did you mean {name}?", name=quoted[0])
    return phrase("Did you mean one of: {names}?", names=", ".join(quoted))


def _likely(name: str, known: list[str]) -> list[str]:
    """Of very many names those that share most with this one: to compare them all letter by letter takes long."""
    if len(known) <= _MOST_COMPARED:
        return known
    pairs = _pairs(name)
    return sorted(known, key=lambda candidate: -len(pairs & _pairs(candidate)))[:_MOST_COMPARED]


def _pairs(name: str) -> set[str]:
    return {name[at : at + 2] for at in range(len(name) - 1)}


_LONGEST_COMPARED = 64
_MOST_COMPARED = 50
