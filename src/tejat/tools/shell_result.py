"""What is told of a command that ran: the lines for the model, and what the person sees of it."""

import re

from tejat.core.errors import ErrorType
from tejat.core.tool import ToolError, ToolResult
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.workspace.processes.collect import Why
from tejat.workspace.processes.launching import Exit, signal_name

_PROMPT = re.compile(r"[:?>#$%\])]\s*\Z|password|passphrase|press |\(y|\[y|yes/no", re.IGNORECASE)
_LONGEST_PROMPT = 200


@value
class Ran:
    """A command, where it ran (None for the root) and what it printed, ready to be told. `pid` leads its group."""

    command: str
    directory: str | None
    stdout: str = ""
    stderr: str = ""
    pid: int | None = None

    @property
    def output(self) -> str:
        """Both streams, one after the other."""
        if self.stdout and self.stderr and not self.stdout.endswith("\n"):
            return f"{self.stdout}\n{self.stderr}"
        return self.stdout + self.stderr


def finished(ran: Ran, ended: Exit) -> ToolResult:
    """The command ended by itself. An exit code that is not 0 is no failure of the tool."""
    display = ran.output
    if not display.strip():
        display = ""
        if ended.signal is not None:
            display = phrase("Command terminated by signal: {signal}", signal=signal_name(ended.signal))
        elif ended.code:
            display = phrase("Command exited with code: {code}", code=ended.code)
    code = ended.code if ended.signal is None else -ended.signal
    return ToolResult(_lines(ran, ended=ended), display, exit_code=code)


def not_started(ran: Ran, reason: str) -> ToolResult:
    """The system would not run it, or whoever ran it was killed."""
    message = phrase("{reason} (command: {command})", reason=reason, command=ran.command)
    error = ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)
    return ToolResult(_lines(ran, error=message), phrase("Command failed: {reason}", reason=message), error)


def cut_off(ran: Ran, why: Why, *, limit: float) -> ToolResult:
    """The command was stopped at a limit of so many seconds."""
    minutes = limit / 60
    told = [
        phrase(
            "Command was automatically cancelled because it exceeded the timeout of {minutes:.1f} minutes"
            " without output.",
            minutes=minutes,
        )
        if why is Why.IDLE
        else phrase(
            "Command was automatically cancelled because it exceeded the timeout of {minutes:.1f} minutes.",
            minutes=minutes,
        )
    ]
    if limit < 60:
        told.append(phrase("The limit was {seconds:g} seconds.", seconds=limit))
    if why is Why.IDLE and (prompt := _prompt_of(ran)):
        told.append(
            phrase(
                'It seems to wait for input (needs_input), which nobody can give; its last words are "{prompt}". '
                "Answer beforehand, with an option of the program or by a pipe into it.",
                prompt=prompt,
            )
        )
    message = joined(" ", told)
    display = joined("\n", (ran.output, message)) if ran.output.strip() else message
    return ToolResult(message + _so_far(ran), display, ToolError(message, ErrorType.TIMEOUT))


def cancelled(ran: Ran) -> ToolResult:
    """The person called it off while it ran."""
    display = ran.output if ran.output.strip() else phrase("Command cancelled by user.")
    return ToolResult("Command was cancelled by user before it could complete." + _so_far(ran), display)


def cancelled_before_start() -> ToolResult:
    return ToolResult("Command was cancelled by user before it could start.", phrase("Command cancelled by user."))


def _so_far(ran: Ran) -> str:
    if not ran.output.strip():
        return " There was no output before it was cancelled."
    return f" Below is the output (on stdout and stderr) before it was cancelled:\n{ran.output}"


def _prompt_of(ran: Ran) -> str | None:
    """The unfinished last line of what was printed, if it reads like a question."""
    for printed in (ran.stderr, ran.stdout):
        line = printed.rpartition("\n")[2].strip()
        if line and len(line) <= _LONGEST_PROMPT and _PROMPT.search(line):
            return line
    return None


def _lines(ran: Ran, *, ended: Exit | None = None, error: str | None = None) -> str:
    code = None if ended is None else ended.code
    number = None if ended is None else ended.signal
    left = () if ended is None else ended.survivors
    return "\n".join(
        [
            f"Command: {ran.command}",
            f"Directory: {ran.directory or '(root)'}",
            f"Stdout: {ran.stdout or '(empty)'}",
            f"Stderr: {ran.stderr or '(empty)'}",
            f"Error: {error or '(none)'}",
            f"Exit Code: {'(none)' if code is None else code}",
            f"Signal: {'(none)' if number is None else signal_name(number)}",
            f"Background PIDs: {', '.join(map(str, left)) or '(none)'}",
            f"Process Group PGID: {'(none)' if ran.pid is None else ran.pid}",
        ]
    )
