"""Interaction with the user from commands."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.frozen import Frozen, field
from tejat.core.ui.report import Report
from tejat.core.ui.status import Preferences


class Option(Frozen):
    """An option of a choice. `detail` is shown beside or below it, `note` on its own row while it is selected."""

    label: str
    detail: str = ""
    note: str = ""


class ChoicePreview(Frozen):
    """What choosing an option would look like: a sample, and the preferences it is shown with."""

    sample: Report
    preferences: Preferences


class Choice(Frozen):
    """A list of options. `initial` is the option selected first; `report` is shown above the list.

    `is_critical`: the choice outlasts this session or cannot be undone, so keys typed ahead are ignored. `preview`
    returns the preview of the option at an index, for front ends that can redraw it while the user moves.
    """

    title: str
    options: tuple[Option, ...]
    initial: int = 0
    report: Report | None = None
    is_critical: bool = False
    preview: Callable[[int], ChoicePreview] | None = field(default=None, is_local=True)


class UserPrompter(Protocol):
    """Shows reports and asks questions. An answer is None if the user cancels or the terminal is closed."""

    def show(self, report: Report) -> None: ...

    async def page(self, reports: Sequence[Report]) -> bool:
        """Show what the user has to read before a question, in the pager if it does not fit above one.

        Returns whether it was in the pager, so that it is no longer on the screen.
        """
        ...

    async def choose(self, choice: Choice) -> int | None:
        """The index of the chosen option."""
        ...

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        """Read one line. A secret is neither echoed nor kept in a history."""
        ...

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """Edit a text in the user's editor. Raises UsageError if there is none."""
        ...

    async def copy(self, text: str) -> str:
        """Copy a text to the clipboard, and return how. Raises UsageError if there is no way."""
        ...
