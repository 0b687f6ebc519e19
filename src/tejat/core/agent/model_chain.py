"""Fallback chains as values: which models may answer for a name, and what to do when one fails."""

from collections.abc import Mapping
from types import MappingProxyType

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class FailureClass(StrEnum):
    """Failures by what they say about the model. The values are those of `modelChains` in the settings."""

    TERMINAL = "terminal"
    """The quota is used up for good."""
    TRANSIENT = "transient"
    NOT_FOUND = "not_found"
    UNKNOWN = "unknown"


class ChainAction(StrEnum):
    """What to do before the next model takes over. The values are those of `modelChains` in the settings."""

    SILENT = "silent"
    """Change without a question. The user is told."""
    PROMPT = "prompt"


class ChainLink(Frozen):
    """A model of a chain by its full name, and what to do when it fails; failures without an action end the run.

    `attempts` is how often to ask it, None for the usual number.
    """

    name: str
    attempts: int | None = None
    actions: Mapping[FailureClass, ChainAction] = MappingProxyType({})


class ModelChain(Frozen):
    """The models for a name that the user gave, the preferred one first.

    `headless_failures` may change the model without anybody to ask. `is_auto`: the user left the choice to the program.
    """

    links: tuple[ChainLink, ...]
    headless_failures: frozenset[FailureClass] = frozenset()
    is_auto: bool = False
