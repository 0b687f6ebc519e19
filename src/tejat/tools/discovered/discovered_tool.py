"""A tool declared by the discovery command and run by the call command of the settings."""

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.approval.confirmation import Confirmation, ExecConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import JsonObject, Params
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.base import BaseTool, ToolContext, ToolError, ToolResult
from tejat.tools.descriptions import load_description
from tejat.tools.failures import command_mismatch, invalid_params
from tejat.tools.shell.result import format_outcome
from tejat.workspace.processes.program import ProgramEndReason, ProgramResult, format_start_error, run_program
from tejat.workspace.processes.spawn import ExitStatus, signal_name
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.types import ProgramWrapper

TIMEOUT_SECONDS = 600.0
MAX_OUTPUT_BYTES = 10 * 2**20
"""Limit for each stream."""

_NO_COMMAND = "There is no command to call it with. Somebody has to set tools.callCommand in the settings."


class DiscoveredTool(BaseTool):
    """A tool of the discovery command.

    A call runs the call command with the tool name as the last argument and the arguments as JSON on stdin.

    The command sees only `environment`. Output on stderr is a failure only with `strict_stderr` or a nonzero exit code.
    With `wrap` it runs in a container. `blocked_reason` returns why the tool must not run now, or None. The output is
    returned unsanitized.
    """

    def __init__(
        self,
        declared: FunctionDeclaration,
        *,
        discovery_command: Sequence[str],
        call_command: Sequence[str],
        supervisor: ProcessSupervisor,
        directory: str,
        environment: Mapping[str, str],
        seconds: float = TIMEOUT_SECONDS,
        strict_stderr: bool = False,
        blocked_reason: Callable[[], str | None] = lambda: None,
        wrap: ProgramWrapper | None = None,
    ) -> None:
        self._arguments = (*call_command, declared.name) if call_command else ()
        explanation = load_description("discovered_tool").format(
            discovery=sanitize_text(shlex.join(discovery_command)),
            call=sanitize_text(shlex.join(self._arguments)) or "(tools.callCommand is not set)",
        )
        super().__init__(
            name=declared.name,
            description=f"{declared.description}\n\n{explanation}".lstrip("\n"),
            parameter_schema=declared.parameters_json_schema,
            kind=Kind.OTHER,
            is_output_markdown=False,
        )
        self._supervisor = supervisor
        self._directory = directory
        self._environment = environment
        self._seconds = seconds
        self._strict_stderr = strict_stderr
        self._blocked_reason = blocked_reason
        self._wrap = wrap

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        payload = _encode_input(params)
        if (reason := self._find_blocked_reason()) is not None:
            raise ToolFailure(_format_report(error=reason), ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR)
        return ExecConfirmation(
            title=lazy("Confirm: {tool}", tool=self.display_name),
            command=shlex.join(self._arguments),
            directory=self._directory,
            root_commands=self._arguments[:1],
            notes=(lazy("Arguments passed on standard input: {given}", given=payload),),
            digest=self._digest(payload),
        )

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        payload = _encode_input(params)
        if context.approved is not None and context.approved.digest != self._digest(payload):
            raise command_mismatch()
        if (reason := self._find_blocked_reason()) is not None:
            return _failure_result(reason, _format_report(error=reason))
        try:
            finished = await run_program(
                self._supervisor,
                self._arguments,
                directory=self._directory,
                environment=self._environment,
                input=payload.encode(),
                seconds=self._seconds,
                max_bytes=MAX_OUTPUT_BYTES,
                wrap=self._wrap,
            )
        except OSError as error:
            reason = format_start_error(error)
            return _failure_result(reason, _format_report(error=reason))
        return self._build_result(finished)

    def _find_blocked_reason(self) -> str | None:
        return self._blocked_reason() if self._arguments else _NO_COMMAND

    def _build_result(self, finished: ProgramResult) -> ToolResult:
        stdout, stderr = finished.stdout.decode(errors="replace"), finished.stderr.decode(errors="replace")
        stop_reason = self._stop_reason(finished.reason)
        report = _format_report(stdout, stderr, error=stop_reason, exit_status=finished.exit)
        reason = stop_reason or _exit_failure(finished.exit)
        if reason is None and stderr and self._strict_stderr:
            reason = "It printed to its error output, which counts as a failure (tools.callCommandStrictStderr)."
        if reason is not None:
            return _failure_result(reason, report)
        return ToolResult(stdout or report, report) if stderr else ToolResult(stdout, stdout)

    def _stop_reason(self, cause: ProgramEndReason) -> str | None:
        match cause:
            case ProgramEndReason.EXITED:
                return None
            case ProgramEndReason.TIME:
                return f"It timed out after {self._seconds:g} seconds."
            case ProgramEndReason.OUTPUT:
                return f"It printed more than {MAX_OUTPUT_BYTES} bytes to one stream and was stopped."

    def _digest(self, payload: str) -> str:
        facts = (self._arguments, self._directory, payload)
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _encode_input(params: Params) -> str:
    try:
        return dump_json(cast("JsonObject", dict(params)))
    except (TypeError, ValueError) as error:
        raise invalid_params(lazy("params are not valid JSON: {why}", why=error)) from None


def _exit_failure(exit_status: ExitStatus | None) -> str | None:
    """Describe a failed exit, None for success."""
    if exit_status is None or exit_status.code == 0:
        return None
    if exit_status.signal is not None:
        return f"It was killed by {signal_name(exit_status.signal)}."
    return f"It exited with code {exit_status.code}."


def _format_report(
    stdout: str = "", stderr: str = "", *, error: str | None, exit_status: ExitStatus | None = None
) -> str:
    return "\n".join(format_outcome(stdout, stderr, error, exit_status))


def _failure_result(reason: str, report: str) -> ToolResult:
    return ToolResult(report, report, ToolError(reason, ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR))
