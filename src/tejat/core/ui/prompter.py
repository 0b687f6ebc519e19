"""The person at the terminal, as commands see them: they can be shown something and be asked something."""

from typing import Protocol

from tejat.core.frozen import frozen
from tejat.core.ui.report import Report


@frozen
class Option:
    """One thing to choose. `detail` stands beside or below it."""

    label: str
    detail: str = ""


@frozen
class Choice:
    """A list of options. `initial` is the option selected first; `report` is shown above the list.

    `is_critical`: the choice outlasts this session or cannot be undone, so keys typed ahead are ignored.
    """

    title: str
    options: tuple[Option, ...]
    initial: int = 0
    report: Report | None = None
    is_critical: bool = False


class UserPrompter(Protocol):
    """Each question may be left without an answer, which is None, also when the terminal goes away."""

    def show(self, report: Report) -> None: ...

    async def choose(self, choice: Choice) -> int | None:
        """The place of the option that they took."""
        ...

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        """One line. What is secret is not shown while they type it, and kept in no history."""
        ...

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """The text as they left it in their editor. Raises UsageError where there is no editor."""
        ...

    async def copy(self, text: str) -> str:
        """Put a text into their clipboard and tell in a word how. Raises UsageError where there is no way."""
        ...
