"""The catalogue of sub-agents in the system prompt."""

from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.text.catalogue import CatalogueItem, FittedCatalogue, fit_catalogue, render_catalogue

MAX_TOKENS = 2_000
_SHARE = 100
"""The part of the context window that the catalogue may take: one hundredth."""
_TAG = "subagent"
_RULES = (
    "# Sub-agents\n\n"
    "Use `invoke_agent` to delegate what is large or noisy, such as exploring much code or work with long output. "
    "Never let two agents that change the same files work at once. "
    "An agent sees nothing of this conversation: its prompt must say everything that it needs to know."
)


class SubagentCatalogue(Frozen):
    """The section of the system prompt, empty without agents, and how much of the descriptions it has."""

    text: str
    fitted: FittedCatalogue

    @property
    def tokens(self) -> int:
        return estimate_text_tokens(self.text)


def build_catalogue(items: Sequence[CatalogueItem], *, window: int, limit: int | None) -> SubagentCatalogue:
    """Build the section for a context window; 0 is an unknown one. `limit` is the user's, 0 for none."""
    budget = limit if limit is not None else min(MAX_TOKENS, window // _SHARE) if window else MAX_TOKENS
    fitted = fit_catalogue(items, tag=_TAG, max_tokens=budget)
    if not fitted.items:
        return SubagentCatalogue("", fitted)
    listing = render_catalogue(fitted.items, tag=_TAG)
    return SubagentCatalogue(f"{_RULES}\n\n<available_subagents>\n{listing}\n</available_subagents>", fitted)


def item_tokens(item: CatalogueItem) -> int:
    """The tokens of one agent in the catalogue if nothing is cut."""
    return fit_catalogue([item], tag=_TAG, max_tokens=0).tokens
