"""The sub-agents of a session, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.config.agents.builtin import DESCRIPTIONS, GENERALIST, HELP, builtin_definition
from tejat.config.agents.catalogue import SubagentCatalogue, build_catalogue
from tejat.config.agents.entries import SubagentEntry, SubagentState
from tejat.config.agents.places import AgentDirectory
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Party, Provenance
from tejat.core.text.catalogue import CatalogueItem

if TYPE_CHECKING:
    from tejat.config.agents.tool_list import KnownTools
    from tejat.config.settings.types import Setting
    from tejat.core.agent.subagents import SubagentDefinition

_MIN_TURNS_FOR_GENERALIST = 3
_PREFIXES = frozenset({*Party, "agent"})
"""What qualified names of other agents begin with. No extension can be called so."""


class SubagentSources(Frozen):
    """Where agents come from, and the settings about them.

    `overrides` are the settings for single agents, lowest precedence first. `known_tools` is asked if there are files
    to check. `excluded` are names that the user excluded like tools. `max_turns` is the limit of the run.
    `catalogue_tokens` is the user's limit for the catalogue.
    """

    directories: tuple[AgentDirectory, ...] = ()
    known_tools: Callable[[], KnownTools] | None = field(default=None, compare=False)
    overrides: Mapping[str, Sequence[Setting[JsonObject]]] = MappingProxyType({})
    excluded: frozenset[str] = frozenset()
    has_docs_tool: bool = True
    max_turns: int | None = None
    catalogue_tokens: int | None = None
    cache_path: str = ""
    is_enabled: bool = True


class SubagentRegistry:
    """All agents that can be found. The files are read on first use, in whatever thread that is.

    Reading them raises nothing: what is unusable is an entry or a problem.
    """

    def __init__(self, sources: SubagentSources) -> None:
        self._sources = sources
        self._found: _FoundAgents | None = None
        self._lock = threading.Lock()

    def reload(self, sources: SubagentSources) -> None:
        """Read all files again."""
        with self._lock:
            self._sources, self._found = sources, _find_agents(sources)

    def replace_definitions(self, change: Callable[[SubagentDefinition], SubagentDefinition]) -> None:
        """Change the definition of every agent, until the files are read again."""
        found = self._find()
        entries = (
            entry if entry.definition is None else replace(entry, definition=change(entry.definition))
            for entry in found.entries
        )
        with self._lock:
            self._found = replace(found, entries=tuple(entries))

    @property
    def entries(self) -> tuple[SubagentEntry, ...]:
        return self._find().entries

    @property
    def problems(self) -> tuple[str, ...]:
        """Lines for the user about files and settings that cannot be used."""
        return self._find().problems

    def _find(self) -> _FoundAgents:
        with self._lock:
            if self._found is None:
                self._found = _find_agents(self._sources)
            return self._found

    def find(self, name: str) -> SubagentDefinition | None:
        """The agent that a bare or qualified name means, None if there is none or it is disabled."""
        usable = (SubagentState.AVAILABLE, SubagentState.HIDDEN)
        for entry in self.entries:
            is_meant = name == entry.qualified_name or (name == entry.name and entry.state is SubagentState.AVAILABLE)
            if is_meant and entry.state in usable:
                return entry.definition
        return None

    def callable_name(self, name: str) -> str | None:
        """The name to call an agent by: its bare name if that means it, else the qualified one."""
        found = self.find(name)
        if found is None:
            return None
        return found.name if self.find(found.name) is found else found.qualified_name

    def find_entry(self, name: str) -> SubagentEntry | None:
        """The entry that a name means, even if it cannot be used; usable ones first."""
        named = [entry for entry in self.entries if name in (entry.name, entry.qualified_name)]
        return min(named, key=lambda entry: entry.state is not SubagentState.AVAILABLE, default=None)

    def available(self) -> tuple[SubagentDefinition, ...]:
        """The agents that their bare names mean, highest precedence first."""
        return tuple(
            entry.definition
            for entry in self.entries
            if entry.definition is not None and entry.state is SubagentState.AVAILABLE
        )

    def shadowed(self) -> list[tuple[SubagentEntry, SubagentEntry]]:
        """The agents that only have their qualified names, each with the one that has the bare name."""
        owners = {entry.name: entry for entry in self.entries if entry.state is SubagentState.AVAILABLE}
        hidden = (entry for entry in self.entries if entry.state is SubagentState.HIDDEN)
        return [(entry, owners[entry.name]) for entry in hidden if entry.name in owners]

    def catalogue(self, window: int) -> str:
        """The section of the system prompt about agents, for a context window of this many tokens."""
        return self.build_catalogue(window).text

    def build_catalogue(self, window: int) -> SubagentCatalogue:
        """The section and how it was fitted."""
        items = [CatalogueItem(each.name, each.description) for each in self.available()]
        return build_catalogue(items, window=window, limit=self._sources.catalogue_tokens)


class _FoundAgents(Frozen):
    entries: tuple[SubagentEntry, ...] = ()
    problems: tuple[str, ...] = ()


def _find_agents(sources: SubagentSources) -> _FoundAgents:
    if not sources.is_enabled:
        return _FoundAgents()
    problems: list[str] = []
    found = list(_builtin_entries(sources))
    if sources.directories:
        found += _read_directories(sources, problems)
    if sources.overrides:
        found = [_apply_overrides(entry, sources, problems) for entry in found]
    entries = tuple(_hide_duplicates(found))
    return _FoundAgents(entries, (*problems, *(line for entry in entries for line in entry.problems)))


def _builtin_entries(sources: SubagentSources) -> Iterator[SubagentEntry]:
    for name in DESCRIPTIONS:
        entry = SubagentEntry(name, Provenance(Party.BUILT_IN), definition=builtin_definition(name))
        reason = ""
        if name == GENERALIST and sources.max_turns is not None and sources.max_turns < _MIN_TURNS_FOR_GENERALIST:
            reason = lazy("the run is limited to fewer than {count} turns", count=_MIN_TURNS_FOR_GENERALIST)
        if name == HELP and not sources.has_docs_tool:
            reason = lazy("the tool get_internal_docs is not available")
        if name in sources.excluded:
            reason = lazy("it is excluded like a tool")
        yield replace(entry, state=SubagentState.DISABLED, reason=reason) if reason else entry


def _read_directories(sources: SubagentSources, problems: list[str]) -> list[SubagentEntry]:
    # Imported late: most users have no such files.
    from tejat.config.agents.directory import AgentReader
    from tejat.config.agents.tool_list import KnownTools
    from tejat.config.files.yaml_cache import YamlCache

    cache = YamlCache(sources.cache_path)
    reader = AgentReader(KnownTools() if sources.known_tools is None else sources.known_tools(), cache.parse)
    entries: list[SubagentEntry] = []
    for directory in sources.directories:
        if directory.party is Party.EXTENSION and directory.extension in _PREFIXES:
            problems.append(
                lazy(
                    "Ignoring the agents of the extension {name}: its name is reserved for other agents.",
                    name=directory.extension,
                )
            )
            continue
        entries += reader.read(directory)
    cache.save()
    problems += reader.problems
    excluded = lazy("it is excluded like a tool")
    return [
        replace(entry, state=SubagentState.DISABLED, reason=excluded) if _is_excluded(entry, sources) else entry
        for entry in entries
    ]


def _is_excluded(entry: SubagentEntry, sources: SubagentSources) -> bool:
    return entry.definition is not None and not sources.excluded.isdisjoint((entry.name, entry.qualified_name))


def _apply_overrides(entry: SubagentEntry, sources: SubagentSources, problems: list[str]) -> SubagentEntry:
    settings = [*sources.overrides.get(entry.name, ()), *sources.overrides.get(entry.qualified_name, ())]
    if entry.definition is None or not settings:
        return entry
    from tejat.config.agents.overrides import apply_overrides
    from tejat.config.agents.tool_list import KnownTools

    known = KnownTools() if sources.known_tools is None else sources.known_tools()
    changed = apply_overrides(entry.definition, settings, known)
    problems += changed.problems
    entry = replace(entry, definition=changed.definition)
    if changed.is_enabled or entry.state is SubagentState.DISABLED:
        return entry
    return replace(entry, state=SubagentState.DISABLED, reason=lazy("it is disabled in the settings"))


def _hide_duplicates(entries: Sequence[SubagentEntry]) -> Iterator[SubagentEntry]:
    """Let the first agent of each name have it. Two of one party cannot be told apart even by qualified names."""
    taken: dict[str, SubagentEntry] = {}
    qualified: dict[str, SubagentEntry] = {}
    for entry in entries:
        if entry.definition is None:
            yield entry
            continue
        first = qualified.setdefault(entry.qualified_name, entry)
        if first is not entry:
            reason = lazy("Duplicate agent name '{name}' detected", name=entry.name)
            yield replace(entry, state=SubagentState.BROKEN, definition=None, reason=reason)
            continue
        owner = taken.setdefault(entry.name, entry) if entry.state is SubagentState.AVAILABLE else entry
        if owner is entry:
            yield entry
        else:
            reason = lazy("{name} means {owner} here", name=entry.name, owner=owner.qualified_name)
            yield replace(entry, state=SubagentState.HIDDEN, reason=reason)
