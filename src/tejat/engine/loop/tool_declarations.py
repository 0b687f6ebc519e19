"""The tool declarations of a request: all allowed tools, or an index if there are too many or the window is small."""

from collections.abc import Callable, Sequence

from tejat.core.frozen import Frozen, replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.provenance import ToolSource
from tejat.tools.registry import FIND_TOOLS, ToolEntry, ToolRegistry

DEFAULT_CONTEXT_SHARE = 0.1
DEFAULT_MAX_TOKENS = 20_000
DEFAULT_MAX_TOOLS = 100
_INDEX_TOKENS = 1_800
_LEAN_INDEX_TOKENS = 150
_LEAN_EXTERNAL_TOKENS = 200
_PLANS_ONLY = "ONLY FOR PLANS: "


def default_limit(context_window: int, tools: int) -> int:
    """Return the default number of tokens for declarations of external tools.

    It is 0 for very many tools: a model does not choose well among hundreds.
    """
    if tools > DEFAULT_MAX_TOOLS:
        return 0
    return min(int(context_window * DEFAULT_CONTEXT_SHARE), DEFAULT_MAX_TOKENS)


class ToolIndexOptions(Frozen):
    """Options for declaring external tools by an index when there are too many of them.

    `limit` returns the tokens that the declarations of this many tools may take, None for any number. Above it they are
    left out, and `create_index` returns a tool that finds them, described in at most so many tokens. Tools that were
    found or called are declared.
    """

    limit: Callable[[int], int | None]
    create_index: Callable[[Sequence[ToolEntry], int], ToolEntry]


class ToolDeclarations:
    """The current declarations. The tuple is the same as long as nothing changes, so it is encoded once.

    Tools that are added later follow all others, so that the prefix that a service has cached stays the same.
    `is_forbidden` gets the name of a tool and its server. While `is_lean`, declarations are short, and all tools but a
    few are in the index. `plans_only` says which tools can write nothing but plan files now.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        is_forbidden: Callable[[str, str | None], bool],
        many: ToolIndexOptions | None = None,
        *,
        is_lean: Callable[[], bool] = lambda: False,
        plans_only: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        self._registry = registry
        self._is_forbidden = is_forbidden
        self._index_options = many
        self._is_lean = is_lean
        self._plans_only = plans_only
        self._plan_cache: dict[str, tuple[FunctionDeclaration, FunctionDeclaration]] = {}
        self._lean_cache: dict[str, tuple[FunctionDeclaration, FunctionDeclaration]] = {}
        self._current: tuple[FunctionDeclaration, ...] = ()
        self._indexed: list[ToolEntry] = []
        self._index_tokens = _INDEX_TOKENS
        self._costs: dict[str, tuple[FunctionDeclaration, int]] = {}

    def __call__(self) -> tuple[FunctionDeclaration, ...]:
        is_lean = self._is_lean()
        now = [self._declaration_of(entry, is_lean=is_lean) for entry in self._select(is_lean=is_lean)]
        if not _same_objects(now, self._current):
            self._current = tuple(now)
        return self._current

    def _declaration_of(self, entry: ToolEntry, *, is_lean: bool) -> FunctionDeclaration:
        declaration = self._short_declaration(entry) if is_lean and entry.name != FIND_TOOLS else entry.declaration
        if entry.source is not ToolSource.BUILT_IN or not self._plans_only(entry.name):
            return declaration
        known = self._plan_cache.get(entry.name)
        if known is None or known[0] is not declaration:
            described = replace(declaration, description=f"{_PLANS_ONLY}{declaration.description}")
            known = self._plan_cache[entry.name] = declaration, described
        return known[1]

    def _short_declaration(self, entry: ToolEntry) -> FunctionDeclaration:
        from tejat.engine.loop.lean_declarations import shorten_declaration

        known = self._lean_cache.get(entry.name)
        if known is None or known[0] is not entry.declaration:
            known = self._lean_cache[entry.name] = entry.declaration, shorten_declaration(entry.declaration)
        return known[1]

    def _select(self, *, is_lean: bool) -> list[ToolEntry]:
        allowed = [entry for entry in self._registry.entries() if entry.name != FIND_TOOLS and self._is_allowed(entry)]
        indexed = self._entries_to_index(allowed, is_lean=is_lean)
        self._update_index_tool(indexed, _LEAN_INDEX_TOKENS if is_lean else _INDEX_TOKENS)
        finder = self._registry.entry(FIND_TOOLS)
        if finder is None or not self._is_allowed(finder):
            return allowed
        left_out = {entry.name: entry for entry in indexed}
        told_of = (left_out[name] for name in self._registry.activated_names if name in left_out)
        return [*(entry for entry in allowed if entry.name not in left_out), finder, *told_of]

    def _is_allowed(self, entry: ToolEntry) -> bool:
        return entry.is_declared() and not self._is_forbidden(entry.own_name, entry.server)

    def _entries_to_index(self, allowed: Sequence[ToolEntry], *, is_lean: bool) -> list[ToolEntry]:
        """Return the tools to leave out. The user's Python tools stay unless they alone exceed the limit."""
        external = [entry for entry in allowed if entry.source is not ToolSource.BUILT_IN]
        if is_lean:
            return self._entries_to_index_lean(allowed, external)
        limit = None if self._index_options is None or not external else self._index_options.limit(len(external))
        if limit is None or self._total_cost(external) <= limit:
            return []
        not_python = [entry for entry in external if entry.source is not ToolSource.PYTHON]
        python_cost = self._total_cost(external) - self._total_cost(not_python)
        return external if python_cost > limit else not_python

    def _entries_to_index_lean(self, allowed: Sequence[ToolEntry], external: Sequence[ToolEntry]) -> list[ToolEntry]:
        """Return the built-in tools that a small window has no room for, and the external ones beyond a few tokens."""
        from tejat.engine.loop.lean_declarations import LEAN_TOOLS, MAX_LEAN_TOOLS

        if self._index_options is None:
            return []
        built_in = [entry for entry in allowed if entry.source is ToolSource.BUILT_IN]
        left_out = [] if len(built_in) <= MAX_LEAN_TOOLS else [one for one in built_in if one.name not in LEAN_TOOLS]
        costs = (estimate_declaration_tokens(self._declaration_of(entry, is_lean=True)) for entry in external)
        return left_out if sum(costs) <= _LEAN_EXTERNAL_TOKENS else [*left_out, *external]

    def _total_cost(self, entries: Sequence[ToolEntry]) -> int:
        return sum(map(self._cost_of, entries))

    def _cost_of(self, entry: ToolEntry) -> int:
        known = self._costs.get(entry.name)
        if known is None or known[0] is not entry.declaration:
            known = self._costs[entry.name] = entry.declaration, estimate_declaration_tokens(entry.declaration)
        return known[1]

    def _update_index_tool(self, indexed: list[ToolEntry], max_tokens: int) -> None:
        """Register an index tool for exactly these tools, or remove it if there are none."""
        if self._index_options is None or (_same_objects(indexed, self._indexed) and max_tokens == self._index_tokens):
            return
        self._registry.unregister(FIND_TOOLS)
        self._indexed, self._index_tokens = indexed, max_tokens
        if indexed:
            self._registry.register_entry(self._index_options.create_index(indexed, max_tokens))


def _same_objects(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
