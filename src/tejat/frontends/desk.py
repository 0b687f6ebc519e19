"""What a front end for a person needs of a session; the composition root puts it together."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.agent_events import RunEnded, Tell
from tejat.core.commands import Commands
from tejat.core.sheet import Sheet
from tejat.core.status import Preferences, Status
from tejat.core.types import Part


class FileNames(Protocol):
    """The files that can be named with `@`, ignored ones left out."""

    @property
    def is_complete(self) -> bool:
        """False while folders are still being read: who asks again may get more."""
        ...

    async def find(self, typed: str, *, most: int = 50) -> Sequence[str]:
        """Paths from the root that fit what was typed so far, the best first; directories end with a slash."""
        ...


class Desk(Protocol):
    """One person's session."""

    @property
    def commands(self) -> Commands: ...

    @property
    def files(self) -> FileNames: ...

    @property
    def status(self) -> Status:
        """Cheap enough to be asked for with every frame."""
        ...

    @property
    def preferences(self) -> Preferences: ...

    @property
    def way_back(self) -> str | None:
        """The name by which the session can be gone on with later, None while there is nothing to go on with."""
        ...

    @property
    def left_off(self) -> Sheet | None:
        """The end of the conversation that is gone on with, None where it is a new one."""
        ...

    async def run(self, prompt: str | Sequence[Part], tell: Tell) -> RunEnded:
        """Answer a prompt; see `Session.run`."""
        ...

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        """Run a line that the person typed after `!`, with nobody asked; its output so far goes to `show`.

        Returns what is to be shown at the end. It joins the history of the model.
        """
        ...

    def steer(self, text: str) -> bool:
        """Hand the model a word between two calls of the run that goes on; False where none goes on."""
        ...

    def next_mode(self) -> str:
        """Go on to the next approval mode, and tell which that is."""
        ...
