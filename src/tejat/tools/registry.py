"""Tool registry: all tools by name, their declarations, and which of them are enabled."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.sdk import SdkDeclarations
from tejat.core.provenance import ToolSource
from tejat.core.text.edit_distance import edit_distance
from tejat.core.text.one_or_many import list_names

if TYPE_CHECKING:
    from tejat.core.tools.base import BaseTool

ALIASES: Mapping[str, tuple[str, ...]] = {"search_file_content": ("grep", "grep_search")}
"""Other documented names of tools."""

CLASS_ALIASES: Mapping[str, tuple[str, ...]] = {"GrepTool": ("RipGrepTool",)}

FIND_TOOLS = "find_tools"
"""The tool that searches for others if there are too many to declare."""

ACTIVATE_SKILL = "activate_skill"
"""The tool for skills, registered once they are read."""


class ToolEntry(Frozen):
    """A registered tool. `load` returns the tool itself and may import its code.

    `server` is the MCP server of the tool and `own_name` its name there. `alternate_names` also work in calls, unless
    another tool has them. `origin` is shown to the user.

    `is_declared` says whether models get the declaration now. A tool that is not declared can still be called, and
    `ToolRegistry.declarations_for` declares it to certain sub-agents, such as `get_internal_docs` to `cli_help`.
    """

    declaration: FunctionDeclaration
    display_name: str
    class_name: str
    kind: Kind
    source: ToolSource
    load: "Callable[[], BaseTool]"
    server: str | None = None
    own_name: str = ""
    alternate_names: frozenset[str] = frozenset()
    origin: str = ""
    is_declared: Callable[[], bool] = field(default=lambda: True, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.own_name:
            object.__setattr__(self, "own_name", self.name)

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def names(self) -> frozenset[str]:
        """Names that no other tool can have."""
        return frozenset({self.name, *ALIASES.get(self.name, ())})

    @property
    def settings_names(self) -> frozenset[str]:
        class_names = {self.class_name, *CLASS_ALIASES.get(self.class_name, ())}
        return self.names | self.alternate_names | class_names | {self.own_name}


def entry_for(
    tool: "BaseTool",
    *,
    source: ToolSource = ToolSource.BUILT_IN,
    alternate_names: str | Iterable[str] = (),
    origin: str = "",
) -> ToolEntry:
    """Create the entry of a tool that is loaded already."""
    return ToolEntry(
        declaration=tool.schema,
        display_name=tool.display_name,
        class_name=type(tool).__name__.lstrip("_"),
        kind=tool.kind,
        source=source,
        load=lambda: tool,
        server=tool.server_name,
        own_name=tool.own_name,
        alternate_names=frozenset(list_names(alternate_names)),
        origin=origin,
    )


class ToolRegistry(SdkDeclarations):
    """All tools of a session.

    A tool disabled by the settings stays registered, but is neither found nor declared. `version` changes with every
    change of the tools.
    """

    def __init__(self) -> None:
        self._entries: dict[str, ToolEntry] = {}
        self._owners: dict[str, str] = {}
        self._reserved: dict[str, str] = {name: name for name in (FIND_TOOLS, ACTIVATE_SKILL)}
        self._loaded: dict[str, BaseTool] = {}
        self._core_names: frozenset[str] | None = None
        self._excluded_names: frozenset[str] = frozenset()
        self._descriptions: dict[str, str] = {}
        self._activated: dict[str, None] = {}
        self._active_cache: _ActiveTools | None = None
        self.find_undeclared: Callable[[str], ToolEntry | None] = lambda _: None
        """Finds tools that can be called, but are neither listed nor declared."""
        self.version = 0

    def register(self, tool: "BaseTool", *, source: ToolSource = ToolSource.PYTHON, origin: str = "") -> None:
        """Add a tool. Raises UsageError if its name or one of its aliases is taken.

        `source` and `origin` are shown to the user: by default it is a tool of the calling program. Raises TypeError
        for an object that breaks the contract of `BaseTool`, ValueError for an invalid name.
        """
        from tejat.core.tools.tool_check import check_tool

        self.register_entry(entry_for(check_tool(tool), source=source, origin=origin))

    def register_entry(self, entry: ToolEntry) -> None:
        """Add a tool that is loaded on first use. Raises UsageError if one of its names is taken.

        Names of built-in tools stay reserved for them: policy rules refer to tools by name.
        """
        problem = self._find_name_conflict(entry)
        if problem:
            raise UsageError(problem)
        self._entries[entry.name] = entry
        self._owners |= dict.fromkeys(entry.names, entry.name)
        if entry.source is ToolSource.BUILT_IN:
            self._reserved |= dict.fromkeys(entry.settings_names, entry.display_name)
        self._mark_changed()

    def unregister(self, name: str) -> None:
        """Remove a tool. Unknown names are ignored."""
        entry = self._entries.pop(name, None)
        if entry is None:
            return
        self._loaded.pop(name, None)
        for taken in entry.names:
            del self._owners[taken]
        self._mark_changed()

    def replace_server_tools(self, alias: str, entries: Iterable[ToolEntry], *, description: str = "") -> list[str]:
        """Replace all tools of a server in one step.

        Returns problems with tools that could not be registered; the messages contain the names as the server sent
        them.
        """
        given = [replace(entry, source=ToolSource.MCP, server=alias) for entry in entries]
        problems = self._replace_entries(lambda entry: entry.source is ToolSource.MCP and entry.server == alias, given)
        self._descriptions[alias] = description
        return problems

    def replace_discovered_tools(self, entries: Iterable[ToolEntry]) -> list[str]:
        """Replace all tools found by the discovery command. Returns problems as `replace_server_tools` does."""
        given = [replace(entry, source=ToolSource.DISCOVERED, server=None) for entry in entries]
        return self._replace_entries(lambda entry: entry.source is ToolSource.DISCOVERED, given)

    def select(self, *, core: str | Iterable[str] | None = None, exclude: str | Iterable[str] = ()) -> None:
        """Enable tools as the settings `tools.core` and `tools.exclude` say.

        Entries are tool names, aliases or class names; a tool of a server is excluded by its name with or without the
        server. `core` affects built-in tools only. `run_shell_command(git status)` in `core` enables the tool; in
        `exclude` it is a restriction for the policy. Exclusion wins.
        """
        self._core_names = None if core is None else frozenset(map(_plain_name, list_names(core)))
        self._excluded_names = frozenset(_plain_name(name) for name in list_names(exclude) if "(" not in name)
        self._mark_changed()

    def settings_names(self) -> set[str]:
        """The names that settings may use for the tools, of disabled ones too."""
        return set(self.spellings())

    def spellings(self) -> dict[str, str]:
        """The name of the tool for each name that settings may use, of disabled tools too. Any thread may call it."""
        return {name: entry.name for entry in tuple(self._entries.values()) for name in entry.settings_names}

    def get(self, name: str) -> "BaseTool | None":
        """Find an enabled tool by name, alias or alternate name.

        The name of a server's tool works without the server as long as it is unambiguous.
        """
        return None if (entry := self.entry(name)) is None else self._load_tool(entry)

    def __getitem__(self, name: str) -> "BaseTool":
        """Find a tool for a call and declare it to the model from now on.

        Raises ToolFailure (tool_not_registered) with the most similar names.
        """
        if not isinstance(cast("object", name), str):
            raise TypeError(f"The name of a tool must be a string, not {name!r}.")
        if (entry := self.entry(name)) is None:
            message = lazy(
                'Tool "{name}" not found in registry. Tools must use the exact names that are registered.', name=name
            )
            hint = _suggestion(name, self.names())
            raise ToolFailure(join_lazy(" ", (message, hint)) if hint else message, ErrorType.TOOL_NOT_REGISTERED)
        self.activate([entry.name])
        return self._load_tool(entry)

    def entry(self, name: str) -> ToolEntry | None:
        """Find the entry of an enabled tool without loading it; None for unknown and disabled tools."""
        owner = self._owners.get(name)
        in_use = self._active_tools()
        if owner is not None:
            return in_use.by_name.get(owner)
        return in_use.other_names.get(name) or self.find_undeclared(name)

    def builtin_entry(self, name: str) -> ToolEntry | None:
        """Find the entry of a built-in tool, also if the settings keep it from the model."""
        entry = self._entries.get(name)
        return None if entry is None or entry.source is not ToolSource.BUILT_IN else entry

    def builtin(self, name: str) -> "BaseTool | None":
        """Find a built-in tool for the program itself, also if the settings keep it from the model."""
        return None if (entry := self.builtin_entry(name)) is None else self._load_tool(entry)

    def kind_of(self, name: str) -> Kind | None:
        """Find the kind of an enabled tool without loading it; None for unknown and disabled tools."""
        return None if (entry := self.entry(name)) is None else entry.kind

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.entry(name) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of the enabled tools, in the order of `entries`."""
        return iter(self.names())

    def __len__(self) -> int:
        return len(self._active_tools().by_name)

    def __bool__(self) -> bool:
        return True  # a registry without tools is one too

    def __repr__(self) -> str:
        return f"<ToolRegistry: {', '.join(self.names()) or 'no tools'}>"

    def entries(self) -> list[ToolEntry]:
        """List the enabled tools: built-in, Python, discovered, then MCP tools by server name.

        Tools of one source keep the order of their registration, whichever server connected first.
        """
        return list(self._active_tools().by_name.values())

    def all_tools(self) -> "list[BaseTool]":
        """Load all enabled tools, sorted by display name."""
        return sorted(map(self._load_tool, self.entries()), key=lambda tool: tool.display_name)

    def tools_by_server(self, alias: str) -> list[ToolEntry]:
        """List the enabled tools of one server, sorted by name."""
        own = (entry for entry in self.entries() if entry.server == alias)
        return sorted(own, key=lambda entry: entry.name)

    def server_description(self, alias: str) -> str:
        return self._descriptions.get(alias, "")

    def names(self) -> list[str]:
        return list(self._active_tools().by_name)

    def declarations(self) -> list[FunctionDeclaration]:
        """List the declarations of the tools that models are told of."""
        return [entry.declaration for entry in self.entries() if entry.is_declared()]

    def declarations_for(self, names: str | Iterable[str]) -> list[FunctionDeclaration]:
        """List the declarations of the named tools in this order, also of those that are not declared to everyone.

        Unknown names are skipped.
        """
        found = {entry.name: entry for name in list_names(names) if (entry := self.entry(name))}
        return [entry.declaration for entry in found.values()]

    def activate(self, names: str | Iterable[str]) -> None:
        """Declare these tools to the model from now on, even if there are too many to declare all."""
        new = [name for name in list_names(names) if name in self._entries and name not in self._activated]
        if new:
            self._activated |= dict.fromkeys(new)
            self.version += 1

    @property
    def activated_names(self) -> list[str]:
        """Names of the activated tools, in order of activation."""
        return list(self._activated)

    def _load_tool(self, entry: ToolEntry) -> "BaseTool":
        tool = self._loaded.get(entry.name)
        if tool is None:
            tool = self._loaded[entry.name] = entry.load()
        return tool

    def _replace_entries(self, is_old: Callable[[ToolEntry], bool], new: Sequence[ToolEntry]) -> list[str]:
        for name in [entry.name for entry in self._entries.values() if is_old(entry)]:
            self.unregister(name)
        problems: list[str] = []
        for entry in new:
            try:
                self.register_entry(entry)
            except UsageError as error:
                problems.append(str(error))
        self._mark_changed()
        return problems

    def _find_name_conflict(self, entry: ToolEntry) -> str | None:
        for name in sorted(entry.names):
            holder = self._describe_owner(name)
            if holder is None and entry.source is not ToolSource.BUILT_IN and name in self._reserved:
                holder = f"{self._reserved[name]} ({ToolSource.BUILT_IN})"
            if holder is not None:
                return (
                    f'Tool "{entry.name}" cannot be registered: the name "{name}" already belongs to {holder}. '
                    "Give one of the two another name."
                )
        return None

    def _describe_owner(self, name: str) -> str | None:
        if name not in self._owners:
            return None
        owner = self._entries[self._owners[name]]
        whose = owner.source if owner.server is None else f"server {owner.server}"
        return f"{owner.display_name} ({owner.origin or whose})"

    def _mark_changed(self) -> None:
        self._active_cache = None
        self.version += 1

    def _active_tools(self) -> "_ActiveTools":
        if self._active_cache is None:
            active = filter(self._is_active, self._entries.values())
            self._active_cache = _build_active_tools(active, {*self._owners, *self._reserved})
        return self._active_cache

    def _is_active(self, entry: ToolEntry) -> bool:
        names = entry.settings_names
        if names & self._excluded_names:
            return False
        if self._core_names is None or entry.source is not ToolSource.BUILT_IN or entry.name == FIND_TOOLS:
            return True
        return bool(names & self._core_names)


