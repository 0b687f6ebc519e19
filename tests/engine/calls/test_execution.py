"""Execution of authorised calls: what is recorded for undo, what is refused, and why calls ended early."""

import asyncio
from pathlib import Path

import pytest

from support.note_tool import NoteParams, NoteTool, open_scheduler
from tejat.core.approval.approver import as_approver
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.errors import UsageError
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.core.tools.cancellation import CancelReason
from tejat.core.undo import UndoUnavailable
from tejat.engine.calls.batch_call import CANCELLED_BY_TIMEOUT, CANCELLED_WHILE_RUNNING, BatchCall
from tejat.engine.calls.execution import execute_call
from tejat.engine.calls.scheduler import Scheduler

CALL = FunctionCall("note", {"text": "a"})


async def execute(scheduler: Scheduler, *, undo_problem: str = "") -> ToolResult:
    call, tool = BatchCall(0, CALL), scheduler.registry["note"]
    call.undo_problem = undo_problem
    ready = await scheduler.permission.authorise(tool, CALL.args)
    return await execute_call(scheduler, call, tool, ready, ToolContext())


def fail_to_open() -> None:
    raise UsageError("the disk is full")


class TestUndo:
    def test_a_call_that_changes_something_needs_the_undo_log(self, tmp_path: Path) -> None:
        tool = NoteTool(asks=False)
        with open_scheduler(tmp_path, [tool], None) as scheduler:
            scheduler.open_undo = fail_to_open  # pyright: ignore[reportAttributeAccessIssue]
            with pytest.raises(UndoUnavailable, match="could not open the undo log \\(the disk is full\\)"):
                asyncio.run(execute(scheduler))
        assert tool.written == []

    def test_unless_it_was_accepted_that_it_cannot_be_undone(self, tmp_path: Path) -> None:
        with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
            scheduler.open_undo = fail_to_open  # pyright: ignore[reportAttributeAccessIssue]
            assert asyncio.run(execute(scheduler, undo_problem="no room")) == ToolResult("wrote a", "written")

    def test_a_call_that_reads_does_not(self, tmp_path: Path) -> None:
        with open_scheduler(tmp_path, [NoteTool(asks=False, kind=Kind.READ)], None) as scheduler:
            scheduler.open_undo = fail_to_open  # pyright: ignore[reportAttributeAccessIssue]
            assert asyncio.run(execute(scheduler)) == ToolResult("wrote a", "written")


class TestReason:
    @pytest.mark.parametrize(
        ("reason", "message"),
        [(CancelReason.CANCELLED, CANCELLED_WHILE_RUNNING), (CancelReason.TIME_LIMIT, CANCELLED_BY_TIMEOUT)],
    )
    def test_the_tool_and_the_result_have_the_same_one(
        self, tmp_path: Path, reason: CancelReason, message: str
    ) -> None:
        seen: list[CancelReason | None] = []

        class Waiting(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                seen.append(context.cancel_reason)
                try:
                    started.set()
                    return await super().run(params, context)
                finally:
                    seen.append(context.cancel_reason)

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [Waiting(asks=False)], None) as scheduler:
                batch = scheduler.batch([FunctionCall("note", {"text": "wait"})], why_cancelled=lambda: reason)
                running = asyncio.create_task(batch.run())
                await started.wait()
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
                return batch.results[0]

        started = asyncio.Event()
        assert asyncio.run(main()).llm_content == message
        assert seen == [None, reason]


def test_a_call_runs_with_the_arguments_that_were_judged(tmp_path: Path) -> None:
    given = {"text": "a"}

    def approve(_: ApprovalRequest) -> bool:
        given["text"] = "b"
        return True

    with open_scheduler(tmp_path, [NoteTool()], as_approver(approve)) as scheduler:
        result = asyncio.run(scheduler.run(FunctionCall("note", given)))
    assert result == ToolResult("wrote a", "written")
