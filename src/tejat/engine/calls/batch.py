"""The calls of one turn: prepare, authorise, perform, build the response."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import ApprovalRequest, Risk, ToolOrigin
from tejat.core.errors import CallbackFailure, ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy
from tejat.core.log import report_unexpected
from tejat.core.messages.declaration import READ_ONLY_KINDS, Kind
from tejat.core.messages.types import FunctionCall, Part
from tejat.core.tools.base import (
    BaseTool,
    ToolContext,
    ToolError,
    ToolResult,
    failure_result,
    ignore,
    invalid_params_result,
    unexpected_error_result,
)
from tejat.core.tools.call_events import CallEventSink, CallFinished, CallState, Event, OutputUpdated, StateChanged
from tejat.core.tools.cancellation import CancelReason, CancelSignal, inner_cancellation
from tejat.core.tools.function_response import build_response
from tejat.core.tools.schema import as_arguments
from tejat.core.undo import UndoUnavailable
from tejat.engine.calls.approval.refusals import RejectedByUser
from tejat.engine.calls.approval.trial import discard_trial
from tejat.engine.calls.batch_call import (
    CANCELLED_BEFORE_START,
    CANCELLED_BY_FAILURE,
    CANCELLED_IN_QUEUE,
    CANCELLED_WHILE_RUNNING,
    BatchCall,
    cancelled_result,
    final_state,
    stale_note,
)
from tejat.engine.calls.call_facts import command_environment
from tejat.engine.calls.execution import execute_call
from tejat.engine.calls.permission import AuthorisedCall

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import ApprovalReply, UserSubject
    from tejat.engine.calls.scheduler import Scheduler

_MAX_CONCURRENT = 24
_MAX_PROPOSALS = 3
_STOPPING_ERRORS = frozenset({ErrorType.STOP_EXECUTION, ErrorType.ANSWER_REQUIRED})
_FATAL_ERRORS = _STOPPING_ERRORS | {ErrorType.NO_SPACE_LEFT}


class Batch:
    """The calls of one turn of the model.

    However `run` ends, even if its task was cancelled before it began, `results` and `responses` hold exactly one entry
    for every call, in order. A call that the user rejects does not stop the others; `stopped_by_user` means that the
    user wants the turn to end. A question is asked when all calls before it have ended. `why_cancelled` is asked why a
    call has ended early.
    """

    def __init__(
        self,
        scheduler: "Scheduler",
        calls: Sequence[FunctionCall],
        emit: CallEventSink | None,
        *,
        beside: bool,
        why_cancelled: Callable[[], CancelReason],
    ) -> None:
        self._scheduler = scheduler
        self._sink = emit
        self._beside = beside
        self.sink_error: Exception | None = None
        self._calls = [BatchCall(index, call) for index, call in enumerate(calls)]
        self._is_waiting = True
        self._is_stopped = False
        self._asked: set[int] = set()
        self._authorised: deque[tuple[BatchCall, AuthorisedCall | None]] = deque()
        self._failure: CallbackFailure | None = None
        self.stopped_by_user = False
        self._why_cancelled = why_cancelled

    @property
    def results(self) -> list[ToolResult]:
        return [call.result or cancelled_result(CANCELLED_IN_QUEUE) for call in self._calls]

    @property
    def responses(self) -> list[tuple[Part, ...]]:
        cancelled = cancelled_result(CANCELLED_IN_QUEUE)
        return [call.response or build_response(call.request, cancelled) for call in self._calls]

    @property
    def finished(self) -> list[CallFinished]:
        """The last event of each call, in order. All are there once `run` has returned."""
        return [call.finished for call in self._calls if call.finished is not None]

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
        """Run the calls. Raises CallbackFailure after an exception in the approver, which cancels the other calls.

        Also raises UsageError while another event loop uses the scheduler.
        """
        try:
            lock = self._scheduler.lock
            async with lock.share() if self._beside and self._only_reads() else lock.hold():
                self._is_waiting = False
                for is_concurrent, neighbours in groupby(self._calls, self._is_concurrent):
                    group = list(neighbours)
                    await (self._run_concurrently(group) if is_concurrent else self._run_sequentially(group))
        finally:
            why = CANCELLED_IN_QUEUE if self._is_waiting else CANCELLED_BEFORE_START
            for call in self._calls:
                if call.result is None:
                    self._finish(call, cancelled_result(why, reason=self._why_cancelled()))
        if self._failure is not None:
            raise self._failure

    def _only_reads(self) -> bool:
        registry = self._scheduler.registry
        return all(registry.kind_of(call.request.name) in READ_ONLY_KINDS for call in self._calls)

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
        """Authorise the calls in order and run them together, as many as need no question in between."""
        if len(calls) == 1:
            return await self._run_sequentially(calls)
        for call in calls:
            ready = await self._prepare_and_authorise(call)
            self._authorised.append((call, ready))
        return await self._run_authorised()

    async def _run_authorised(self) -> None:
        """Run the calls that are authorised, with limited concurrency."""
        if not self._authorised:
            return
        waiting, self._authorised = self._authorised, deque()

        async def work() -> None:
            while waiting:
                await self._run_call(*waiting.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_MAX_CONCURRENT, len(waiting))):
                group.create_task(work())

    async def _prepare_and_authorise(self, call: BatchCall, note: str = "") -> AuthorisedCall | None:
        """Return the authorised call, None if it is finished already: unknown, invalid or denied."""
        if self._is_stopped:
            return self._finish(call, self._not_run_result())
        try:
            self._set_state(call, CallState.VALIDATING)
            tool = call.tool = self._scheduler.registry[call.request.name]
            call.arguments = as_arguments(call.request.args)
            if rejection := tool.rejection(call.arguments):
                return self._finish(call, invalid_params_result(rejection))
            objection = await self._consult_hooks(call, tool)
            ready = await self._scheduler.permission.authorise(
                tool,
                call.arguments,
                on_question=lambda question: self._before_question(call, question),
                origin=self._origin_of(tool),
                note=note,
                objection=join_lazy(" ", filter(None, (objection, call.undo_problem))),
                risks=(Risk.NO_UNDO,) if call.undo_problem else (),
                trial_context=lambda: self._start_trial(call),
                position=lambda: self._question_position(call),
                call_index=call.index,
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
        except CallbackFailure as failure:
            self._stop_after(failure)
            self._finish(call, self._not_run_result())
        except asyncio.CancelledError as error:
            failure = inner_cancellation(error, asyncio.current_task())
            self._finish(call, unexpected_error_result(failure, call.request.name))
        except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
            self._finish(call, unexpected_error_result(error, call.request.name))
        return None

    def _stop_after(self, failure: CallbackFailure) -> None:
        """Cancel the calls that have not started. `run` raises the first failure."""
        self._failure = self._failure or failure
        self._is_stopped = True

    def _not_run_result(self) -> ToolResult:
        return cancelled_result(CANCELLED_BEFORE_START if self._failure is None else CANCELLED_BY_FAILURE)

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
                call.arguments = as_arguments(call.request.args)
        return call.hook_check.objection

    def _origin_of(self, tool: BaseTool) -> ToolOrigin:
        entry = self._scheduler.registry.entry(tool.name)
        return ToolOrigin() if entry is None else ToolOrigin(entry.source, entry.server or entry.origin)

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

    async def _before_question(self, call: BatchCall, question: ApprovalRequest) -> None:
        """Report a question, when the calls before it have ended: the user knows then how they ended."""
        await self._run_authorised()
        self._on_question(call, question)

    def _on_question(self, call: BatchCall, question: ApprovalRequest) -> None:
        self._asked.add(call.index)
        self._set_state(call, CallState.AWAITING_APPROVAL)
        if self._scheduler.hooks is not None:
            self._scheduler.hooks.notify_question(question)

    async def _ask_user(self, call: BatchCall, tool: BaseTool, subject: "UserSubject") -> "ApprovalReply":
        """Ask the user what a running tool wants to know. Raises UserUnavailable."""
        (place, total), origin = self._question_position(call), self._origin_of(tool)
        question = ApprovalRequest(subject, tool.name, origin=origin, place=place, total=total, call_index=call.index)
        self._on_question(call, question)
        try:
            return await self._scheduler.permission.ask(question)
        except CallbackFailure as failure:
            self._stop_after(failure)  # even if the tool handles it
            raise
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
            return self._finish(call, self._not_run_result())
        while ready is not None:
            self._set_state(call, CallState.SCHEDULED)
            try:
                result = await self._perform(call, ready)
            except UndoUnavailable as problem:
                await discard_trial(call.tool, ready.approved)
                call.undo_problem = str(problem)
                ready = await self._prepare_and_authorise(call)
                continue
            is_stale = result.error is not None and result.error.type is ErrorType.STALE_FILE
            if ready.approved is None or not is_stale or proposals == _MAX_PROPOSALS:
                return await self._run_after_hooks(call, result, ready.allowed_by)
            proposals += 1
            ready = await self._prepare_and_authorise(call, stale_note(ready.approved, result))
        return None

    async def _perform(self, call: BatchCall, ready: AuthorisedCall) -> ToolResult:
        """Run an authorised call and record its changes. Raises UndoUnavailable before anything is done."""
        tool = call.tool
        assert tool is not None
        call.partial = None
        call.replaced.clear()
        context = ToolContext(
            approved=ready.approved,
            update_output=partial(self._emit_output, call) if tool.can_update_output else ignore,
            keep_partial=call.keep_partial,
            environment=command_environment(ready.facts),
            ask=partial(self._ask_user, call, tool) if self._scheduler.permission.can_ask else None,
            call_id=call.request.id or "",
            index=call.index,
            plan_file=ready.facts.plan_file,
            keep_replaced=call.replaced.__setitem__,
            signal=CancelSignal(self._why_cancelled),
        )
        self._set_state(call, CallState.EXECUTING)
        call.started = time.perf_counter()
        try:
            return await execute_call(self._scheduler, call, tool, ready, context)
        except CallbackFailure as failure:
            self._stop_after(failure)
            return cancelled_result(CANCELLED_BY_FAILURE, call.partial)
        except asyncio.CancelledError:
            result = cancelled_result(CANCELLED_WHILE_RUNNING, call.partial, reason=self._why_cancelled())
            self._finish(call, result, ready.allowed_by)
            raise

    async def _run_after_hooks(self, call: BatchCall, result: ToolResult, allowed_by: str) -> None:
        """Run the hooks after a call. Their failure does not undo what the call did."""
        hooks, mask = self._scheduler.hooks, self._scheduler.mask
        try:
            if hooks is not None and call.tool is not None and call.hook_check is not None:
                seen = result if mask is None else mask.mask_result(result)
                result = await hooks.after_tool(call.request, call.tool, call.hook_check, seen)
        except CallbackFailure as failure:
            self._stop_after(failure)
        except Exception as error:  # noqa: BLE001 -- broken hooks must not end the turn
            message = report_unexpected(error, "hooks after a tool call")
            if hooks is not None:
                hooks.notify(message)
        finally:
            self._finish(call, result, allowed_by)

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
        is_stop = result.error is not None and result.error.type in _STOPPING_ERRORS
        self._is_stopped = self._is_stopped or is_stop or result.final_answer is not None
        self._set_state(call, final_state(result))
        how = (call.index, call.request, call.state, result, call.response, call.log_end(), allowed_by)
        call.finished = CallFinished(*how, refusal is not None, refusal is not None and refusal.ends_turn)
        self._emit(call.finished)

    def _set_state(self, call: BatchCall, state: CallState) -> None:
        call.state = state
        if self._sink is not None:
            self._emit(StateChanged(call.index, call.request, state))

    def _emit(self, event: Event) -> None:
        """Emit an event. A listener that raises gets no more events and does not end the turn."""
        if self._sink is None:
            return
        try:
            self._sink(event)
        except Exception as error:  # noqa: BLE001 -- whoever watches must not end the turn
            self._sink, self.sink_error = None, error
