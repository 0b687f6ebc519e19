"""Tool results of shell commands, for the model and for the user."""

import re
import signal
from collections.abc import Iterator

from tejat.core.errors import ErrorType
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import join_lazy, lazy, map_lazy
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.cancellation import CancelReason
from tejat.workspace.control_paths.changes import ControlPathChanges
from tejat.workspace.processes.output_collector import CommandEndReason
from tejat.workspace.processes.spawn import ExitStatus, signal_name
from tejat.workspace.sandbox import exec_helper

_PROMPT = re.compile(r"[:?>#$%\])]\s*\Z|password|passphrase|press |\(y|\[y|yes/no", re.IGNORECASE)
_MAX_PROMPT_LENGTH = 200
_MAX_LISTED_PATHS = 20

_IS_MOUNT_POINT = "Device or resource busy"
_WHY_BUSY = (
    "Files that decide what other programs run (.git/config, .git/hooks, .vscode ...) are read-only, and the "
    "directories that contain them cannot be moved or removed. Ask the user to do it if it has to be done."
)
_NOT_STARTED = (exec_helper.NOT_EXECUTABLE, exec_helper.NOT_FOUND)


class CommandRun(Frozen):
    """A command, its directory (None for the root) and its output. `pid` leads its process group."""

    command: str
    directory: str | None
    stdout: str = ""
    stderr: str = ""
    pid: int | None = None

    @property
    def output(self) -> str:
        """Both streams, stdout first."""
        if self.stdout and self.stderr and not self.stdout.endswith("\n"):
            return f"{self.stdout}\n{self.stderr}"
        return self.stdout + self.stderr


def finished_result(run: CommandRun, exit_status: ExitStatus) -> ToolResult:
    """Result of a command that ended by itself. A nonzero exit code is not a tool error.

    A shell that the sandbox could not start is one.
    """
    display = run.output
    if exit_status.code in _NOT_STARTED and display.startswith(exec_helper.START_ERROR):
        return start_failure_result(replace(run, stdout="", stderr=""), display.removeprefix("tejat: ").strip())
    if not display.strip():
        display = ""
        if exit_status.signal is not None:
            display = lazy("Command terminated by signal: {signal}", signal=signal_name(exit_status.signal))
        elif exit_status.code:
            display = lazy("Command exited with code: {code}", code=exit_status.code)
    code = exit_status.code if exit_status.signal is None else -exit_status.signal
    return ToolResult(_format_lines(run, exit_status=exit_status), display, exit_code=code)


def start_failure_result(run: CommandRun, reason: str) -> ToolResult:
    """Result of a command that could not be run, or whose supervisor was killed."""
    message = lazy("{reason} (command: {command})", reason=reason, command=run.command)
    error = ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)
    return ToolResult(_format_lines(run, error=message), lazy("Command failed: {reason}", reason=message), error)


def timeout_result(run: CommandRun, why: CommandEndReason, *, limit: float) -> ToolResult:
    """Result of a command that was stopped after `limit` seconds."""
    minutes = limit / 60
    sentences = [
        lazy(
            "Command was automatically cancelled because it exceeded the timeout of {minutes:.1f} minutes"
            " without output.",
            minutes=minutes,
        )
        if why is CommandEndReason.IDLE
        else lazy(
            "Command was automatically cancelled because it exceeded the timeout of {minutes:.1f} minutes.",
            minutes=minutes,
        )
    ]
    if limit < 60:
        sentences.append(lazy("The limit was {seconds:g} seconds.", seconds=limit))
    if why is CommandEndReason.IDLE and (prompt := _find_input_prompt(run)):
        sentences.append(
            lazy(
                "The command seems to be waiting for input (needs_input), which cannot be provided; its "
                'last output was "{prompt}". Provide the input up front, with an option of the program '
                "or a pipe into it.",
                prompt=prompt,
            )
        )
    message = join_lazy(" ", sentences)
    display = join_lazy("\n", (run.output, message)) if run.output.strip() else message
    return ToolResult(message + _partial_output(run), display, ToolError(message, ErrorType.TIMEOUT))


def cancelled_result(run: CommandRun, reason: CancelReason | None = None) -> ToolResult:
    """Result of a command that the user cancelled, or that the time limit of the run ended."""
    result = cancelled_before_start_result(reason)
    message = str(result.llm_content).replace("it could start", "it could complete")
    return ToolResult(message + _partial_output(run), run.output if run.output.strip() else result.return_display)


