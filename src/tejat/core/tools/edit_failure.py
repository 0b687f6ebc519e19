"""What is known of an edit whose text is not in the file, for whoever may know which text was meant."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tejat.core.frozen import frozen


@frozen
class EditFailure:
    """`content` is the file as it is now, its lines ending with LF. `problem` is what the edit failed of."""

    path: str
    content: str
    old_string: str
    new_string: str
    instruction: str | None
    problem: str


EditCorrector: TypeAlias = Callable[[EditFailure], Awaitable[str | None]]
"""The text of the file that `old` was meant to be, not yet checked; None if that cannot be told."""
