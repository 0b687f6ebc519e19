"""Shell mode: `!` lines of the user, run in the user's shell and added to the history."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import BinaryIO

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy, translate
from tejat.core.messages.history import Message, user_message
from tejat.engine.calls.secret_mask import SecretMask
from tejat.workspace.files.private_files import create_private_file, make_private_directory
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.live_output import LiveOutput
from tejat.workspace.processes.output_collector import TimeLimits, collect_output, open_pipe
from tejat.workspace.processes.pipe_drain import PipeDrain
from tejat.workspace.processes.shell_output import HEAD_BYTES, TAIL_BYTES, format_output
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec, signal_name
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

MAX_RESULT_LENGTH = 10_000
"""Characters of a result that the model gets."""

_MAX_FILE_BYTES = 1 << 30
_MAX_PATH_BYTES = 1 << 16
_SHELLS_WITH_TRAP = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"})
_NO_LIMITS = TimeLimits(idle=None, total=None)


class ShellModeResult(Frozen):
    """The result of a line: the text for the user, and the message for the model."""

    display_text: str
    message: Message


class ShellMode:
    """Runs lines, each in its own shell at the first root, without approval or sandbox.

    `environment` is complete, `shell` is the command of the user's shell, `outputs` the directory for long outputs.
    """

    def __init__(
        self,
        supervisor: ProcessSupervisor,
        roots: Roots,
        *,
        shell: tuple[str, ...],
        environment: Mapping[str, str],
        outputs: str,
        mask: SecretMask,
    ) -> None:
        self._supervisor = supervisor
        self._roots = roots
        self._shell = shell
        self._environment = environment
        self._outputs = outputs
        self._mask = mask
        self._draining = PipeDrain()

    async def run(self, line: str, show: Callable[[str], None], on_done: Callable[[ShellModeResult], None]) -> str:
        """Run a line, show its output as it comes, and return the final text.

        `on_done` gets the result, also when the task is cancelled: then the processes of the line are ended first.
        Raises only CancelledError.
        """
        output = _Capture(self._outputs)
        live = LiveOutput(lambda text: show(self._mask.mask_text(text)))
        outcome = _ShellOutcome(output)
        try:
            outcome.exit, outcome.directory = await self._run_in_shell(line, output, live)
        except asyncio.CancelledError:
            outcome.was_cancelled = True
            live.close()
            on_done(self._build_result(line, outcome))
            raise
        except OSError as error:
            outcome.problem = error.strerror or str(error)
        except WorkspaceError as error:
            outcome.problem = error.message
        live.close()
        ran = self._build_result(line, outcome)
        on_done(ran)
        return ran.display_text

    def close(self) -> None:
        self._draining.close()

    async def _run_in_shell(self, line: str, output: "_Capture", live: LiveOutput) -> tuple[ExitStatus | None, str]:
        """Return the exit status, and the final directory if it changed. Raises OSError and WorkspaceError."""
        ends, buffer = list(open_pipe()), output.buffer
        can_trap = os.path.basename(self._shell[0]) in _SHELLS_WITH_TRAP
        try:
            with self._roots.open_directory(Location(self._roots.first, "")) as directory, _DirectoryProbe() as probe:
                arguments = (*self._shell, probe.wrap(line) if can_trap else line)
                launch = ProcessSpec(arguments, directory.fd, self._environment)
                running = await self._supervisor.start(launch, stdout=ends[1], stderr=ends[1])
                os.close(ends.pop())
                ended = await collect_output(
                    running, ends[0], ends[0], out=buffer, err=buffer, limits=_NO_LIMITS, on_output=live.add
                )
                if ended.exit is not None and ended.exit.survivors:
                    self._draining.add(ends.pop())
                return ended.exit, probe.changed_directory(directory.real_path)
        finally:
            buffer.close()
            for end in ends:
                os.close(end)

    def _build_result(self, line: str, outcome: "_ShellOutcome") -> ShellModeResult:
        result = self._mask.mask_text(_result_text(outcome))
        display_text = translate(result)
        if len(result) > MAX_RESULT_LENGTH:
            result = result[:MAX_RESULT_LENGTH] + "\n... (truncated)"
        text = (
            f"I ran the following shell command:\n{_fence(line, 'sh')}\n\n"
            f"This produced the following result:\n{_fence(result)}"
        )
        return ShellModeResult(display_text, user_message(text))


class _Capture:
    """The two ends of an output, and the whole in a file if it is long."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.path: str | None = None
        self.buffer = BoundedBuffer(head=HEAD_BYTES, tail=TAIL_BYTES, spool=self._spool, spool_limit=_MAX_FILE_BYTES)

    @property
    def text(self) -> str:
        return format_output(self.buffer, self.path)

    def _spool(self) -> BinaryIO:
        make_private_directory(self._directory)
        self.path = os.path.join(self._directory, f"shell_mode_{os.urandom(8).hex()}.out")
        return open(self.path, "wb", buffering=0, opener=lambda path, _: create_private_file(path))


class _ShellOutcome:
    """How a line ended, as far as known."""

    def __init__(self, output: _Capture) -> None:
        self.output = output
        self.exit: ExitStatus | None = None
        self.directory = ""
        self.problem = ""
        self.was_cancelled = False


class _DirectoryProbe:
    """A temporary file to which a shell writes its directory when it exits."""

    def __enter__(self) -> "_DirectoryProbe":
        self._descriptor, self._path = tempfile.mkstemp(prefix="tejat-pwd-")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
        with suppress(OSError):
            os.unlink(self._path)

    def wrap(self, line: str) -> str:
        """Return the line with a trap that writes the directory at exit."""
        writing = f"pwd > {shlex.quote(self._path)}"
        return f"trap {shlex.quote(writing)} EXIT; {line}"

    def changed_directory(self, here: str) -> str:
        """Return the final directory, empty if it is unchanged or unknown."""
        path = os.fsdecode(os.pread(self._descriptor, _MAX_PATH_BYTES, 0).removesuffix(b"\n"))
        return path if path and os.path.realpath(path) != here else ""


def _result_text(outcome: _ShellOutcome) -> str:
    """Format the result as in Gemini CLI."""
    if outcome.output.buffer.is_binary:
        text = lazy("[Command produced binary output, which is not shown.]")
    else:
        text = outcome.output.text.strip() or lazy("(Command produced no output)")
    ended = outcome.exit
    if outcome.problem:
        text = join_lazy("\n", (outcome.problem, text))
    elif outcome.was_cancelled:
        text = join_lazy("\n", (lazy("Command was cancelled."), text))
    elif ended is not None and ended.signal is not None:
        message = lazy("Command terminated by signal: {signal}.", signal=signal_name(ended.signal))
        text = join_lazy("\n", (message, text))
    elif ended is not None and ended.code:
        text = join_lazy("\n", (lazy("Command exited with code {code}.", code=ended.code), text))
    if not outcome.directory:
        return text
    warning = lazy(
        "WARNING: shell mode is stateless; the directory change to '{directory}' will not persist.",
        directory=outcome.directory,
    )
    return join_lazy("\n\n", (warning, text))


def _fence(text: str, language: str = "") -> str:
    """Enclose the text in a code fence that it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
