"""The scheduler of tool calls: prepare, authorise, perform, build the response."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import ApprovalRequest, Risk, ToolOrigin, ToolOriginKind, TrialConfirmation
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.frozen import replace
from tejat.core.i18n import _, join_lazy, lazy
from tejat.core.log import report_unexpected
from tejat.core.messages.types import FunctionCall, Part
from tejat.core.tools.base import (
    READ_ONLY_KINDS,
    BaseTool,
    Kind,
    ToolContext,
    ToolError,
    ToolResult,
    TrialTool,
    execute_safely,
    failure_result,
    invalid_params_result,
    unexpected_error_result,
)
from tejat.core.tools.call_events import CallEventSink, CallFinished, CallState, Event, OutputUpdated, StateChanged
from tejat.core.undo import UndoUnavailable
from tejat.engine.calls.approval.refusals import RejectedByUser
from tejat.engine.calls.batch_call import BatchCall, final_state
from tejat.engine.calls.call_facts import ChangeScope, change_scope, command_environment
from tejat.engine.calls.function_response import build_response
from tejat.engine.calls.permission import AuthorisedCall, Permission
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.calls.truncation import OutputTruncator
from tejat.tools.registry import ToolRegistry, ToolSource

if TYPE_CHECKING:
    from tejat.core.agent.hooks import ToolHooks
    from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Confirmation, PlanConfirmation
    from tejat.engine.calls.undo_recorder import UndoRecorder

_MAX_CONCURRENT = 24
_MAX_PROPOSALS = 3

_ORIGINS = {
    ToolSource.BUILT_IN: ToolOriginKind.BUILT_IN,
    ToolSource.PYTHON: ToolOriginKind.PLUGIN,
    ToolSource.DISCOVERED: ToolOriginKind.DISCOVERED,
    ToolSource.MCP: ToolOriginKind.SERVER,
}
_STOPPING_ERRORS = frozenset({ErrorType.STOP_EXECUTION, ErrorType.ANSWER_REQUIRED})
_FATAL_ERRORS = _STOPPING_ERRORS | {ErrorType.NO_SPACE_LEFT}

CANCELLED_WHILE_RUNNING = "[Operation Cancelled] Reason: User cancelled tool execution."
CANCELLED_BEFORE_START = "[Operation Cancelled] Reason: Tool call cancelled by user before it ran."
CANCELLED_IN_QUEUE = "Tool call cancelled while in queue."


class Scheduler:
    """Runs the calls of a model: consecutive read-only calls run concurrently, all others one after another.

    A second batch waits for the first. `mask` removes secrets from results. `open_undo` returns the recorder of
    changes. `hooks` run before the policy decides and after the call.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        permission: Permission,
        *,
        truncator: OutputTruncator | None = None,
        mask: SecretMask | None = None,
        open_undo: "Callable[[], UndoRecorder] | None" = None,
        hooks: "ToolHooks | None" = None,
    ) -> None:
        self.registry = registry
        self.permission = permission
        self.truncator = truncator
        self.mask = mask
        self.open_undo = open_undo
        self.hooks = hooks
        self.lock = asyncio.Lock()

    def batch(self, calls: Sequence[FunctionCall], emit: CallEventSink | None = None) -> "Batch":
        return Batch(self, calls, emit)

    async def run(self, call: FunctionCall, emit: CallEventSink | None = None) -> ToolResult:
        """Run one call and return its result. Raises only CancelledError."""
        batch = self.batch([call], emit)
        await batch.run()
        return batch.results[0]