class _ActiveTools(Frozen):
    """Enabled tools in order, and the other unambiguous names they can be called by."""

    by_name: dict[str, ToolEntry]
    other_names: dict[str, ToolEntry]


def _build_active_tools(active: Iterable[ToolEntry], taken: set[str]) -> _ActiveTools:
    order = list(ToolSource)
    entries = sorted(active, key=lambda entry: (order.index(entry.source), entry.server or ""))
    spelled = _unambiguous_names((spelling, entry) for entry in entries for spelling in entry.alternate_names)
    bare = _unambiguous_names((entry.own_name, entry) for entry in entries if entry.own_name != entry.name)
    others = {name: entry for name, entry in (bare | spelled).items() if entry is not None and name not in taken}
    return _ActiveTools({entry.name: entry for entry in entries}, others)


def _unambiguous_names(pairs: Iterable[tuple[str, ToolEntry]]) -> dict[str, ToolEntry | None]:
    """Map each name to its tool, or to None if several tools have it."""
    by_name: dict[str, ToolEntry | None] = {}
    for name, entry in pairs:
        by_name[name] = entry if by_name.setdefault(name, entry) is entry else None
    return by_name


def _plain_name(name: str) -> str:
    """Strip the command part of a name from the settings."""
    return name.partition("(")[0].strip()


def _suggestion(name: str, known: list[str]) -> str:
    name = name[:_MAX_COMPARED_LENGTH]
    nearest = sorted(_prefilter(name, known), key=lambda candidate: edit_distance(name, candidate))[:3]
    quoted = [f'"{candidate}"' for candidate in nearest]
    if not quoted:
        return ""
    if len(quoted) == 1:
        return lazy("Did you mean {name}?", name=quoted[0])
    return lazy("Did you mean one of: {names}?", names=", ".join(quoted))


def _prefilter(name: str, known: list[str]) -> list[str]:
    """Select the names that share most bigrams, as comparing thousands of names by edit distance is slow."""
    if len(known) <= _MAX_COMPARED:
        return known
    pairs = _bigrams(name)
    return sorted(known, key=lambda candidate: -len(pairs & _bigrams(candidate)))[:_MAX_COMPARED]


def _bigrams(name: str) -> set[str]:
    return {name[at : at + 2] for at in range(len(name) - 1)}


_MAX_COMPARED_LENGTH = 64
_MAX_COMPARED = 50
