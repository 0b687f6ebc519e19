"""From function calls to their responses: prepare, authorise, perform, pack."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tejat.core.confirm import Origin, OriginKind
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.events import CallFinished, CallState, Event, OutputUpdated, StateChanged, Watch
from tejat.core.tool import (
    READ_ONLY_KINDS,
    BaseTool,
    ToolContext,
    ToolError,
    ToolResult,
    broken,
    execute_safely,
    failed,
    rejected,
)
from tejat.core.types import FunctionCall, Part
from tejat.core.value import replace
from tejat.core.words import say
from tejat.engine.facts import Reach, reach_of
from tejat.engine.long_output import LongOutput
from tejat.engine.packing import pack
from tejat.engine.permission import NotAllowed, Permission, Ready
from tejat.engine.secret_mask import SecretMask
from tejat.tools.registry import Source, ToolRegistry

if TYPE_CHECKING:
    from tejat.core.confirm import Confirmation, Question
    from tejat.core.hooks import Checked, ToolHooks
    from tejat.engine.undo import UndoJournal

_MOST_AT_ONCE = 24
_MOST_PROPOSALS = 3

_ORIGINS = {
    Source.BUILT_IN: OriginKind.BUILT_IN,
    Source.PYTHON: OriginKind.PLUGIN,
    Source.DISCOVERED: OriginKind.DISCOVERED,
    Source.MCP: OriginKind.SERVER,
}
_FATAL = frozenset({ErrorType.STOP_EXECUTION, ErrorType.NO_SPACE_LEFT})

CANCELLED_WHILE_RUNNING = "[Operation Cancelled] Reason: User cancelled tool execution."
CANCELLED_BEFORE = "[Operation Cancelled] Reason: Tool call cancelled by user before it ran."
CANCELLED_IN_QUEUE = "Tool call cancelled while in queue."


class Scheduler:
    """Runs the calls of a model: neighbours that only read go together, anything else goes alone and in order.

    A second batch waits for the first. `mask` keeps secrets out of results. `undo` opens the journal that changes are
    kept in, when there is one to keep. `hooks` have a say before the rules, and see the results.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        permission: Permission,
        *,
        long_output: LongOutput | None = None,
        mask: SecretMask | None = None,
        undo: "Callable[[], UndoJournal] | None" = None,
        hooks: "ToolHooks | None" = None,
    ) -> None:
        self.registry = registry
        self.permission = permission
        self.long_output = long_output
        self.mask = mask
        self.undo = undo
        self.hooks = hooks
        self.turn = asyncio.Lock()

    def batch(self, calls: Sequence[FunctionCall], watch: Watch | None = None) -> "Batch":
        return Batch(self, calls, watch)

    async def run(self, call: FunctionCall, watch: Watch | None = None) -> ToolResult:
        """The result of one call, whatever happens. Raises nothing but the cancellation of its task."""
        batch = self.batch([call], watch)
        await batch.run()
        return batch.results[0]