class Batch:
    """The calls of one turn of the model.

    `run` raises only CancelledError. However it ends, even if its task was cancelled before it began, `results` and
    `responses` hold exactly one entry for every call, in order. A call that the user rejects does not stop the others;
    `stopped_by_user` means that the user wants the turn to end.
    """

    def __init__(self, scheduler: Scheduler, calls: Sequence[FunctionCall], emit: CallEventSink | None) -> None:
        self._scheduler = scheduler
        self._sink = emit
        self.sink_error: Exception | None = None
        self._calls = [BatchCall(index, call) for index, call in enumerate(calls)]
        self._is_waiting = True
        self._is_stopped = False
        self._asked: set[int] = set()
        self.stopped_by_user = False

    @property
    def results(self) -> list[ToolResult]:
        return [call.result or _cancelled_result(CANCELLED_IN_QUEUE) for call in self._calls]

    @property
    def responses(self) -> list[tuple[Part, ...]]:
        cancelled = _cancelled_result(CANCELLED_IN_QUEUE)
        return [call.response or build_response(call.request, cancelled) for call in self._calls]

    @property
    def fatal_error(self) -> ToolError | None:
        """The error that ends the turn, None if there is none."""
        errors = (result.error for result in self.results)
        return next((error for error in errors if error is not None and error.type in _FATAL_ERRORS), None)

    @property
    def final_result(self) -> ToolResult | None:
        """The result that ends the run, None if it continues."""
        return next((result for result in self.results if result.final_answer is not None), None)

    async def run(self) -> None:
        try:
            async with self._scheduler.lock:
                self._is_waiting = False
                for is_concurrent, neighbours in groupby(self._calls, self._is_concurrent):
                    group = list(neighbours)
                    await (self._run_concurrently(group) if is_concurrent else self._run_sequentially(group))
        finally:
            why = CANCELLED_IN_QUEUE if self._is_waiting else CANCELLED_BEFORE_START
            for call in self._calls:
                if call.result is None:
                    self._finish(call, _cancelled_result(why))

    def _is_concurrent(self, call: BatchCall) -> bool:
        """Whether a call can run concurrently. An unknown tool can: it is only answered with an error."""
        registry, request = self._scheduler.registry, call.request
        if (kind := registry.kind_of(request.name)) is not Kind.AGENT:
            return kind is None or kind in READ_ONLY_KINDS
        try:
            return registry[request.name].runs_concurrently(request.args)
        except Exception:  # noqa: BLE001 -- a broken tool is reported when it is its turn
            return False

    async def _run_sequentially(self, calls: list[BatchCall]) -> None:
        for call in calls:
            await self._run_call(call, await self._prepare_and_authorise(call))

    async def _run_concurrently(self, calls: list[BatchCall]) -> None:
        """Authorise all calls in order, then run them with limited concurrency."""
        if len(calls) == 1:
            return await self._run_sequentially(calls)
        waiting = deque([(call, await self._prepare_and_authorise(call)) for call in calls])

        async def work() -> None:
            while waiting:
                await self._run_call(*waiting.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_MAX_CONCURRENT, len(waiting))):
                group.create_task(work())
        return None

    async def _prepare_and_authorise(self, call: BatchCall, note: str = "") -> AuthorisedCall | None:
        """Return the authorised call, None if it is finished already: unknown, invalid or denied."""
        if self._is_stopped:
            return self._finish(call, _cancelled_result(CANCELLED_BEFORE_START))
        try:
            self._set_state(call, CallState.VALIDATING)
            tool = call.tool = self._scheduler.registry[call.request.name]
            if rejection := tool.rejection(call.request.args):
                return self._finish(call, invalid_params_result(rejection))
            objection = await self._consult_hooks(call, tool)
            ready = await self._scheduler.permission.authorise(
                tool,
                call.request.args,
                on_question=lambda question: self._on_question(call, question),
                origin=self._origin_of(tool),
                note=note,
                objection=join_lazy(" ", filter(None, (objection, call.undo_problem))),
                risks=(Risk.NO_UNDO,) if call.undo_problem else (),
                trial_context=lambda: self._start_trial(call),
                position=lambda: self._question_position(call),
            )
            tool.on_allowed()
            return ready
        except RejectedByUser as refusal:
            self._is_stopped = self.stopped_by_user = self.stopped_by_user or refusal.ends_turn
            result = failure_result(refusal)
            if refusal.rejected_change is not None:
                result = replace(result, return_display=refusal.rejected_change)
            self._finish(call, result, refusal=refusal)
        except ToolFailure as failure:
            self._finish(call, failure_result(failure))
        except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
            self._finish(call, unexpected_error_result(error))
        return None

    async def _consult_hooks(self, call: BatchCall, tool: BaseTool) -> str:
        """Run the hooks before a call, which may rewrite its arguments, and return their objection.

        Raises ToolFailure if they refuse the call.
        """
        hooks = self._scheduler.hooks
        if hooks is None:
            return ""
        if call.hook_check is None:
            call.hook_check = await hooks.before_tool(call.request, tool)
            if call.hook_check.is_rewritten:
                call.request = replace(call.request, args=call.hook_check.params)
        return call.hook_check.objection

    def _origin_of(self, tool: BaseTool) -> ToolOrigin:
        entry = self._scheduler.registry.entry(tool.name)
        return ToolOrigin() if entry is None else ToolOrigin(_ORIGINS[entry.source], entry.server or entry.origin)

    def _question_position(self, call: BatchCall) -> tuple[int, int]:
        """Return the place of the question about a call, and how many the rules foresee for this batch."""
        place = 1 + len(self._asked - {call.index})
        return place, place + sum(map(self._foresees_question, self._calls[call.index + 1 :]))

    def _foresees_question(self, call: BatchCall) -> bool:
        scheduler, request = self._scheduler, call.request
        try:
            return call.result is None and scheduler.permission.asks(scheduler.registry[request.name], request.args)
        except Exception:  # noqa: BLE001 -- a broken tool is reported when it is its turn
            return False

    def _on_question(self, call: BatchCall, question: ApprovalRequest) -> None:
        self._asked.add(call.index)
        self._set_state(call, CallState.AWAITING_APPROVAL)
        if self._scheduler.hooks is not None:
            self._scheduler.hooks.notify_question(question)

    async def _ask_user(
        self, call: BatchCall, tool: BaseTool, subject: "AskUserConfirmation | PlanConfirmation"
    ) -> "ApprovalReply":
        """Ask the user what a running tool wants to know. Raises UserUnavailable."""
        place, total = self._question_position(call)
        question = ApprovalRequest(subject, tool.name, origin=self._origin_of(tool), place=place, total=total)
        self._on_question(call, question)
        try:
            return await self._scheduler.permission.ask(question)
        finally:
            self._set_state(call, CallState.EXECUTING)

    def _start_trial(self, call: BatchCall) -> ToolContext:
        self._set_state(call, CallState.EXECUTING)
        return ToolContext(update_output=lambda output: self._emit_output(call, output))

    def _emit_output(self, call: BatchCall, output: str) -> None:
        mask = self._scheduler.mask
        self._emit(OutputUpdated(call.index, call.request, output if mask is None else mask.mask_text(output)))

    async def _run_call(self, call: BatchCall, ready: AuthorisedCall | None) -> None:
        """Perform an authorised call. If a file changed since the approval, the new change is shown first."""
        proposals = 1
        if ready is not None and self._is_stopped:
            return self._finish(call, _cancelled_result(CANCELLED_BEFORE_START))
        while ready is not None:
            self._set_state(call, CallState.SCHEDULED)
            try:
                result = await self._perform(call, ready)
            except UndoUnavailable as problem:
                await _discard_trial(call, ready)
                call.undo_problem = str(problem)
                ready = await self._prepare_and_authorise(call)
                continue
            is_stale = result.error is not None and result.error.type is ErrorType.STALE_FILE
            if ready.approved is None or not is_stale or proposals == _MAX_PROPOSALS:
                return await self._run_after_hooks(call, result, ready.allowed_by)
            proposals += 1
            ready = await self._prepare_and_authorise(call, _stale_note(ready.approved, result))
        return None

    async def _perform(self, call: BatchCall, ready: AuthorisedCall) -> ToolResult:
        """Run an authorised call and record its changes. Raises UndoUnavailable before anything is done."""
        tool = call.tool
        assert tool is not None
        unfinished: list[ToolResult] = []
        context = ToolContext(
            approved=ready.approved,
            update_output=lambda output: self._emit_output(call, output),
            keep_partial=unfinished.append,
            environment=command_environment(ready.facts),
            ask=partial(self._ask_user, call, tool) if self._scheduler.permission.can_ask else None,
            call_id=call.request.id or "",
            index=call.index,
            plan_file=ready.facts.plan_file,
        )
        self._set_state(call, CallState.EXECUTING)
        call.started = time.perf_counter()

        async def run() -> ToolResult:
            return await execute_safely(tool, ready.params, context)

        try:
            reach = change_scope(ready.facts)
            is_recorded = reach is not ChangeScope.NOTHING and not call.undo_problem
            journal = self._open_undo_recorder() if is_recorded else None
            if journal is None:
                return await run()
            paths, whole_tree = ready.facts.paths, reach is ChangeScope.WHOLE_TREE
            # A command that ran in a copy has shown its changes.
            planned = ready.approved.changes if isinstance(ready.approved, TrialConfirmation) else None
            return await journal.record(call.request, tool.kind, paths, run, whole_tree=whole_tree, planned=planned)
        except asyncio.CancelledError:
            result = _cancelled_result(CANCELLED_WHILE_RUNNING, unfinished[-1] if unfinished else None)
            self._finish(call, result, ready.allowed_by)
            raise

    async def _run_after_hooks(self, call: BatchCall, result: ToolResult, allowed_by: str) -> None:
        """Run the hooks after a call. Their failure does not undo what the call did."""
        hooks, mask = self._scheduler.hooks, self._scheduler.mask
        try:
            if hooks is not None and call.tool is not None and call.hook_check is not None:
                seen = result if mask is None else mask.mask_result(result)
                result = await hooks.after_tool(call.request, call.tool, call.hook_check, seen)
        except Exception as error:  # noqa: BLE001 -- broken hooks must not end the turn
            message = report_unexpected(error, "hooks after a tool call")
            if hooks is not None:
                hooks.notify(message)
        finally:
            self._finish(call, result, allowed_by)

    def _open_undo_recorder(self) -> "UndoRecorder | None":
        """Return None if this scheduler records nothing. Raises UndoUnavailable."""
        open_journal = self._scheduler.open_undo
        try:
            return None if open_journal is None else open_journal()
        except TejatError as error:
            raise UndoUnavailable(
                lazy("This cannot be undone: could not open the undo log ({why}).", why=error)
            ) from error

    def _finish(
        self, call: BatchCall, result: ToolResult, allowed_by: str = "", *, refusal: RejectedByUser | None = None
    ) -> None:
        """Mask and truncate the result, and build the one response of the call."""
        if self._scheduler.mask is not None:
            result = self._scheduler.mask.mask_result(result)
        long_output = self._scheduler.truncator
        if long_output is not None and (call.tool is None or not call.tool.limits_own_output):
            result = long_output.truncate(result, tool_name=call.request.name)
        call.result = result
        call.response = build_response(call.request, result)
        call.state = final_state(result)
        is_stop = result.error is not None and result.error.type in _STOPPING_ERRORS
        self._is_stopped = self._is_stopped or is_stop or result.final_answer is not None
        self._emit(StateChanged(call.index, call.request, call.state))
        seconds = time.perf_counter() - call.started if call.started else 0.0
        how = (call.index, call.request, call.state, result, call.response, seconds, allowed_by)
        self._emit(CallFinished(*how, refusal is not None, refusal is not None and refusal.ends_turn))

    def _set_state(self, call: BatchCall, state: CallState) -> None:
        call.state = state
        self._emit(StateChanged(call.index, call.request, state))

    def _emit(self, event: Event) -> None:
        """Emit an event. A listener that raises gets no more events and does not end the turn."""
        if self._sink is None:
            return
        try:
            self._sink(event)
        except Exception as error:  # noqa: BLE001 -- whoever watches must not end the turn
            self._sink, self.sink_error = None, error


async def _discard_trial(call: BatchCall, ready: AuthorisedCall) -> None:
    if isinstance(ready.approved, TrialConfirmation) and isinstance(call.tool, TrialTool):
        await call.tool.discard_trial(ready.approved)


def _cancelled_result(message: str, partial: ToolResult | None = None) -> ToolResult:
    error = ToolError(message, ErrorType.CANCELLED)
    if partial is None:
        return ToolResult(message, lazy("Cancelled."), error)
    return ToolResult(partial.llm_content, partial.return_display, error)


def _stale_note(approved: "Confirmation", result: ToolResult) -> str:
    if approved.type == "trial":
        return str(result.return_display)
    return _("The file changed in the meantime. This is the change against its current content.")