def cancelled_before_start_result(reason: CancelReason | None = None) -> ToolResult:
    if reason is CancelReason.TIME_LIMIT:
        message = "Command was cancelled before it could start: the time limit of the run was reached."
        return ToolResult(message, lazy("Command cancelled: the time limit of the run was reached."))
    return ToolResult("Command was cancelled by user before it could start.", lazy("Command cancelled by user."))


def add_sandbox_notes(result: ToolResult, changes: ControlPathChanges, *, has_mounts: bool) -> ToolResult:
    """Add which control paths are new or changed, for the model and for the user.

    With `has_mounts` the model is told why something could not be moved or removed.
    """
    note = describe_changes(changes)
    content, display = result.llm_content, result.return_display
    if has_mounts and isinstance(content, str) and _IS_MOUNT_POINT in content:
        content += f"\nSandbox: {_WHY_BUSY}"
    if not note:
        return replace(result, llm_content=content)
    if isinstance(content, str):
        content = f"{content}\nSandbox: {note}"
    if isinstance(display, str):
        display = join_lazy("\n", (map_lazy(display, str.rstrip), note)) if display else note
    return replace(result, llm_content=content, return_display=display)


def describe_changes(changes: ControlPathChanges) -> str:
    """What the user must know about new and changed control paths, empty for nothing."""
    return join_lazy(" ", _control_path_notes(changes))


def _control_path_notes(changes: ControlPathChanges) -> Iterator[str]:
    if changes.created:
        yield lazy("New files that control what other programs run: {paths}.", paths=_list_paths(changes.created))
    if changes.changed:
        yield lazy("Changed files that control what other programs run: {paths}.", paths=_list_paths(changes.changed))
    if changes.created or changes.changed:
        yield lazy("Check them before git, an editor or a shell uses them.")
    if not changes.is_complete:
        yield lazy("There are too many directories to check; such files deep inside are not protected.")


def _list_paths(paths: tuple[str, ...]) -> str:
    listed, left_out = ", ".join(paths[:_MAX_LISTED_PATHS]), len(paths) - _MAX_LISTED_PATHS
    return listed if left_out <= 0 else lazy("{listed} and {count} more", listed=listed, count=left_out)


def _partial_output(run: CommandRun) -> str:
    if not run.output.strip():
        return " There was no output before it was cancelled."
    return f" Below is the output (on stdout and stderr) before it was cancelled:\n{run.output}"


def _find_input_prompt(run: CommandRun) -> str | None:
    """Find an unfinished last line that reads like a prompt for input."""
    for printed in (run.stderr, run.stdout):
        line = printed.rpartition("\n")[2].strip()
        if line and len(line) <= _MAX_PROMPT_LENGTH and _PROMPT.search(line):
            return line
    return None


def _format_lines(run: CommandRun, *, exit_status: ExitStatus | None = None, error: str | None = None) -> str:
    left = () if exit_status is None else exit_status.survivors
    return "\n".join(
        [
            f"Command: {run.command}",
            f"Directory: {run.directory or '(root)'}",
            *format_outcome(run.stdout, run.stderr, error, exit_status),
            f"Background PIDs: {', '.join(map(str, left)) or '(none)'}",
            f"Process Group PGID: {'(none)' if run.pid is None else run.pid}",
        ]
    )


def format_outcome(stdout: str, stderr: str, error: str | None, exit_status: ExitStatus | None) -> list[str]:
    """Lines about the output and the end of a program, as the model reads them."""
    code, number = (None, None) if exit_status is None else (exit_status.code, exit_status.signal)
    return [
        f"Stdout: {stdout or '(empty)'}",
        f"Stderr: {stderr or '(empty)'}",
        f"Error: {error or '(none)'}",
        f"Exit Code: {'(none)' if code is None else code}",
        f"Signal: {'(none)' if number is None else signal_name(number)}",
    ]


def command_output(content: str) -> str:
    """The output of a command in what the model read about it; a text that is about no command as it is."""
    found = re.match(_OUTPUT, content)
    if found is None:
        return content
    return "\n".join(text.strip("\n") for text in found.groups() if text != "(empty)")


def command_exit_code(content: str) -> int | None:
    """The exit code of a command in what the model read about it, negative for a signal; None if it has none."""
    found = re.match(_OUTPUT + r"(\d+|\(none\))\nSignal: ([^\n]*)", content)
    if found is None:
        return None
    code, name = found[3], found[4]
    number = next((each.value for each in signal.Signals if each.name == name), None)
    if number is not None:
        return -number
    return int(code) if code.isdigit() else None


_OUTPUT = r"(?s)Command: .*?\nDirectory: [^\n]*\nStdout: (.*)\nStderr: (.*)\nError: [^\n]*\nExit Code: "
