"""Failed edits, for correction by a model."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tejat.core.frozen import Frozen


class EditFailure(Frozen):
    """An edit whose `old_string` is not in the file. `content` is the file with LF line ends."""

    path: str
    content: str
    old_string: str
    new_string: str
    instruction: str | None
    problem: str


EditCorrector: TypeAlias = Callable[[EditFailure], Awaitable[str | None]]
"""Finds the text that `old_string` was meant to match, unchecked; None if it cannot tell."""
