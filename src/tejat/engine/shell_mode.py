"""`!` lines: a command of the person's own, run at once in their shell, whose output the model gets to know."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import BinaryIO

from tejat.core.errors import WorkspaceError
from tejat.core.history import Message, user_message
from tejat.core.value import value
from tejat.core.words import joined, phrase, translated
from tejat.engine.secret_mask import SecretMask
from tejat.workspace.private_files import create_private_file, make_private_directory
from tejat.workspace.processes.bounded import Bounded
from tejat.workspace.processes.collect import Limits, collect, open_pipe
from tejat.workspace.processes.draining import Draining
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.launching import Exit, Launch, signal_name
from tejat.workspace.processes.live_output import LiveOutput
from tejat.workspace.processes.shell_output import HEAD_BYTES, TAIL_BYTES, told
from tejat.workspace.roots import Location, Roots

LONGEST_RESULT = 10_000
"""Characters of a result that the model gets."""

_LARGEST_FILE = 1 << 30
_LONGEST_PATH = 1 << 16
_WITH_TRAPS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"})
_NO_LIMITS = Limits(idle=None, total=None)


@value
class Ran:
    """What came of a line: what the person is shown, and what the model gets to know with the next prompt."""

    shown: str
    message: Message


class ShellMode:
    """Runs lines one at a time or side by side, each in a shell of its own at the first root.

    Nobody is asked and no sandbox is around it: it is the person who types it. `environment` is all that a line sees,
    `shell` is how to call the person's shell, `outputs` where outputs are kept that are too long to be shown.
    """

    def __init__(
        self,
        keeper: Keeper,
        roots: Roots,
        *,
        shell: tuple[str, ...],
        environment: Mapping[str, str],
        outputs: str,
        mask: SecretMask,
    ) -> None:
        self._keeper = keeper
        self._roots = roots
        self._shell = shell
        self._environment = environment
        self._outputs = outputs
        self._mask = mask
        self._draining = Draining()

    async def run(self, line: str, show: Callable[[str], None], done: Callable[[Ran], None]) -> str:
        """Run a line, show its output while it comes, and return what is to be shown in the end.

        `done` is told what came of it, also when the task is cancelled: then everything that the line started is ended
        first, and the cancellation goes on afterwards. Raises nothing else.
        """
        output = _Output(self._outputs)
        live = LiveOutput(lambda text: show(self._mask.text(text)))
        outcome = _Outcome(output)
        try:
            outcome.exit, outcome.directory = await self._watched(line, output, live)
        except asyncio.CancelledError:
            outcome.was_cancelled = True
            live.close()
            done(self._ran(line, outcome))
            raise
        except OSError as error:
            outcome.problem = error.strerror or str(error)
        except WorkspaceError as error:
            outcome.problem = error.message
        live.close()
        ran = self._ran(line, outcome)
        done(ran)
        return ran.shown

    def close(self) -> None:
        self._draining.close()

    async def _watched(self, line: str, output: "_Output", live: LiveOutput) -> tuple[Exit | None, str]:
        """How it ended, and in which directory if that is another one. Raises OSError and WorkspaceError."""
        ends = list(open_pipe())
        try:
            with self._roots.open_directory(Location(self._roots.first, "")) as directory, _Whereabouts() as place:
                arguments = (*self._shell, place.told_by(line) if self._can_trap else line)
                launch = Launch(arguments, directory.fd, self._environment)
                running = await self._keeper.start(launch, stdout=ends[1], stderr=ends[1])
                os.close(ends.pop())
                ended = await collect(
                    running,
                    ends[0],
                    ends[0],
                    out=output.kept,
                    err=output.kept,
                    limits=_NO_LIMITS,
                    on_output=live.add,
                )
                if ended.exit is not None and ended.exit.survivors:
                    self._draining.keep(ends.pop())
                return ended.exit, place.elsewhere(directory.real_path)
        finally:
            output.kept.close()
            for end in ends:
                os.close(end)

    @property
    def _can_trap(self) -> bool:
        return os.path.basename(self._shell[0]) in _WITH_TRAPS

    def _ran(self, line: str, outcome: "_Outcome") -> Ran:
        result = self._mask.text(_in_words(outcome))
        shown = translated(result)
        if len(result) > LONGEST_RESULT:
            result = result[:LONGEST_RESULT] + "\n... (truncated)"
        text = (
            f"I ran the following shell command:\n{_fenced(line, 'sh')}\n\n"
            f"This produced the following result:\n{_fenced(result)}"
        )
        return Ran(shown, user_message(text))


class _Output:
    """What is kept of an output: its two ends, and the whole in a file if it is long."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.path: str | None = None
        self.kept = Bounded(head=HEAD_BYTES, tail=TAIL_BYTES, spool=self._spool, spool_limit=_LARGEST_FILE)

    @property
    def text(self) -> str:
        return told(self.kept, self.path)

    def _spool(self) -> BinaryIO:
        make_private_directory(self._directory)
        self.path = os.path.join(self._directory, f"shell_mode_{os.urandom(8).hex()}.out")
        return open(self.path, "wb", buffering=0, opener=lambda path, _: create_private_file(path))


class _Outcome:
    """How a line ended, as far as it is known."""

    def __init__(self, output: _Output) -> None:
        self.output = output
        self.exit: Exit | None = None
        self.directory = ""
        self.problem = ""
        self.was_cancelled = False


class _Whereabouts:
    """A file that a shell writes its directory to when it ends."""

    def __enter__(self) -> "_Whereabouts":
        self._descriptor, self._path = tempfile.mkstemp(prefix="tejat-pwd-")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
        with suppress(OSError):
            os.unlink(self._path)

    def told_by(self, line: str) -> str:
        """The line, after which the shell tells where it is, however the line ends."""
        writing = f"pwd > {shlex.quote(self._path)}"
        return f"trap {shlex.quote(writing)} EXIT; {line}"

    def elsewhere(self, here: str) -> str:
        """Where the shell ended, empty if that is here or was not told."""
        told = os.fsdecode(os.pread(self._descriptor, _LONGEST_PATH, 0).removesuffix(b"\n"))
        return told if told and os.path.realpath(told) != here else ""


def _in_words(outcome: _Outcome) -> str:
    """The result as people know it of this mode."""
    if outcome.output.kept.is_binary:
        text = phrase("[Command produced binary output, which is not shown.]")
    else:
        text = outcome.output.text.strip() or phrase("(Command produced no output)")
    ended = outcome.exit
    if outcome.problem:
        text = joined("\n", (outcome.problem, text))
    elif outcome.was_cancelled:
        text = joined("\n", (phrase("Command was cancelled."), text))
    elif ended is not None and ended.signal is not None:
        told = phrase("Command terminated by signal: {signal}.", signal=signal_name(ended.signal))
        text = joined("\n", (told, text))
    elif ended is not None and ended.code:
        text = joined("\n", (phrase("Command exited with code {code}.", code=ended.code), text))
    if not outcome.directory:
        return text
    warning = phrase(
        "WARNING: shell mode is stateless; the directory change to '{directory}' will not persist.",
        directory=outcome.directory,
    )
    return joined("\n\n", (warning, text))


def _fenced(text: str, language: str = "") -> str:
    """In a fence that nothing in the text can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
