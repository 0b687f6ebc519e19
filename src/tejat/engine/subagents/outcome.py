"""The outcome of a run of a sub-agent, and the result that its parent gets."""

from tejat.core.agent.subagents import SubagentDefinition, SubagentEnd
from tejat.core.errors import ErrorType
from tejat.core.frozen import Frozen
from tejat.core.tools.base import ToolError, ToolResult

NO_COMPLETION = "Agent stopped calling tools but did not call 'complete_task'."


class SubagentOutcome(Frozen):
    """Why a run ended. `result` is what it handed in or last said, and `message` what went wrong.

    `stops_session`: the error ends the turn of the parent, too.
    """

    reason: SubagentEnd
    message: str = ""
    result: str = ""
    stops_session: bool = False

    @property
    def error(self) -> str:
        """What went wrong, empty if the goal was reached."""
        return "" if self.reason is SubagentEnd.GOAL else self.message or self.reason.value


def tool_result(
    definition: SubagentDefinition, outcome: SubagentOutcome, *, undo_id: str, files_changed: int
) -> ToolResult:
    """Build the result of the call that started the run. Every end but GOAL is an error."""
    content = _content(definition.name, outcome)
    if files_changed:
        files = "1 file" if files_changed == 1 else f"{files_changed:,} files"
        content += f"\n\n{files} changed (undo id: {undo_id})."
    if outcome.reason is SubagentEnd.GOAL:
        return ToolResult(content, outcome.result)
    return ToolResult(content, outcome.error, ToolError(content, _error_type(outcome)))


def _content(name: str, outcome: SubagentOutcome) -> str:
    if outcome.reason is SubagentEnd.ERROR:
        return f"Subagent '{name}' failed. Error: {outcome.message}"
    result = outcome.result.strip() or outcome.message
    return f"Subagent '{name}' finished.\nTermination Reason: {outcome.reason.value}\nResult:\n{result}"


def _error_type(outcome: SubagentOutcome) -> ErrorType:
    if outcome.stops_session:
        return ErrorType.STOP_EXECUTION
    return _ERROR_TYPES.get(outcome.reason, ErrorType.EXECUTION_FAILED)


_ERROR_TYPES = {SubagentEnd.TIMEOUT: ErrorType.TIMEOUT, SubagentEnd.ABORTED: ErrorType.CANCELLED}
