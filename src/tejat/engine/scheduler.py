"""From a function call to its result: prepare, authorise, perform."""

from dataclasses import dataclass

from tejat.core.confirm import Approver, Confirmation, Outcome
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.tool import BaseTool, ModifiableTool, ToolContext, ToolResult, broken, execute_safely, failed, rejected
from tejat.core.types import FunctionCall, Params
from tejat.tools.registry import ToolRegistry


class Scheduler:
    """Runs function calls. Without an approver nobody can answer, so whatever needs an answer is refused."""

    def __init__(self, registry: ToolRegistry, approver: Approver | None) -> None:
        self._registry = registry
        self._approver = approver

    async def run(self, call: FunctionCall) -> ToolResult:
        """The result of one call, whatever happens. Raises nothing but the cancellation of its task."""
        try:
            tool = self._registry[call.name]
            rejection = tool.rejection(call.args)
            if rejection:
                return rejected(rejection)
            ready = await self._authorise(tool, call.args)
        except ToolFailure as failure:
            return failed(failure)
        except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
            return broken(error)
        return await execute_safely(tool, ready.params, ToolContext(approved=ready.approved))

    async def _authorise(self, tool: BaseTool, params: Params) -> "_Ready":
        """Ask until there is a clear yes; what the person rewrote is shown again before it may run."""
        while True:
            confirmation = await tool.should_confirm_execute(params)
            if confirmation is None:
                return _Ready(params, None)
            if self._approver is None:
                raise ToolFailure(
                    f'Tool "{tool.name}" needs confirmation and nobody is here to give it: {confirmation.title}',
                    ErrorType.POLICY_VIOLATION,
                )
            answer = await self._approver.ask(confirmation)
            if answer.outcome is Outcome.CANCEL:
                raise _cancelled(answer.feedback)
            if answer.new_content is not None:
                params = _rewritten(tool, params, confirmation, answer.new_content)
            elif answer.outcome is not Outcome.MODIFY_WITH_EDITOR:
                return _Ready(params, confirmation)
            else:
                raise _cancelled("the change was to be rewritten, and was not")


@dataclass(frozen=True, slots=True)
class _Ready:
    params: Params
    approved: Confirmation | None


def _rewritten(tool: BaseTool, params: Params, confirmation: Confirmation, new_content: str) -> Params:
    if not isinstance(tool, ModifiableTool):
        raise ToolFailure(f'Tool "{tool.name}" has nothing that could be rewritten.', ErrorType.EXECUTION_FAILED)
    rewritten = tool.modified_params(params, confirmation, new_content)
    rejection = tool.rejection(rewritten)
    if rejection:
        raise rejection
    return rewritten


def _cancelled(feedback: str | None) -> ToolFailure:
    said = f" They said: {feedback}" if feedback else ""
    return ToolFailure(
        f"[Operation Cancelled] Reason: User did not allow tool call.{said}",
        ErrorType.CANCELLED,
        display="Cancelled: you did not allow this call.",
    )
