"""What a front end for a person needs of a session; the composition root puts it together."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.agent.events import EventSink, RunEnded
from tejat.core.messages.types import Part
from tejat.core.ui.commands import SlashCommands
from tejat.core.ui.report import Report
from tejat.core.ui.status import Preferences, Status


class FileFinder(Protocol):
    """The files that can be named with `@`, ignored ones left out."""

    @property
    def is_complete(self) -> bool:
        """False while folders are still being read: who asks again may get more."""
        ...

    async def find(self, typed: str, *, most: int = 50) -> Sequence[str]:
        """Paths from the root that fit what was typed so far, the best first; directories end with a slash."""
        ...


class UiSession(Protocol):
    """One person's session."""

    @property
    def commands(self) -> SlashCommands: ...

    @property
    def files(self) -> FileFinder: ...

    @property
    def status(self) -> Status:
        """Cheap enough to be asked for with every frame."""
        ...

    @property
    def preferences(self) -> Preferences: ...

    @property
    def resumable_id(self) -> str | None:
        """The name by which the session can be gone on with later, None while there is nothing to go on with."""
        ...

    @property
    def resume_preview(self) -> Report | None:
        """The end of the conversation that is gone on with, None where it is a new one."""
        ...

    async def run(self, prompt: str | Sequence[Part], emit: EventSink) -> RunEnded:
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
