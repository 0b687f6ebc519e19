"""Services of an editor that a session runs in."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.frozen import Frozen


class EditorBuffers(Protocol):
    """Files as the editor has them, with changes that are not saved yet. Paths are absolute.

    `read` and `write` are called in worker threads and block; never in the thread of the editor's event loop. `stop` is
    called now and then; its exceptions propagate. Both raise ToolFailure if the editor does not answer.
    """

    @property
    def can_read(self) -> bool:
        """Whether the editor gives the text of files. If not, unsaved changes are unknown, and the disk counts."""
        ...

    @property
    def can_write(self) -> bool:
        """Whether the editor takes new texts. If not, files are written to the disk."""
        ...

    def covers(self, path: str) -> bool:
        """Whether a file is in the directories that the editor has open. It is not asked about others."""
        ...

    def read(self, path: str, stop: Callable[[], None]) -> str | None:
        """Return the text of a file, None if the editor does not know it: then the file on disk counts."""
        ...

    def write(self, path: str, text: str, stop: Callable[[], None]) -> None:
        """Replace the text of a file, which need not exist, and save it. Raises ToolFailure if the editor refuses."""
        ...


class TerminalCommand(Frozen):
    """A program for a terminal, and the directory to start it in. The editor keeps so many bytes of its output.

    Some editors give the arguments to a shell, and not all of them quote well: no argument may come from a model.
    """

    arguments: Sequence[str]
    directory: str
    max_output_bytes: int


class EditorTerminal(Protocol):
    """A terminal of the editor that runs one program."""

    def show(self) -> None:
        """Show it in the tool call, in place of the output as text."""
        ...

    async def wait(self) -> int | None:
        """Wait until the program has ended and return its exit code, None for a signal. Raises OSError."""
        ...

    def release(self) -> None:
        """Stop the program if it still runs, and free the terminal; the editor goes on showing the output.

        Returns at once and raises nothing. It may be called again.
        """
        ...


class EditorTerminals(Protocol):
    @property
    def are_optional(self) -> bool:
        """Whether the editor shows output like a terminal anyway, so that no command has to wait for one to open."""
        ...

    async def start(self, command: TerminalCommand, *, call_id: str, agent: str = "") -> EditorTerminal:
        """Open a terminal for a tool call of the session or of a sub-agent. Raises OSError if the editor fails.

        On cancellation, the terminal is released as soon as the editor answers.
        """
        ...
