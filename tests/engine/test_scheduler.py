"""One call from request to result: found, checked, asked about, performed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from tejat.core.confirm import Answer, Confirmation, EditConfirmation, InfoConfirmation, Outcome
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.schema import Param
from tejat.core.tool import BaseTool, FunctionDeclaration, Kind, ProposingTool, ToolContext, ToolError, ToolResult
from tejat.core.types import FunctionCall, Params
from tejat.engine.scheduler import Scheduler
from tejat.tools.registry import Entry, Source, ToolRegistry


@dataclass(frozen=True, slots=True)
class NoteParams:
    text: Annotated[str, Param("What to write down.")]


class Note(ProposingTool[NoteParams]):
    """Writes down what was approved; some words make a step of it fail."""

    spoken_name = "note"

    def __init__(self, *, asks: bool = True) -> None:
        super().__init__(name="note", display_name="Note", description="", parameters=NoteParams, kind=Kind.EDIT)
        self.asks = asks
        self.written: list[tuple[str, Confirmation | None]] = []

    def check(self, params: NoteParams) -> None:
        if params.text == "forbidden":
            raise ToolFailure("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE)

    def describe(self, params: NoteParams) -> str:
        return params.text

    async def propose(self, params: NoteParams) -> Confirmation | None:
        match params.text:
            case "stale":
                raise ToolFailure("it moved on", ErrorType.STALE_FILE, display="Moved on.")
            case "break the proposal":
                raise ZeroDivisionError("division by zero")
        return proposal(params.text) if self.asks else None

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        if params.text == "break the work":
            raise ZeroDivisionError("division by zero")
        if params.text == "fail the work":
            raise ToolFailure("disk full", ErrorType.NO_SPACE_LEFT)
        self.written.append((params.text, context.approved))
        return ToolResult(f"wrote {params.text}", "written")


class RewritableNote(Note):
    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        assert isinstance(confirmation, EditConfirmation)
        assert confirmation.new_content == params["text"]
        return {"text": new_content} if new_content != "nothing" else {}


def proposal(text: str) -> EditConfirmation:
    return EditConfirmation(
        title="Confirm Note",
        file_name="note",
        file_path="/w/note",
        file_diff=f"+{text}",
        original_content=None,
        new_content=text,
        proposal=text.encode(),
    )


@dataclass
class Person:
    """Answers in turn and remembers what was shown."""

    answers: Sequence[Answer | Exception]
    shown: list[Confirmation] = field(default_factory=list)

    async def ask(self, confirmation: Confirmation) -> Answer:
        answer = self.answers[len(self.shown)]
        self.shown.append(confirmation)
        if isinstance(answer, Exception):
            raise answer
        return answer


YES = Answer(Outcome.PROCEED_ONCE)
CANCELLED = ToolResult(
    "[Operation Cancelled] Reason: User did not allow tool call.",
    "Cancelled: you did not allow this call.",
    ToolError("[Operation Cancelled] Reason: User did not allow tool call.", ErrorType.CANCELLED),
)


def run(tool: BaseTool, args: object, person: Person | None) -> ToolResult:
    registry = ToolRegistry()
    registry.register(tool)
    call = FunctionCall("note", args)  # pyright: ignore[reportArgumentType]
    return asyncio.run(Scheduler(registry, person).run(call))


class TestPreparing:
    def test_an_unknown_name_is_answered_with_the_nearest(self) -> None:
        registry = ToolRegistry()
        registry.register(Note())
        result = asyncio.run(Scheduler(registry, None).run(FunctionCall("notes", {})))
        told = (
            'Tool "notes" not found in registry. Tools must use the exact names that are registered. '
            'Did you mean "note"?'
        )
        assert result == ToolResult(told, told, ToolError(told, ErrorType.TOOL_NOT_REGISTERED))

    def test_wrong_arguments_are_told_before_anyone_is_asked(self) -> None:
        tool, person = Note(), Person([YES])
        assert run(tool, {"text": 5}, person) == ToolResult(
            "Error: Invalid parameters provided. Reason: params/text must be string",
            "params/text must be string",
            ToolError("params/text must be string", ErrorType.INVALID_TOOL_PARAMS),
        )
        assert (person.shown, tool.written) == ([], [])

    def test_arguments_that_make_no_sense_keep_their_kind_of_failure(self) -> None:
        tool, person = Note(), Person([YES])
        assert run(tool, {"text": "forbidden"}, person) == ToolResult(
            "that may not be said",
            "that may not be said",
            ToolError("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE),
        )
        assert (person.shown, tool.written) == ([], [])

    @pytest.mark.parametrize("args", [None, [], "text"])
    def test_arguments_that_are_no_object(self, args: object) -> None:
        result = run(Note(), args, None)
        assert result.error == ToolError("Value of params must be an object", ErrorType.INVALID_TOOL_PARAMS)

    def test_a_tool_that_cannot_be_loaded_is_a_result_too(self) -> None:
        def load() -> BaseTool:
            raise UsageError("not for use")

        registry = ToolRegistry()
        declared = FunctionDeclaration("note", "", {})
        registry.register_entry(Entry(declared, "Note", "Note", Kind.OTHER, Source.BUILT_IN, load))
        result = asyncio.run(Scheduler(registry, None).run(FunctionCall("note", {})))
        assert result.error == ToolError("not for use", ErrorType.EXECUTION_FAILED)


class TestAuthorising:
    @pytest.mark.parametrize("person", [None, Person([])])
    def test_what_needs_no_answer_runs_at_once(self, person: Person | None) -> None:
        tool = Note(asks=False)
        assert run(tool, {"text": "a"}, person) == ToolResult("wrote a", "written")
        assert tool.written == [("a", None)]

    @pytest.mark.parametrize(
        "outcome",
        [
            Outcome.PROCEED_ONCE,
            Outcome.PROCEED_ALWAYS,
            Outcome.PROCEED_ALWAYS_AND_SAVE,
            Outcome.PROCEED_ALWAYS_SERVER,
            Outcome.PROCEED_ALWAYS_TOOL,
        ],
    )
    def test_a_yes_runs_exactly_what_was_shown(self, outcome: Outcome) -> None:
        tool, person = Note(), Person([Answer(outcome)])
        assert run(tool, {"text": "a"}, person) == ToolResult("wrote a", "written")
        assert person.shown == [proposal("a")]
        ((text, approved),) = tool.written
        assert text == "a"
        assert approved is person.shown[0]

    def test_a_no_runs_nothing(self) -> None:
        tool = Note()
        assert run(tool, {"text": "a"}, Person([Answer(Outcome.CANCEL)])) == CANCELLED
        assert tool.written == []

    def test_a_no_with_new_content_is_still_a_no(self) -> None:
        tool = RewritableNote()
        assert run(tool, {"text": "a"}, Person([Answer(Outcome.CANCEL, new_content="b")])) == CANCELLED
        assert tool.written == []

    def test_a_no_may_carry_a_word_for_the_model(self) -> None:
        result = run(Note(), {"text": "a"}, Person([Answer(Outcome.CANCEL, feedback="use the other file")]))
        told = "[Operation Cancelled] Reason: User did not allow tool call. They said: use the other file"
        assert result == ToolResult(told, CANCELLED.return_display, ToolError(told, ErrorType.CANCELLED))

    def test_where_nobody_can_answer_doubt_means_no(self) -> None:
        tool = Note()
        told = 'Tool "note" needs confirmation and nobody is here to give it: Confirm Note'
        assert run(tool, {"text": "a"}, None) == ToolResult(told, told, ToolError(told, ErrorType.POLICY_VIOLATION))
        assert tool.written == []

    def test_a_proposal_that_fails_is_told_with_its_kind(self) -> None:
        tool, person = Note(), Person([YES])
        assert run(tool, {"text": "stale"}, person) == ToolResult(
            "it moved on", "Moved on.", ToolError("it moved on", ErrorType.STALE_FILE)
        )
        assert (person.shown, tool.written) == ([], [])

    def test_a_proposal_that_breaks_runs_nothing(self) -> None:
        tool, person = Note(), Person([YES])
        result = run(tool, {"text": "break the proposal"}, person)
        assert result.error == ToolError("division by zero", ErrorType.EXECUTION_FAILED)
        assert (person.shown, tool.written) == ([], [])

    def test_an_approver_that_breaks_is_not_a_yes(self) -> None:
        tool = Note()
        result = run(tool, {"text": "a"}, Person([RuntimeError("terminal gone")]))
        assert result.error == ToolError("terminal gone", ErrorType.EXECUTION_FAILED)
        assert tool.written == []

    def test_a_wish_to_modify_without_any_content_is_not_a_yes(self) -> None:
        tool = RewritableNote()
        person = Person([Answer(Outcome.MODIFY_WITH_EDITOR), Answer(Outcome.CANCEL)])
        result = run(tool, {"text": "a"}, person)
        assert result.error is not None
        assert tool.written == []


class TestRewriting:
    @pytest.mark.parametrize("outcome", [Outcome.MODIFY_WITH_EDITOR, Outcome.PROCEED_ONCE])
    def test_what_was_rewritten_is_shown_again_and_then_runs(self, outcome: Outcome) -> None:
        tool = RewritableNote()
        person = Person([Answer(outcome, new_content="b"), Answer(outcome, new_content="c"), YES])
        assert run(tool, {"text": "a"}, person) == ToolResult("wrote c", "written")
        assert person.shown == [proposal("a"), proposal("b"), proposal("c")]
        assert tool.written == [("c", proposal("c"))]
        assert tool.written[0][1] is person.shown[2]

    def test_what_was_rewritten_may_still_be_refused(self) -> None:
        tool = RewritableNote()
        person = Person([Answer(Outcome.MODIFY_WITH_EDITOR, new_content="b"), Answer(Outcome.CANCEL)])
        assert run(tool, {"text": "a"}, person) == CANCELLED
        assert tool.written == []

    @pytest.mark.parametrize(
        ("new_content", "error"),
        [
            ("nothing", ToolError("params must have required property 'text'", ErrorType.INVALID_TOOL_PARAMS)),
            ("forbidden", ToolError("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE)),
        ],
    )
    def test_what_was_rewritten_is_checked_again(self, new_content: str, error: ToolError) -> None:
        tool = RewritableNote()
        person = Person([Answer(Outcome.MODIFY_WITH_EDITOR, new_content=new_content), YES])
        assert run(tool, {"text": "a"}, person).error == error
        assert person.shown == [proposal("a")]
        assert tool.written == []

    def test_a_tool_that_cannot_be_rewritten_says_so(self) -> None:
        tool = Note()
        person = Person([Answer(Outcome.MODIFY_WITH_EDITOR, new_content="b"), YES])
        told = 'Tool "note" has nothing that could be rewritten.'
        assert run(tool, {"text": "a"}, person) == ToolResult(told, told, ToolError(told, ErrorType.EXECUTION_FAILED))
        assert tool.written == []


class TestPerforming:
    def test_a_failure_of_the_work_is_told_with_its_kind(self) -> None:
        assert run(Note(), {"text": "fail the work"}, Person([YES])) == ToolResult(
            "disk full", "disk full", ToolError("disk full", ErrorType.NO_SPACE_LEFT)
        )

    def test_a_tool_that_breaks_does_not_end_the_turn(self) -> None:
        registry = ToolRegistry()
        registry.register(Note(asks=False))
        scheduler = Scheduler(registry, None)

        async def two() -> tuple[ToolResult, ToolResult]:
            first = await scheduler.run(FunctionCall("note", {"text": "break the work"}))
            return first, await scheduler.run(FunctionCall("note", {"text": "next"}))

        first, second = asyncio.run(two())
        assert first == ToolResult(
            "Error: Tool call execution failed. Reason: division by zero",
            "division by zero",
            ToolError("division by zero", ErrorType.EXECUTION_FAILED),
        )
        assert second == ToolResult("wrote next", "written")

    def test_no_live_output_is_offered_to_a_tool_that_does_not_declare_it(self) -> None:
        contexts: list[ToolContext] = []

        class Watching(Note):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                contexts.append(context)
                return ToolResult(params.text)

        run(Watching(asks=False), {"text": "a"}, None)
        assert contexts == [ToolContext(approved=None, update_output=None)]


class TestCancelling:
    def test_a_cancellation_while_the_person_thinks_runs_nothing(self) -> None:
        class Silent:
            async def ask(self, confirmation: Confirmation) -> Answer:
                await asyncio.Event().wait()
                raise AssertionError(confirmation)

        tool, registry = Note(), ToolRegistry()
        registry.register(tool)
        self.cancel(Scheduler(registry, Silent()), "a")
        assert tool.written == []

    def test_a_cancellation_during_the_work_goes_on(self) -> None:
        ended: list[str] = []

        class Slow(Note):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.append(params.text)
                raise AssertionError(context)

        registry = ToolRegistry()
        registry.register(Slow(asks=False))
        self.cancel(Scheduler(registry, None), "a")
        assert ended == ["a"]

    def cancel(self, scheduler: Scheduler, text: str) -> None:
        async def main() -> None:
            task = asyncio.create_task(scheduler.run(FunctionCall("note", {"text": text})))
            await asyncio.sleep(0.01)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(main())


def test_a_question_in_words_is_a_question_too() -> None:
    asked = InfoConfirmation("Fetch", "Fetch it?", ("https://example.org",))

    class Asking(Note):
        async def propose(self, params: NoteParams) -> Confirmation | None:
            return asked

    tool, person = Asking(), Person([YES])
    assert run(tool, {"text": "a"}, person) == ToolResult("wrote a", "written")
    assert person.shown == [asked]
    assert tool.written == [("a", asked)]