class Batch:
    """The calls of one turn of the model.

    `run` raises nothing but the cancellation of its task. However it ends, even if its task was cancelled before it
    began, `results` and `responses` hold exactly one entry for every call, in the order asked. `was_stopped`: somebody
    was asked about one of them and wants the turn to end.
    """

    def __init__(self, scheduler: Scheduler, calls: Sequence[FunctionCall], watch: Watch | None) -> None:
        self._scheduler = scheduler
        self._watch = watch
        self.watch_failure: Exception | None = None
        self._calls = [_Call(index, call) for index, call in enumerate(calls)]
        self._is_waiting = True
        self._is_stopped = False
        self.was_stopped = False
        self._has_word = False

    @property
    def results(self) -> list[ToolResult]:
        return [call.result or _cancelled(CANCELLED_IN_QUEUE) for call in self._calls]

    @property
    def responses(self) -> list[tuple[Part, ...]]:
        return [call.response or pack(call.request, _cancelled(CANCELLED_IN_QUEUE)) for call in self._calls]

    @property
    def all_cancelled(self) -> bool:
        """Whether there is nothing to go on with: the model is not asked again, the person is."""
        return not self._has_word and all(_final_state(result) is CallState.CANCELLED for result in self.results)

    @property
    def stop_reason(self) -> str | None:
        """What happened that leaves no sense in going on."""
        errors = (result.error for result in self.results)
        return next((error.message for error in errors if error is not None and error.type in _FATAL), None)

    async def run(self) -> None:
        try:
            async with self._scheduler.turn:
                self._is_waiting = False
                for reads_only, neighbours in groupby(self._calls, self._only_reads):
                    group = list(neighbours)
                    await (self._run_together(group) if reads_only else self._run_one_by_one(group))
        finally:
            for call in self._calls:
                if call.result is None:
                    self._finish(call, _cancelled(CANCELLED_IN_QUEUE if self._is_waiting else CANCELLED_BEFORE))

    def _only_reads(self, call: "_Call") -> bool:
        """Judged by what is registered; a name that nobody knows is answered wherever it stands."""
        kind = self._scheduler.registry.kind_of(call.request.name)
        return kind is None or kind in READ_ONLY_KINDS

    async def _run_one_by_one(self, calls: "list[_Call]") -> None:
        for call in calls:
            await self._run_call(call, await self._prepare_and_authorise(call))

    async def _run_together(self, calls: "list[_Call]") -> None:
        """Questions come in order, before anything of the group runs; then as many at once as is sensible."""
        if len(calls) == 1:
            return await self._run_one_by_one(calls)
        waiting = deque([(call, await self._prepare_and_authorise(call)) for call in calls])

        async def work() -> None:
            while waiting:
                await self._run_call(*waiting.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_MOST_AT_ONCE, len(waiting))):
                group.create_task(work())
        return None

    async def _prepare_and_authorise(self, call: "_Call", note: str = "") -> Ready | None:
        """None for a call that has its result already: unknown, malformed, denied."""
        if self._is_stopped:
            return self._finish(call, _cancelled(CANCELLED_BEFORE))
        try:
            tool = self._prepare(call)
            objection = await self._consult_hooks(call, tool)
            ready = await self._scheduler.permission.authorise(
                tool,
                call.request.args,
                asking=lambda question: self._note_question(call, question),
                origin=self._origin_of(tool),
                note=note,
                objection=objection,
                trying=lambda: self._begin_trial(call),
            )
            tool.note_allowed()
            return ready
        except _Rejected as refusal:
            self._finish(call, rejected(refusal.failure))
        except NotAllowed as refusal:
            self._is_stopped = self.was_stopped = self.was_stopped or refusal.ends_turn
            self._has_word = self._has_word or refusal.has_word
            result = failed(refusal)
            result = result if refusal.shown is None else replace(result, return_display=refusal.shown)
            self._finish(call, result, was_refused=True)
        except ToolFailure as failure:
            self._finish(call, failed(failure))
        except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
            self._finish(call, broken(error))
        return None

    def _prepare(self, call: "_Call") -> BaseTool:
        self._enter(call, CallState.VALIDATING)
        call.tool = self._scheduler.registry[call.request.name]
        rejection = call.tool.rejection(call.request.args)
        if rejection:
            raise _Rejected(rejection)
        return call.tool

    async def _consult_hooks(self, call: "_Call", tool: BaseTool) -> str:
        """What hooks have against the call, whose arguments they may rewrite. Raises ToolFailure if they refuse it."""
        hooks = self._scheduler.hooks
        if hooks is None:
            return ""
        if call.checked is None:
            call.checked = await hooks.before_tool(call.request, tool)
            if call.checked.is_rewritten:
                call.request = replace(call.request, args=call.checked.params)
        return call.checked.objection

    def _origin_of(self, tool: BaseTool) -> Origin:
        entry = self._scheduler.registry.entry(tool.name)
        return Origin() if entry is None else Origin(_ORIGINS[entry.source], entry.server or entry.origin)

    def _note_question(self, call: "_Call", question: "Question") -> None:
        self._enter(call, CallState.AWAITING_APPROVAL)
        if self._scheduler.hooks is not None:
            self._scheduler.hooks.asked(question)

    def _begin_trial(self, call: "_Call") -> ToolContext:
        self._enter(call, CallState.EXECUTING)
        return ToolContext(update_output=lambda output: self._tell_output(call, output))

    def _tell_output(self, call: "_Call", output: str) -> None:
        self._tell(OutputUpdated(call.index, call.request, self._masked(output)))

    async def _run_call(self, call: "_Call", ready: Ready | None) -> None:
        """Perform what may run. A file that moved on since it was approved is shown anew, not written over."""
        proposals = 1
        if ready is not None and self._is_stopped:
            return self._finish(call, _cancelled(CANCELLED_BEFORE))
        while ready is not None:
            self._enter(call, CallState.SCHEDULED)
            result = await self._perform(call, ready)
            is_stale = result.error is not None and result.error.type is ErrorType.STALE_FILE
            if ready.approved is None or not is_stale or proposals == _MOST_PROPOSALS:
                return await self._conclude(call, result, ready.allowed_by)
            proposals += 1
            ready = await self._prepare_and_authorise(call, _what_moved_on(ready.approved, result))
        return None

    async def _perform(self, call: "_Call", ready: Ready) -> ToolResult:
        tool = call.tool
        assert tool is not None
        partial: list[ToolResult] = []
        context = ToolContext(
            approved=ready.approved,
            update_output=lambda output: self._tell_output(call, output),
            keep_partial=partial.append,
        )
        self._enter(call, CallState.EXECUTING)
        call.started = time.perf_counter()

        async def run() -> ToolResult:
            return await execute_safely(tool, ready.params, context)

        try:
            reach = reach_of(ready.facts)
            journal = None if reach is Reach.NOTHING else self._journal()
            if journal is None:
                return await run()
            paths, whole_tree = ready.facts.paths, reach is Reach.WHOLE_TREE
            return await journal.around(call.request, tool.kind, paths, run, whole_tree=whole_tree)
        except asyncio.CancelledError:
            self._finish(call, _cancelled(CANCELLED_WHILE_RUNNING, partial[-1] if partial else None), ready.allowed_by)
            raise

    async def _conclude(self, call: "_Call", result: ToolResult, allowed_by: str) -> None:
        """Let hooks see what came of it. What was done stays done, whatever becomes of them."""
        hooks, mask = self._scheduler.hooks, self._scheduler.mask
        try:
            if hooks is not None and call.tool is not None and call.checked is not None:
                seen = result if mask is None else mask.result(result)
                result = await hooks.after_tool(call.request, call.tool, call.checked, seen)
        except Exception:  # noqa: BLE001 -- broken hooks must not end the turn
            pass
        finally:
            self._finish(call, result, allowed_by)

    def _masked(self, output: str) -> str:
        mask = self._scheduler.mask
        return output if mask is None else mask.text(output)

    def _journal(self) -> "UndoJournal | None":
        """None where nothing can be kept: that is no reason not to do what was asked for."""
        open_journal = self._scheduler.undo
        try:
            return None if open_journal is None else open_journal()
        except TejatError:
            return None

    def _finish(self, call: "_Call", result: ToolResult, allowed_by: str = "", *, was_refused: bool = False) -> None:
        """Pack the result. From here on the call has its one response."""
        if self._scheduler.mask is not None:
            result = self._scheduler.mask.result(result)
        long_output = self._scheduler.long_output
        if long_output is not None and (call.tool is None or not call.tool.bounds_output):
            result = long_output.bounded(result, tool_name=call.request.name)
        call.result = result
        call.response = pack(call.request, result)
        call.state = _final_state(result)
        self._is_stopped = self._is_stopped or (
            result.error is not None and result.error.type is ErrorType.STOP_EXECUTION
        )
        self._tell(StateChanged(call.index, call.request, call.state))
        seconds = time.perf_counter() - call.started if call.started else 0.0
        self._tell(
            CallFinished(
                call.index,
                call.request,
                call.state,
                result,
                call.response,
                seconds,
                allowed_by=allowed_by,
                was_refused=was_refused,
            )
        )

    def _enter(self, call: "_Call", state: CallState) -> None:
        call.state = state
        self._tell(StateChanged(call.index, call.request, state))

    def _tell(self, event: Event) -> None:
        """A watcher that fails hears no more: events are for watching, never for driving."""
        if self._watch is None:
            return
        try:
            self._watch(event)
        except Exception as error:  # noqa: BLE001 -- whoever watches must not end the turn
            self._watch, self.watch_failure = None, error


class _Rejected(Exception):
    def __init__(self, failure: ToolFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Call:
    """One call on its way."""

    __slots__ = ("checked", "index", "request", "response", "result", "started", "state", "tool")

    def __init__(self, index: int, request: FunctionCall) -> None:
        self.index = index
        self.request = request
        self.tool: BaseTool | None = None
        self.checked: Checked | None = None
        self.state = CallState.VALIDATING
        self.started = 0.0
        self.result: ToolResult | None = None
        self.response: tuple[Part, ...] = ()


def _cancelled(message: str, partial: ToolResult | None = None) -> ToolResult:
    error = ToolError(message, ErrorType.CANCELLED)
    if partial is None:
        return ToolResult(message, "Cancelled.", error)
    return ToolResult(partial.llm_content, partial.return_display, error)


def _what_moved_on(approved: "Confirmation", result: ToolResult) -> str:
    if approved.type == "trial":
        return str(result.return_display)
    return say("The file changed while you were looking. This is the change against it as it is now.")


def _final_state(result: ToolResult) -> CallState:
    if result.error is None:
        return CallState.SUCCESS
    return CallState.CANCELLED if result.error.type is ErrorType.CANCELLED else CallState.ERROR
