"""The session interface of the interactive user interfaces, implemented by the composition root."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.agent.events import AgentEvent, EventSink, RunEnded
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply
from tejat.core.messages.prompt import Prompt
from tejat.core.ui.commands import AgentSummary, SlashCommands
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report
from tejat.core.ui.status import ModeChange, Preferences, Status


class FileFinder(Protocol):
    """Files that can be mentioned with `@`, without ignored ones."""

    @property
    def is_complete(self) -> bool:
        """False while the index is still being built and a later search may find more."""
        ...

    async def find(self, typed: str, *, limit: int = 50) -> Sequence[str]:
        """Return matching paths relative to the root, best first; directories end with a slash."""
        ...


class UiSession(Protocol):
    """A session that any number of user interfaces may be attached to."""

    @property
    def commands(self) -> SlashCommands: ...

    @property
    def files(self) -> FileFinder: ...

    @property
    def agents(self) -> Sequence[AgentSummary]:
        """The sub-agents that can be mentioned with `@`."""
        ...

    @property
    def status(self) -> Status:
        """Cheap enough to be read for every frame."""
        ...

    @property
    def preferences(self) -> Preferences: ...

    @property
    def resumable_id(self) -> str | None:
        """The id for `--resume`, None while nothing is saved."""
        ...

    @property
    def resume_hint(self) -> str:
        """What to tell the user who leaves; empty while nothing is saved."""
        ...

    @property
    def title(self) -> str:
        """The first prompt as the user typed it, empty before it."""
        ...

    @property
    def root(self) -> str:
        """The working directory."""
        ...

    @property
    def survives_exit(self) -> bool:
        """Whether the session goes on, with its run, when this front end leaves."""
        ...

    def leave(self) -> None:
        """The front end is about to leave. What it cancels from now on goes on if the session survives."""
        ...

    def replay(self) -> Sequence[AgentEvent]:
        """Return the conversation so far as events."""
        ...

    def take_notes(self) -> Sequence[str]:
        """Return the warnings about the start of the session and of its MCP servers, each one once."""
        ...

    def load_definitions(self) -> None:
        """Read the skills and sub-agents now, with notes about them. Otherwise this is done on first use."""
        ...

    async def preload_definitions(self) -> None:
        """Read them in the background, after the first screen."""
        ...

    async def wait_for_sandbox(self) -> None:
        """Wait until the sandbox of commands is known."""
        ...

    @property
    def resume_preview(self) -> Report | None:
        """The end of a resumed conversation, None for a new one."""
        ...

    @property
    def pending_questions(self) -> Sequence[PendingQuestion]: ...

    def subscribe(self, listener: EventSink) -> Callable[[], None]:
        """Deliver all events to a listener until the returned function is called."""
        ...

    async def prompt(self, prompt: Prompt) -> RunEnded:
        """Answer a prompt; see `Session.prompt`."""
        ...

    def interrupt(self) -> bool:
        """Cancel the running turn; False if there is none."""
        ...

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        """Answer a question; False if it is unknown or already answered."""
        ...

    def fail_question(self, question_id: str, error: Exception) -> bool:
        """Raise an error for whoever asked a question; False if it is unknown or already answered."""
        ...

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        """Run a shell line without approval; `show` gets its output so far. Returns the text for user and model."""
        ...

    def steer(self, text: str) -> bool:
        """Send a text to the model between two calls; False if no run is active."""
        ...

    async def next_mode(self, user: UserPrompter) -> ModeChange:
        """Switch to the next approval mode that is permitted. YOLO has to be confirmed once."""
        ...

    async def toggle_yolo(self, user: UserPrompter) -> ModeChange:
        """Turn YOLO mode on after a confirmation, or off."""
        ...
