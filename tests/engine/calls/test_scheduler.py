"""Calls from request to response: found, checked, asked about, performed, packed, each answered exactly once."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from support.approver import NO, YES, FakeApprover
from support.note_tool import NoteParams, NoteTool, open_scheduler
from tejat.core.agent.hooks import HookedCall
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    Confirmation,
    Outcome,
    Risk,
    Scope,
)
from tejat.core.approval.user_question import UserQuestion
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import FunctionCall, FunctionResponse, Part
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ToolContext, ToolError, ToolResult
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState, Event, OutputUpdated, StateChanged
from tejat.engine.calls.batch import Batch
from tejat.engine.calls.batch_call import CANCELLED_BEFORE_START, CANCELLED_IN_QUEUE, CANCELLED_WHILE_RUNNING
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.calls.truncation import OutputTruncator
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.tools.registry import ToolEntry


def note(text: str, name: str = "note", call_id: str | None = None) -> FunctionCall:
    return FunctionCall(name, {"text": text}, call_id)


def answered(text: str, name: str = "note", call_id: str | None = None) -> tuple[Part, ...]:
    return (FunctionResponse(name, {"output": text}, call_id),)


def run_batch(
    directory: Path, tools: list[BaseTool], calls: list[FunctionCall], approver: FakeApprover | None = None
) -> tuple[Batch, list[Event]]:
    events: list[Event] = []

    async def main() -> Batch:
        with open_scheduler(directory, tools, approver) as scheduler:
            batch = scheduler.batch(calls, events.append)
            await batch.run()
            return batch

    return asyncio.run(main()), events


class TestPreparing:
    def test_an_unknown_name_is_answered_with_the_nearest_and_the_others_run(self, tmp_path: Path) -> None:
        calls = [note("a"), note("b", "notes"), note("c")]
        batch, _ = run_batch(tmp_path, [NoteTool(asks=False)], calls)
        told = (
            'Tool "notes" not found in registry. Tools must use the exact names that are registered. '
            'Did you mean "note"?'
        )
        assert batch.results[1] == ToolResult(told, told, ToolError(told, ErrorType.TOOL_NOT_REGISTERED))
        assert batch.responses == [
            answered("wrote a"),
            (FunctionResponse("notes", {"error": told}),),
            answered("wrote c"),
        ]

    def test_wrong_arguments_are_told_before_anyone_is_asked(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([YES])
        batch, _ = run_batch(tmp_path, [tool], [FunctionCall("note", {"text": 5})], approver)
        assert batch.results == [
            ToolResult(
                "Error: Invalid parameters provided. Reason: params/text must be string",
                "params/text must be string",
                ToolError("params/text must be string", ErrorType.INVALID_TOOL_PARAMS),
            )
        ]
        assert batch.responses == [(FunctionResponse("note", {"error": "params/text must be string"}),)]
        assert (approver.questions, tool.written) == ([], [])

    def test_arguments_that_make_no_sense_keep_their_kind_of_failure(self, tmp_path: Path) -> None:
        batch, _ = run_batch(tmp_path, [NoteTool()], [note("forbidden")], FakeApprover([YES]))
        assert batch.results == [
            ToolResult(
                "that may not be said",
                "that may not be said",
                ToolError("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE),
            )
        ]

    @pytest.mark.parametrize("args", [None, [], "text"])
    def test_arguments_that_are_no_object(self, tmp_path: Path, args: object) -> None:
        call = FunctionCall("note", args)  # pyright: ignore[reportArgumentType]
        batch, _ = run_batch(tmp_path, [NoteTool()], [call])
        assert batch.results[0].error == ToolError("Value of params must be an object", ErrorType.INVALID_TOOL_PARAMS)

    def test_a_tool_that_cannot_be_loaded_is_a_result_too(self, tmp_path: Path) -> None:
        def load() -> BaseTool:
            raise UsageError("not for use")

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [], None) as scheduler:
                declared = FunctionDeclaration("note", "", {})
                scheduler.registry.register_entry(
                    ToolEntry(declared, "Note", "Note", Kind.OTHER, ToolSource.BUILT_IN, load)
                )
                return await scheduler.run(note("a"))

        assert asyncio.run(main()).error == ToolError("not for use", ErrorType.EXECUTION_FAILED)


class Slow(NoteTool):
    """Says when it begins and ends, and lets others go first."""

    def __init__(self, name: str, log: list[str], *, kind: Kind, rounds: Callable[[str], int] = lambda _: 3) -> None:
        super().__init__(name, asks=False, kind=kind)
        self.log = log
        self.rounds = rounds

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        self.log.append(f"+{params.text}")
        for _ in range(self.rounds(params.text)):
            await asyncio.sleep(0)
        self.log.append(f"-{params.text}")
        return ToolResult(params.text)


class Inquirer(NoteTool):
    """Asks the user something while it runs."""

    def __init__(self) -> None:
        super().__init__("ask", asks=False)

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        assert context.ask is not None
        await context.ask(AskUserConfirmation("Question", (UserQuestion(params.text, "Text"),)))
        return ToolResult(params.text)


class TestPositions:
    def test_each_question_says_how_many_there_are(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES, NO, YES])
        calls = [note("a"), note("b"), FunctionCall("nothing", {}), FunctionCall("note", {"text": 5}), note("c")]
        run_batch(tmp_path, [NoteTool()], calls, approver)
        assert [(question.place, question.total) for question in approver.questions] == [(1, 3), (2, 3), (3, 3)]

    def test_each_question_names_its_call(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES, NO, YES])
        calls = [note("a"), note("b"), FunctionCall("nothing", {}), note("c")]
        run_batch(tmp_path, [NoteTool()], calls, approver)
        assert [question.call_index for question in approver.questions] == [0, 1, 3]

    def test_a_question_of_a_running_tool_names_its_call(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES])
        run_batch(tmp_path, [NoteTool(asks=False), Inquirer()], [note("a"), note("b", "ask")], approver)
        assert [(type(asked.confirmation), asked.call_index) for asked in approver.questions] == [
            (AskUserConfirmation, 1)
        ]

    def test_one_call_is_one_question(self, tmp_path: Path) -> None:
        approver = FakeApprover()
        run_batch(tmp_path, [NoteTool()], [note("a")], approver)
        assert [(question.place, question.total) for question in approver.questions] == [(1, 1)]

    def test_an_always_leaves_fewer(self, tmp_path: Path) -> None:
        always = ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)
        approver = FakeApprover([always])
        batch, _ = run_batch(tmp_path, [NoteTool()], [note("a"), note("b"), note("c")], approver)
        assert [(question.place, question.total) for question in approver.questions] == [(1, 3)]
        assert all(result.error is None for result in batch.results)


class TestOrder:
    def test_neighbours_that_read_go_together_and_the_rest_alone(self, tmp_path: Path) -> None:
        log: list[str] = []
        tools: list[BaseTool] = [Slow("look", log, kind=Kind.READ), Slow("edit", log, kind=Kind.EDIT)]
        calls = [note("1", "look"), note("2", "look"), note("3", "edit"), note("4", "edit"), note("5", "look")]
        run_batch(tmp_path, tools, calls)
        assert log == ["+1", "+2", "-1", "-2", "+3", "-3", "+4", "-4", "+5", "-5"]

    def test_answers_keep_the_order_asked_whoever_is_first(self, tmp_path: Path) -> None:
        log: list[str] = []
        tools: list[BaseTool] = [Slow("look", log, kind=Kind.READ, rounds=lambda text: 9 - int(text))]
        batch, _ = run_batch(tmp_path, tools, [note(str(n), "look", "same id") for n in range(8)])
        assert log[-1] == "-0"
        assert batch.responses == [answered(str(n), "look", "same id") for n in range(8)]

    def test_no_more_than_two_dozen_at_once(self, tmp_path: Path) -> None:
        log: list[str] = []
        calls = [note(str(n), "look") for n in range(100)]
        batch, _ = run_batch(tmp_path, [Slow("look", log, kind=Kind.READ)], calls)
        running = most = 0
        for entry in log:
            running += 1 if entry.startswith("+") else -1
            most = max(most, running)
        assert (most, len(batch.responses)) == (24, 100)

    def test_a_second_batch_waits_for_the_first(self, tmp_path: Path) -> None:
        log: list[str] = []

        async def main() -> None:
            with open_scheduler(tmp_path, [Slow("look", log, kind=Kind.READ)], None) as scheduler:
                batches = [scheduler.batch([note("1", "look")]), scheduler.batch([note("2", "look")])]
                await asyncio.gather(*(batch.run() for batch in batches))

        asyncio.run(main())
        assert log == ["+1", "-1", "+2", "-2"]

    def test_no_calls_no_responses(self, tmp_path: Path) -> None:
        batch, events = run_batch(tmp_path, [], [])
        assert (batch.responses, events) == ([], [])


class TestPerforming:
    def test_a_failure_of_the_work_is_told_with_its_kind(self, tmp_path: Path) -> None:
        batch, _ = run_batch(tmp_path, [NoteTool()], [note("fail the work")], FakeApprover([YES]))
        assert batch.results == [ToolResult("disk full", "disk full", ToolError("disk full", ErrorType.NO_SPACE_LEFT))]

    def test_a_tool_that_breaks_does_not_end_the_turn(self, tmp_path: Path) -> None:
        batch, _ = run_batch(tmp_path, [NoteTool(asks=False)], [note("break the work"), note("next")])
        assert batch.results == [
            ToolResult(
                "Error: Tool call execution failed. Reason: division by zero",
                "division by zero",
                ToolError("division by zero", ErrorType.EXECUTION_FAILED),
            ),
            ToolResult("wrote next", "written"),
        ]

    @pytest.mark.parametrize("declares", [True, False])
    def test_live_output_is_told_of_tools_that_declare_it(self, tmp_path: Path, declares: bool) -> None:
        class Talking(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                context.update_output("so far")
                return ToolResult("done")

        tool = Talking(asks=False)
        tool.can_update_output = declares
        _, events = run_batch(tmp_path, [tool], [note("a")])
        told = [event for event in events if isinstance(event, OutputUpdated)]
        assert told == ([OutputUpdated(0, note("a"), "so far")] if declares else [])

    def test_a_tool_knows_at_once_that_it_is_cancelled(self, tmp_path: Path) -> None:
        contexts: list[ToolContext] = []

        class Waiting(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                contexts.append(context)
                running.set()
                await asyncio.sleep(60)
                return ToolResult("done")

        running = asyncio.Event()

        async def main() -> None:
            with open_scheduler(tmp_path, [Waiting(asks=False)], None) as scheduler:
                task = asyncio.create_task(scheduler.run(note("a")))
                await running.wait()
                assert not contexts[0].is_cancelled
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

        asyncio.run(main())
        assert contexts[0].is_cancelled

    def test_live_output_is_told_without_secrets(self, tmp_path: Path) -> None:
        class Talking(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                context.update_output("so far: a-secret-of-some-length")
                return ToolResult("done")

        tool = Talking(asks=False)
        tool.can_update_output = True
        events: list[Event] = []

        async def main() -> None:
            with open_scheduler(tmp_path, [tool], None) as scheduler:
                scheduler.mask = SecretMask({"NAME": "a-secret-of-some-length"})
                await scheduler.run(note("a"), events.append)

        asyncio.run(main())
        told = [event for event in events if isinstance(event, OutputUpdated)]
        assert told == [OutputUpdated(0, note("a"), "so far: [the secret NAME]")]

    def test_what_moved_on_is_proposed_anew(self, tmp_path: Path) -> None:
        class Moving(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                self.written.append((params.text, context.approved))
                if len(self.written) < 3:
                    raise ToolFailure("it moved on", ErrorType.STALE_FILE)
                return ToolResult("done")

        tool, approver = Moving(), FakeApprover([YES] * 9)
        batch, _ = run_batch(tmp_path, [tool], [note("a")], approver)
        assert batch.results == [ToolResult("done")]
        notes = [question.note for question in approver.questions]
        assert [bool(note) for note in notes] == [False, True, True]
        assert [approved for _, approved in tool.written] == approver.confirmations

    def test_what_moves_on_for_ever_is_refused(self, tmp_path: Path) -> None:
        class Moving(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                raise ToolFailure("it moved on", ErrorType.STALE_FILE)

        approver = FakeApprover([YES] * 9)
        batch, _ = run_batch(tmp_path, [Moving()], [note("a")], approver)
        assert batch.results[0].error == ToolError("it moved on", ErrorType.STALE_FILE)
        assert len(approver.questions) == 3

    def test_what_a_rule_allowed_is_not_proposed_when_it_moved_on(self, tmp_path: Path) -> None:
        class Moving(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                raise ToolFailure("it moved on", ErrorType.STALE_FILE)

        batch, _ = run_batch(tmp_path, [Moving(asks=False)], [note("a")], FakeApprover([]))
        assert batch.results[0].error == ToolError("it moved on", ErrorType.STALE_FILE)

    def test_without_a_journal_and_without_a_person_nothing_runs(self, tmp_path: Path) -> None:
        def open_journal() -> UndoRecorder:
            raise UsageError("the directory is gone")

        tool = NoteTool(asks=False)

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [tool], None) as scheduler:
                scheduler.open_undo = open_journal
                return await scheduler.run(note("a"))

        result = asyncio.run(main())
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert "This cannot be undone: could not open the undo log (the directory is gone)." in result.error.message
        assert tool.written == []

    @pytest.mark.parametrize(("answer", "written"), [(YES, 1), (NO, 0)])
    def test_without_a_journal_a_person_decides(self, tmp_path: Path, answer: ApprovalReply, written: int) -> None:
        def open_journal() -> UndoRecorder:
            raise UsageError("the directory is gone")

        tool, approver = NoteTool(asks=False), FakeApprover([answer])

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [tool], approver) as scheduler:
                scheduler.open_undo = open_journal
                return await scheduler.run(note("a"))

        assert (asyncio.run(main()).error is None) == bool(written)
        (question,) = approver.questions
        assert question.risks[0] is Risk.NO_UNDO
        assert question.reason.startswith("This cannot be undone: could not open the undo log (the directory is gone).")
        assert question.always is None
        assert len(tool.written) == written

    @pytest.mark.parametrize("limits_own_output", [True, False])
    def test_a_long_result_is_cut_unless_the_tool_sees_to_it(self, tmp_path: Path, limits_own_output: bool) -> None:
        class Long(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                return ToolResult("x" * 500)

        Long.limits_own_output = limits_own_output

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [Long(asks=False)], None) as scheduler:
                scheduler.truncator = OutputTruncator(str(tmp_path / "kept"), limit=100)
                return await scheduler.run(note("a"))

        assert (asyncio.run(main()).llm_content == "x" * 500) == limits_own_output
        assert (tmp_path / "kept").exists() != limits_own_output


class TestEvents:
    def test_every_state_is_told_once_and_the_end_comes_last(self, tmp_path: Path) -> None:
        call = note("a")
        _, events = run_batch(tmp_path, [NoteTool()], [call], FakeApprover([YES]))
        *states, finished = events
        assert states == [
            StateChanged(0, call, state)
            for state in (
                CallState.VALIDATING,
                CallState.AWAITING_APPROVAL,
                CallState.SCHEDULED,
                CallState.EXECUTING,
                CallState.SUCCESS,
            )
        ]
        assert isinstance(finished, CallFinished)
        assert finished == CallFinished(
            0,
            call,
            CallState.SUCCESS,
            ToolResult("wrote a", "written"),
            answered("wrote a"),
            finished.seconds,
            BY_USER,
        )

    def test_a_no_of_the_user_is_told_apart_from_a_cancellation(self, tmp_path: Path) -> None:
        _, events = run_batch(tmp_path, [NoteTool()], [note("a"), note("b")], FakeApprover([NO, YES]))
        assert [event.was_rejected for event in events if isinstance(event, CallFinished)] == [True, False]

    @pytest.mark.parametrize(("reply", "ended"), [(NO, False), (ApprovalReply(Outcome.STOP), True)])
    def test_a_no_is_told_apart_from_a_stop(self, tmp_path: Path, reply: ApprovalReply, ended: bool) -> None:
        _, events = run_batch(tmp_path, [NoteTool()], [note("a")], FakeApprover([reply]))
        (finished,) = (event for event in events if isinstance(event, CallFinished))
        assert (finished.was_rejected, finished.ended_turn) == (True, ended)

    def test_a_watcher_that_breaks_hears_no_more(self, tmp_path: Path) -> None:
        heard: list[Event] = []

        def watch(event: Event) -> None:
            heard.append(event)
            raise ValueError("cannot draw this")

        async def main() -> Batch:
            with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
                batch = scheduler.batch([note("a")], watch)
                await batch.run()
                return batch

        batch = asyncio.run(main())
        assert batch.responses == [answered("wrote a")]
        assert len(heard) == 1
        assert isinstance(batch.sink_error, ValueError)


class TestCancelling:
    def test_while_the_user_thinks(self, tmp_path: Path) -> None:
        class Silent:
            async def ask(self, question: ApprovalRequest) -> ApprovalReply:
                await asyncio.Event().wait()
                raise AssertionError(question)

        tool = NoteTool()
        batch = self.cancel(tmp_path, [tool], [note("a"), note("b")], Silent())
        assert batch.responses == [(FunctionResponse("note", {"error": CANCELLED_BEFORE_START}),)] * 2
        assert tool.written == []

    def test_during_the_work_what_was_done_before_stands(self, tmp_path: Path) -> None:
        tool = NoteTool(asks=False)
        batch = self.cancel(tmp_path, [tool], [note("a"), note("wait"), note("c")], None)
        assert batch.responses == [
            answered("wrote a"),
            (FunctionResponse("note", {"error": CANCELLED_WHILE_RUNNING}),),
            (FunctionResponse("note", {"error": CANCELLED_BEFORE_START}),),
        ]
        assert tool.written == [("a", None)]

    def test_among_neighbours(self, tmp_path: Path) -> None:
        tool = NoteTool("look", asks=False, kind=Kind.READ)
        calls = [note(text, "look") for text in ("a", "wait", "c", "wait", "e")]
        batch = self.cancel(tmp_path, [tool], calls, None)
        cut = (FunctionResponse("look", {"error": CANCELLED_WHILE_RUNNING}),)
        done = [answered(f"wrote {text}", "look") for text in "ace"]
        assert batch.responses == [done[0], cut, done[1], cut, done[2]]

    def test_what_the_tool_had_is_kept(self, tmp_path: Path) -> None:
        class Partial(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                try:
                    await asyncio.Event().wait()
                finally:
                    context.keep_partial(ToolResult("half of it", "half"))
                raise AssertionError(params)

        batch = self.cancel(tmp_path, [Partial(asks=False)], [note("a")], None)
        assert batch.responses == [
            (FunctionResponse("note", {"error": CANCELLED_WHILE_RUNNING, "output": "half of it"}),)
        ]

    def test_in_the_queue(self, tmp_path: Path) -> None:
        events: list[Event] = []

        async def main() -> Batch:
            with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
                first, second = scheduler.batch([note("wait")]), scheduler.batch([note("b"), note("c")], events.append)
                tasks = [asyncio.create_task(batch.run()) for batch in (first, second)]
                await asyncio.sleep(0.01)
                for task in reversed(tasks):
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                return second

        batch = asyncio.run(main())
        assert batch.responses == [(FunctionResponse("note", {"error": CANCELLED_IN_QUEUE}),)] * 2
        assert_each_is_reported_once(events, batch)

    def test_a_run_of_one_call_lets_it_through(self, tmp_path: Path) -> None:
        async def main() -> None:
            with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
                await asyncio.wait_for(scheduler.run(note("wait")), 0.01)

        with pytest.raises(TimeoutError):
            asyncio.run(main())

    def cancel(self, directory: Path, tools: list[NoteTool], calls: list[FunctionCall], approver: object) -> Batch:
        events: list[Event] = []

        async def main() -> Batch:
            with open_scheduler(directory, tools, approver) as scheduler:  # pyright: ignore[reportArgumentType]
                batch = scheduler.batch(calls, events.append)
                task = asyncio.create_task(batch.run())
                await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return batch

        batch = asyncio.run(main())
        assert_each_is_reported_once(events, batch)
        return batch


def assert_each_is_reported_once(events: list[Event], batch: Batch) -> None:
    """Whoever keeps the responses by the events alone has them all."""
    finished = sorted((event for event in events if isinstance(event, CallFinished)), key=lambda event: event.index)
    assert [event.index for event in finished] == list(range(len(batch.responses)))
    assert [event.response for event in finished] == batch.responses
    assert [event.result for event in finished] == batch.results


def test_a_scheduler_can_be_made_outside_of_a_loop(tmp_path: Path) -> None:
    with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
        assert isinstance(scheduler, Scheduler)
        assert asyncio.run(scheduler.run(note("a"))) == ToolResult("wrote a", "written")
        assert asyncio.run(scheduler.run(note("b"))) == ToolResult("wrote b", "written")


def test_a_question_belongs_to_one_call_at_a_time(tmp_path: Path) -> None:
    asked: list[str] = []

    class Thoughtful:
        async def ask(self, question: ApprovalRequest) -> ApprovalReply:
            asked.append("+")
            await asyncio.sleep(0)
            asked.append("-")
            return YES

    class Fetch(NoteTool):
        async def propose(self, params: NoteParams) -> Confirmation | None:
            return await super().propose(params)

    async def main() -> None:
        with open_scheduler(tmp_path, [Fetch("fetch", kind=Kind.FETCH)], Thoughtful()) as scheduler:
            await scheduler.batch([note(str(n), "fetch") for n in range(4)]).run()

    asyncio.run(main())
    assert asked == ["+", "-"] * 4


class Hooks:
    """Hooks that find what they are told to find, and keep what they are told."""

    def __init__(self, found: Callable[[FunctionCall], HookedCall]) -> None:
        self.found = found
        self.log: list[str] = []
        self.is_done = asyncio.Event()
        self.leave: Callable[[ToolResult], ToolResult] = lambda result: result

    async def before_tool(self, call: FunctionCall, tool: BaseTool) -> HookedCall:
        self.log.append(f"before {tool.name} {call.args['text']}")
        return self.found(call)

    def notify_question(self, question: ApprovalRequest) -> None:
        self.log.append(f"asked {question.tool_name}")

    def notify(self, message: str) -> None:
        self.log.append(message)

    async def after_tool(self, call: FunctionCall, tool: BaseTool, check: HookedCall, result: ToolResult) -> ToolResult:
        self.log.append(f"after {tool.name} {call.args['text']}")
        self.is_done.set()
        await asyncio.sleep(0)
        return self.leave(result)


def unchanged(call: FunctionCall) -> HookedCall:
    return HookedCall(call.args)


class TestHooks:
    def run(
        self,
        directory: Path,
        tool: BaseTool,
        hooks: Hooks,
        *calls: FunctionCall,
        approver: FakeApprover | None = None,
    ) -> tuple[Batch, list[Event]]:
        events: list[Event] = []

        async def main() -> Batch:
            with open_scheduler(directory, [tool], approver) as scheduler:
                scheduler.hooks = hooks
                batch = scheduler.batch(calls, events.append)
                await batch.run()
                return batch

        return asyncio.run(main()), events

    def test_before_the_question_and_after_the_work(self, tmp_path: Path) -> None:
        hooks = Hooks(unchanged)
        batch, _ = self.run(tmp_path, NoteTool(), hooks, note("a"), approver=FakeApprover([YES]))
        assert batch.responses == [answered("wrote a")]
        assert hooks.log == ["before note a", "asked note", "after note a"]

    def test_what_they_rewrite_runs_and_is_told(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([YES])
        hooks = Hooks(lambda _: HookedCall({"text": "b"}, is_rewritten=True))
        batch, events = self.run(tmp_path, tool, hooks, note("a"), approver=approver)
        assert batch.responses == [answered("wrote b")]
        assert [confirmation for _, confirmation in tool.written] == approver.confirmations
        assert [event.call.args for event in events if isinstance(event, CallFinished)] == [{"text": "b"}]
        assert hooks.log == ["before note a", "asked note", "after note b"]

    def test_an_objection_asks_whatever_the_tool_says(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES])
        hooks = Hooks(lambda call: HookedCall(call.args, objection="Think twice."))
        batch, _ = self.run(tmp_path, NoteTool(asks=False), hooks, note("a"), approver=approver)
        assert batch.responses == [answered("wrote a")]
        assert [question.reason for question in approver.questions] == ["Think twice."]

    def test_a_refusal_is_what_the_model_hears(self, tmp_path: Path) -> None:
        def refuse(_: FunctionCall) -> HookedCall:
            raise ToolFailure("Tool execution blocked: no", ErrorType.POLICY_VIOLATION)

        hooks = Hooks(refuse)
        batch, _ = self.run(tmp_path, NoteTool(asks=False), hooks, note("a"))
        assert batch.responses == [(FunctionResponse("note", {"error": "Tool execution blocked: no"}),)]
        assert hooks.log == ["before note a"]

    def test_broken_ones_let_nothing_run_and_undo_nothing(self, tmp_path: Path) -> None:
        def break_down(_: object) -> HookedCall:
            raise ZeroDivisionError("division by zero")

        tool, hooks = NoteTool(asks=False), Hooks(break_down)
        batch, _ = self.run(tmp_path, tool, hooks, note("a"))
        assert batch.results[0].error == ToolError("division by zero", ErrorType.EXECUTION_FAILED)
        assert tool.written == []
        late = Hooks(unchanged)
        late.leave = lambda _: ToolResult(str(1 // 0))
        batch, _ = self.run(tmp_path, tool, late, note("a"))
        assert batch.responses == [answered("wrote a")]
        assert late.log[-1] == "Internal error: ZeroDivisionError."

    def test_they_are_asked_once_about_a_file_that_moves_on(self, tmp_path: Path) -> None:
        class MovingOn(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                if not self.written:
                    self.written.append(("moved", context.approved))
                    raise ToolFailure("it moved on", ErrorType.STALE_FILE)
                return await super().run(params, context)

        hooks = Hooks(unchanged)
        batch, _ = self.run(tmp_path, MovingOn(), hooks, note("a"), approver=FakeApprover([YES, YES]))
        assert batch.responses == [answered("wrote a")]
        assert hooks.log == ["before note a", "asked note", "asked note", "after note a"]

    @pytest.mark.parametrize("kind", [Kind.EDIT, Kind.READ])
    def test_a_stop_leaves_the_rest_undone(self, tmp_path: Path, kind: Kind) -> None:
        """Also what was already allowed, where calls are prepared together."""

        def stop_at_b(call: FunctionCall) -> HookedCall:
            if call.args["text"] == "b":
                raise ToolFailure("stopped", ErrorType.STOP_EXECUTION)
            return HookedCall(call.args)

        tool = NoteTool(asks=False, kind=kind)
        batch, _ = self.run(tmp_path, tool, Hooks(stop_at_b), *map(note, "abc"))
        errors = [None if result.error is None else result.error.type for result in batch.results]
        first = None if kind is Kind.EDIT else ErrorType.CANCELLED
        assert errors == [first, ErrorType.STOP_EXECUTION, ErrorType.CANCELLED]
        assert [text for text, _ in tool.written] == ["a"][: int(kind is Kind.EDIT)]
        assert batch.fatal_error is not None
        assert batch.fatal_error.message == "stopped"

    def test_what_was_done_is_told_even_if_they_are_cancelled(self, tmp_path: Path) -> None:
        async def main() -> Batch:
            with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
                hooks = Hooks(unchanged)
                hooks.leave = lambda _: ToolResult("never")
                scheduler.hooks = hooks
                batch = scheduler.batch([note("a")])
                task = asyncio.create_task(batch.run())
                await hooks.is_done.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return batch

        assert asyncio.run(main()).responses == [answered("wrote a")]
