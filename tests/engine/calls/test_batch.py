"""The order of questions and events, and exceptions of the caller's own functions."""

import asyncio
from pathlib import Path

import pytest

from support.note_tool import NoteParams, NoteTool, open_scheduler
from tejat.core.agent.hooks import HookedCall
from tejat.core.approval.approver import ApproverLike, as_approver
from tejat.core.approval.confirmation import ApprovalRequest, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import UserQuestion, UserUnavailable
from tejat.core.errors import ApproverFailure, CallbackFailure, ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.base import BaseTool, ToolContext, ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, Event, StateChanged
from tejat.engine.calls.batch import Batch
from tejat.engine.calls.batch_call import CANCELLED_BY_FAILURE, CANCELLED_WHILE_RUNNING


def note(text: str, name: str = "note") -> FunctionCall:
    return FunctionCall(name, {"text": text})


class Recorder:
    """Writes down questions and ends of calls, in the order in which they come."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.events: list[Event] = []

    def ask(self, question: ApprovalRequest) -> bool:
        self.log.append(f"ask {question.call_index}")
        return True

    def watch(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, CallFinished):
            self.log.append(f"end {event.index}")


def run_batch(
    directory: Path, tools: list[BaseTool], calls: list[FunctionCall], recorder: Recorder, approver: ApproverLike
) -> Batch:
    async def main() -> Batch:
        with open_scheduler(directory, tools, as_approver(approver)) as scheduler:
            batch = scheduler.batch(calls, recorder.watch)
            await batch.run()
            return batch

    return asyncio.run(main())


class TestOrder:
    @pytest.mark.parametrize("kind", [Kind.EDIT, Kind.READ, Kind.FETCH])
    def test_a_question_comes_after_the_end_of_the_call_before(self, tmp_path: Path, kind: Kind) -> None:
        recorder = Recorder()
        batch = run_batch(tmp_path, [NoteTool(kind=kind)], [note("a"), note("b"), note("c")], recorder, recorder)
        assert recorder.log == ["ask 0", "end 0", "ask 1", "end 1", "ask 2", "end 2"]
        assert [result.llm_content for result in batch.results] == ["wrote a", "wrote b", "wrote c"]

    def test_calls_without_a_question_run_together_before_the_next_question(self, tmp_path: Path) -> None:
        class Meeting(NoteTool):
            """Ends only when another call runs at the same time."""

            def __init__(self) -> None:
                super().__init__("meet", asks=False, kind=Kind.READ)
                self.barrier = asyncio.Barrier(2)

            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                async with asyncio.timeout(60), self.barrier:
                    return ToolResult(params.text)

        recorder = Recorder()
        calls = [note("a", "meet"), note("b", "meet"), note("c"), note("d", "meet"), note("e", "meet")]
        batch = run_batch(tmp_path, [Meeting(), NoteTool(kind=Kind.READ)], calls, recorder, recorder)
        assert sorted(recorder.log[:2]) == ["end 0", "end 1"]
        assert recorder.log[2] == "ask 2"
        assert sorted(recorder.log[3:]) == ["end 2", "end 3", "end 4"]
        assert [result.error for result in batch.results] == [None] * 5

    def test_the_state_of_the_question_is_reported_right_before_it(self, tmp_path: Path) -> None:
        recorder, states = Recorder(), list[CallState]()

        def ask(_: ApprovalRequest) -> bool:
            assert isinstance(recorder.events[-1], StateChanged)
            states.append(recorder.events[-1].state)
            return False

        run_batch(tmp_path, [NoteTool(kind=Kind.READ)], [note("a"), note("b")], recorder, ask)
        assert states == [CallState.AWAITING_APPROVAL] * 2

    def test_the_last_events_are_kept_in_order(self, tmp_path: Path) -> None:
        recorder = Recorder()
        batch = run_batch(tmp_path, [NoteTool()], [note("a"), note("b", "nothing")], recorder, recorder)
        assert [(each.index, each.state) for each in batch.finished] == [(0, CallState.SUCCESS), (1, CallState.ERROR)]
        assert batch.finished == [event for event in recorder.events if isinstance(event, CallFinished)]
        assert [each.response for each in batch.finished] == batch.responses


class Broken(Exception):
    """What an approver of the tests raises."""


class Curious(NoteTool):
    """Asks the user while it runs."""

    def __init__(self, *, handles_errors: bool) -> None:
        super().__init__("ask", asks=False)
        self._handles_errors = handles_errors

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        assert context.ask is not None
        assert context.keep_partial is not None
        context.keep_partial(ToolResult("half of it"))
        try:
            await context.ask(AskUserConfirmation("Question", (UserQuestion(params.text, "Text"),)))
        except CallbackFailure:
            if not self._handles_errors:
                raise
        return ToolResult("went on")


async def failing(directory: Path, tools: list[BaseTool], calls: list[FunctionCall], fails_at: int) -> Batch:
    """Run calls with an approver that raises at one of the questions, and return the batch."""
    asked = list[ApprovalRequest]()

    def ask(question: ApprovalRequest) -> bool:
        asked.append(question)
        if len(asked) == fails_at:
            raise Broken("no")
        return True

    with open_scheduler(directory, tools, as_approver(ask)) as scheduler:
        batch = scheduler.batch(calls)
        with pytest.raises(ApproverFailure) as raised:
            await batch.run()
        assert isinstance(raised.value.error, Broken)
        assert len(asked) == fails_at
        return batch


def told(batch: Batch) -> list[object]:
    return [part.response for (part,) in batch.responses if isinstance(part, FunctionResponse)]


STOPPED = {"error": CANCELLED_BY_FAILURE}


class TestFailures:
    @pytest.mark.parametrize("kind", [Kind.EDIT, Kind.READ])
    def test_an_approver_that_raises_ends_the_batch_with_all_responses(self, tmp_path: Path, kind: Kind) -> None:
        tool = NoteTool(kind=kind)
        batch = asyncio.run(failing(tmp_path, [tool], [note("a"), note("b"), note("c")], 2))
        assert told(batch) == [{"output": "wrote a"}, STOPPED, STOPPED]
        assert [text for text, _ in tool.written] == ["a"]
        assert [each.state for each in batch.finished] == [CallState.SUCCESS, CallState.CANCELLED, CallState.CANCELLED]

    def test_a_tool_that_asks_is_cancelled_with_what_it_has(self, tmp_path: Path) -> None:
        calls = [note("a", "ask"), note("b")]
        batch = asyncio.run(failing(tmp_path, [Curious(handles_errors=False), NoteTool()], calls, 1))
        assert told(batch) == [{**STOPPED, "output": "half of it"}, STOPPED]

    def test_a_tool_that_handles_it_keeps_its_result_and_the_caller_is_still_told(self, tmp_path: Path) -> None:
        calls = [note("a", "ask"), note("b")]
        batch = asyncio.run(failing(tmp_path, [Curious(handles_errors=True), NoteTool()], calls, 1))
        assert told(batch) == [{"output": "went on"}, STOPPED]

    def test_the_scheduler_goes_on_afterwards(self, tmp_path: Path) -> None:
        answers = iter([Broken("no"), True])

        def ask(_: ApprovalRequest) -> bool:
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def main() -> ToolResult:
            with open_scheduler(tmp_path, [NoteTool()], as_approver(ask)) as scheduler:
                with pytest.raises(ApproverFailure):
                    await scheduler.run(note("a"))
                return await scheduler.run(note("b"))

        assert asyncio.run(main()).llm_content == "wrote b"

    def test_a_user_that_cannot_be_asked_is_a_result(self, tmp_path: Path) -> None:
        def ask(_: ApprovalRequest) -> Outcome:
            raise UserUnavailable

        recorder = Recorder()
        batch = run_batch(tmp_path, [NoteTool()], [note("a"), note("b")], recorder, ask)
        assert [result.error for result in batch.results] == [
            ToolError("Nobody can be asked.", ErrorType.EXECUTION_FAILED)
        ] * 2

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_so_does_a_hook_of_the_caller(self, tmp_path: Path, when: str) -> None:
        error = Broken("in a hook")

        class Hooks:
            async def before_tool(self, call: FunctionCall, tool: BaseTool) -> HookedCall:
                if when == "before":
                    raise CallbackFailure(error)
                return HookedCall(call.args)

            async def after_tool(
                self, call: FunctionCall, tool: BaseTool, check: HookedCall, result: ToolResult
            ) -> ToolResult:
                raise CallbackFailure(error)

            def notify_question(self, question: ApprovalRequest) -> None: ...

            def notify(self, message: str) -> None: ...

        async def main() -> Batch:
            with open_scheduler(tmp_path, [NoteTool(asks=False)], None) as scheduler:
                scheduler.hooks = Hooks()
                batch = scheduler.batch([note("a"), note("b")])
                with pytest.raises(CallbackFailure) as raised:
                    await batch.run()
                assert raised.value.error is error
                return batch

        first = STOPPED if when == "before" else {"output": "wrote a"}
        assert told(asyncio.run(main())) == [first, STOPPED]


def test_a_partial_result_may_be_text(tmp_path: Path) -> None:
    class Partial(NoteTool):
        async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
            assert context.keep_partial is not None
            context.keep_partial("so far")  # pyright: ignore[reportArgumentType]
            has_started.set()
            return await super().run(params, context)

    has_started = asyncio.Event()

    async def main() -> Batch:
        with open_scheduler(tmp_path, [Partial(asks=False)], None) as scheduler:
            batch = scheduler.batch([note("wait")])
            running = asyncio.create_task(batch.run())
            await has_started.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return batch

    assert told(asyncio.run(main())) == [{"error": CANCELLED_WHILE_RUNNING, "output": "so far"}]


@pytest.mark.parametrize("step", ["proposal", "work"])
def test_a_tool_that_is_cancelled_by_nobody_has_failed(tmp_path: Path, step: str) -> None:
    recorder = Recorder()
    batch = run_batch(tmp_path, [NoteTool()], [note(f"cancel the {step}"), note("b")], recorder, recorder)
    first, second = batch.results
    assert first.error is not None
    assert (first.error.type, first.error.message) == (ErrorType.EXECUTION_FAILED, "it was cancelled from within")
    assert second.error is None
