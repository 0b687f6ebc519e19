"""Execution of one authorised call, with its changes recorded for undo."""

import asyncio
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import TrialConfirmation
from tejat.core.errors import TejatError
from tejat.core.i18n import lazy
from tejat.core.tools.base import (
    BaseTool,
    ToolContext,
    ToolResult,
    execute_safely,
    failure_result,
    unexpected_error_result,
)
from tejat.core.tools.cancellation import inner_cancellation
from tejat.core.undo import UndoUnavailable
from tejat.engine.calls.batch_call import BatchCall
from tejat.engine.calls.call_facts import ChangeScope, change_scope
from tejat.engine.calls.permission import AuthorisedCall

if TYPE_CHECKING:
    from tejat.engine.calls.scheduler import Scheduler
    from tejat.engine.calls.undo_recorder import UndoRecorder


async def execute_call(
    scheduler: "Scheduler", call: BatchCall, tool: BaseTool, ready: AuthorisedCall, context: ToolContext
) -> ToolResult:
    """Run an authorised call and record its changes. Raises UndoUnavailable before anything is done."""

    async def run() -> ToolResult:
        context.signal.watch(asyncio.current_task())
        stale = scheduler.permission.find_stale(tool, ready)
        try:
            return failure_result(stale) if stale else await execute_safely(tool, ready.params, context)
        except asyncio.CancelledError as error:
            return unexpected_error_result(inner_cancellation(error, asyncio.current_task()), tool.name)

    reach = change_scope(ready.facts)
    is_recorded = reach is not ChangeScope.NOTHING and not call.undo_problem
    journal = _open_undo_recorder(scheduler) if is_recorded else None
    if journal is None:
        return await run()
    # A command that ran in a copy has shown its changes.
    planned = ready.approved.changes if isinstance(ready.approved, TrialConfirmation) else None
    return await journal.record(
        call.request,
        tool.kind,
        ready.facts.paths,
        run,
        whole_tree=reach is ChangeScope.WHOLE_TREE,
        planned=planned,
        replaced=call.replaced,
    )


def _open_undo_recorder(scheduler: "Scheduler") -> "UndoRecorder | None":
    """Return None if this scheduler records nothing. Raises UndoUnavailable."""
    try:
        return None if scheduler.open_undo is None else scheduler.open_undo()
    except TejatError as error:
        message = lazy("This cannot be undone: could not open the undo log ({why}).", why=error)
        raise UndoUnavailable(message) from error
