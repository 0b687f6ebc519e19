"""Sub-agents that were found, usable or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.provenance import Provenance
from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from tejat.core.agent.subagents import SubagentDefinition


class SubagentState(StrEnum):
    AVAILABLE = "available"
    DISABLED = "disabled"
    HIDDEN = "hidden"
    """Another agent has its name. Its qualified name still works."""
    BROKEN = "broken"
    NOT_SUPPORTED = "not supported"


STATE_LABELS = {
    SubagentState.AVAILABLE: lazy("available"),
    SubagentState.DISABLED: lazy("disabled"),
    SubagentState.HIDDEN: lazy("hidden"),
    SubagentState.BROKEN: lazy("broken"),
    SubagentState.NOT_SUPPORTED: lazy("not supported"),
}


class SubagentEntry(Frozen):
    """An agent that was found.

    A broken or unsupported one has no definition, and `reason` says why it cannot be used. `notes` are about parts of
    its file that have no effect.
    """

    name: str
    provenance: Provenance
    state: SubagentState = SubagentState.AVAILABLE
    definition: SubagentDefinition | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def qualified_name(self) -> str:
        return f"{self.provenance.prefix}:{self.name}"

    @property
    def problems(self) -> tuple[str, ...]:
        """What the user should know about the file, each in one line that names it."""
        path = self.provenance.path
        if self.state is SubagentState.BROKEN:
            return (lazy("Skipped the agent in {path}: {why}.", path=path, why=self.reason),)
        return tuple(lazy("{path}: {note}.", path=path, note=note) for note in self.notes)
