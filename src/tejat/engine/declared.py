"""Which tools a model is told of: those in use that no rule forbids altogether, and of very many only an index."""

from collections.abc import Callable, Sequence

from tejat.core.tokens import estimate_declaration
from tejat.core.tool import FunctionDeclaration
from tejat.core.value import value
from tejat.tools.registry import FIND_TOOLS, Entry, Source, ToolRegistry

USUAL_SHARE = 0.1
USUALLY_MOST = 20_000
USUALLY_MOST_TOOLS = 100


def usual_limit(context_window: int, tools: int) -> int:
    """How many tokens may be spent on telling of other people's tools, where nobody has set it.

    None at all for very many tools: however short each is, a model does not choose well among hundreds.
    """
    if tools > USUALLY_MOST_TOOLS:
        return 0
    return min(int(context_window * USUAL_SHARE), USUALLY_MOST)


@value
class ManyTools:
    """What to do about tools that are not built in when there are too many of them.

    `limit` says how many tokens the declarations of so many tools may have, None for any number. Above it they are left
    out, and `index` gives a tool that tells of them and looks for them. Those that it found, and those that were
    called, are declared.
    """

    limit: Callable[[int], int | None]
    index: Callable[[Sequence[Entry]], Entry]


class Declared:
    """The declarations as they are now. As long as nothing changes it is the same tuple, which is encoded once.

    Tools that come to be known later stand behind all others, in the order in which they did, so that what a service
    has seen before stays as it was. `is_forbidden` is given the name of a tool and its server.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        is_forbidden: Callable[[str, str | None], bool],
        many: ManyTools | None = None,
    ) -> None:
        self._registry = registry
        self._is_forbidden = is_forbidden
        self._many = many
        self._last: tuple[FunctionDeclaration, ...] = ()
        self._indexed: list[Entry] = []
        self._costs: dict[str, tuple[FunctionDeclaration, int]] = {}

    def __call__(self) -> tuple[FunctionDeclaration, ...]:
        now = [entry.declaration for entry in self._chosen()]
        if not _are_same(now, self._last):
            self._last = tuple(now)
        return self._last

    def _chosen(self) -> list[Entry]:
        allowed = [entry for entry in self._registry.entries() if entry.name != FIND_TOOLS and self._is_allowed(entry)]
        indexed = self._too_many(allowed)
        self._offer(indexed)
        finder = self._registry.entry(FIND_TOOLS)
        if finder is None or not self._is_allowed(finder):
            return allowed
        left_out = {entry.name: entry for entry in indexed}
        told_of = (left_out[name] for name in self._registry.told_of if name in left_out)
        return [*(entry for entry in allowed if entry.name not in left_out), finder, *told_of]

    def _is_allowed(self, entry: Entry) -> bool:
        return not self._is_forbidden(entry.own_name, entry.server)

    def _too_many(self, allowed: Sequence[Entry]) -> list[Entry]:
        """Those that only an index tells of. The person's own from Python are among them only if they fill it alone."""
        foreign = [entry for entry in allowed if entry.source is not Source.BUILT_IN]
        limit = None if self._many is None or not foreign else self._many.limit(len(foreign))
        if limit is None or self._cost(foreign) <= limit:
            return []
        strange = [entry for entry in foreign if entry.source is not Source.PYTHON]
        own = self._cost(foreign) - self._cost(strange)
        return foreign if own > limit else strange

    def _cost(self, entries: Sequence[Entry]) -> int:
        return sum(map(self._cost_of, entries))

    def _cost_of(self, entry: Entry) -> int:
        known = self._costs.get(entry.name)
        if known is None or known[0] is not entry.declaration:
            known = self._costs[entry.name] = entry.declaration, estimate_declaration(entry.declaration)
        return known[1]

    def _offer(self, indexed: list[Entry]) -> None:
        """See to it that there is a tool that finds just these, or none where there is nothing to find."""
        if self._many is None or _are_same(indexed, self._indexed):
            return
        self._registry.unregister(FIND_TOOLS)
        self._indexed = indexed
        if indexed:
            self._registry.register_entry(self._many.index(indexed))


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
