"""The contract, held by two small real tools: one with a schema of its own, one with typed parameters."""

import asyncio
import pickle
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated

import pytest

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import JsonObject, Params, Text
from tejat.core.tools.base import (
    BaseTool,
    ProposingTool,
    ToolContext,
    ToolError,
    ToolLocation,
    ToolResult,
    TypedTool,
    execute_safely,
    failure_result,
    invalid_params_result,
    unexpected_error_result,
    validate_and_execute,
)
from tejat.core.tools.display import FileDiff
from tejat.core.tools.schema import Param

SCHEMA: JsonObject = {"type": "object", "properties": {"word": {"type": "string"}, "odd": 5}, "required": ["word"]}


class Echo(BaseTool):
    """Says the word it is given; some words make it fail."""

    def __init__(self, *, kind: Kind = Kind.OTHER, can_update_output: bool = False) -> None:
        super().__init__(
            name="echo",
            description="Says it again.",
            parameter_schema=SCHEMA,
            kind=kind,
            can_update_output=can_update_output,
        )
        self.contexts: list[ToolContext] = []

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        self.contexts.append(context)
        match params["word"]:
            case "fail":
                raise ToolFailure("it failed", ErrorType.FILE_NOT_FOUND, display="Failed.")
            case "break":
                raise ZeroDivisionError("division by zero")
            case "break silently":
                raise KeyError
            case "sleep":
                await asyncio.sleep(60)
        context.update_output("halfway")
        return ToolResult(str(params["word"]), "said")


@dataclass(frozen=True, slots=True)
class GreetParams:
    name: Annotated[str, Param("Whom.", aliases=("person",))]
    times: Annotated[int, Param("How often.", minimum=1)] = 1


class Greet(ProposingTool[GreetParams]):
    error_label = "greet"

    def __init__(self) -> None:
        super().__init__(
            name="greet", display_name="Greet", description="Greets.", parameters=GreetParams, kind=Kind.COMMUNICATE
        )
        self.ran: list[GreetParams] = []

    def check(self, params: GreetParams) -> None:
        if params.name == "nobody":
            raise ToolFailure("nobody is not here", ErrorType.INVALID_TOOL_PARAMS, display="Not here.")
        if params.name == "outside":
            raise WorkspaceError("outside is outside", ErrorType.PATH_NOT_IN_WORKSPACE, path="outside")

    def describe(self, params: GreetParams) -> str:
        return f"greet {params.name}"

    def locations(self, params: GreetParams) -> list[ToolLocation]:
        return [ToolLocation(f"/homes/{params.name}", 1)]

    async def propose(self, params: GreetParams) -> Confirmation | None:
        return InfoConfirmation("Greet", f"Greet {params.name}?") if params.times > 1 else None

    async def run(self, params: GreetParams, context: ToolContext) -> ToolResult:
        del context
        self.ran.append(params)
        return ToolResult(f"hello {params.name} " * params.times)


class TestKinds:
    def test_the_kinds_are_those_of_the_documents(self) -> None:
        assert [kind.value for kind in Kind] == [
            "read",
            "edit",
            "delete",
            "move",
            "search",
            "execute",
            "think",
            "agent",
            "fetch",
            "communicate",
            "plan",
            "switch_mode",
            "other",
        ]

    @pytest.mark.parametrize("kind", list(Kind))
    def test_only_reading_searching_and_fetching_change_nothing(self, kind: Kind) -> None:
        assert Echo(kind=kind).is_read_only == (kind.value in {"read", "search", "fetch"})


class TestValues:
    def test_a_result_with_the_names_of_the_documents(self) -> None:
        diff = FileDiff("a", "/w/a", "+x", is_new_file=True, new_content="x")
        result = ToolResult(["a", Text("b")], diff, ToolError("no", ErrorType.UNKNOWN))
        assert result.to_json() == {
            "llmContent": ["a", {"text": "b"}],
            "returnDisplay": diff.to_json(),
            "error": {"type": "unknown", "message": "no"},
        }

    def test_a_plain_result_has_no_error(self) -> None:
        assert ToolResult("done").to_json() == {"llmContent": "done", "returnDisplay": "", "error": None}

    def test_a_declaration_with_the_names_of_the_documents(self) -> None:
        assert FunctionDeclaration("a", "b", SCHEMA).to_json() == {
            "name": "a",
            "description": "b",
            "parametersJsonSchema": SCHEMA,
        }


class TestBaseTool:
    def test_the_members_that_have_defaults(self) -> None:
        tool = Echo()
        assert (tool.name, tool.display_name, tool.description) == ("echo", "echo", "Says it again.")
        assert (tool.kind, tool.is_output_markdown, tool.can_update_output) == (Kind.OTHER, True, False)
        assert tool.schema == FunctionDeclaration("echo", "Says it again.", SCHEMA)
        assert tool.tool_locations({"word": "x"}) == []

    def test_nothing_is_asked_by_default(self) -> None:
        assert asyncio.run(Echo().should_confirm_execute({"word": "x"})) is None

    def test_the_description_is_the_json_of_the_arguments(self) -> None:
        assert Echo().get_description({"word": "grüß", "n": [1, None]}) == '{"word":"grüß","n":[1,null]}'

    @pytest.mark.parametrize(
        ("params", "problem"),
        [
            ({"word": "x"}, None),
            ({}, "params must have required property 'word'"),
            ({"word": 5}, "params/word must be string"),
            ("x", "Value of params must be an object"),
        ],
    )
    def test_arguments_are_checked_against_its_own_schema(self, params: object, problem: str | None) -> None:
        class Strict(Echo):
            def __init__(self) -> None:
                super().__init__()
                self.parameter_schema = {"properties": {"word": {"type": "string"}}, "required": ["word"]}

        assert Strict().validate_tool_params(params) == problem
        rejection = Strict().rejection(params)
        assert (rejection and (rejection.message, rejection.error_type)) == (
            problem and (problem, ErrorType.INVALID_TOOL_PARAMS)
        )

    def test_the_type_of_an_argument_is_read_from_the_schema(self) -> None:
        tool = Echo()
        assert [tool.argument_type(name) for name in ("word", "odd", "unheard_of")] == ["string", None, None]

    def test_a_schema_without_properties_knows_no_types(self) -> None:
        tool = Echo()
        tool.parameter_schema = {"properties": ["word"]}
        assert tool.argument_type("word") is None

    def test_a_tool_that_does_nothing_cannot_be_made(self) -> None:
        class Idle(BaseTool):
            pass

        with pytest.raises(TypeError, match="execute"):
            Idle(name="idle", description="", parameter_schema={})  # pyright: ignore[reportAbstractUsage]


class TestTypedTool:
    def test_it_declares_what_its_parameters_say(self) -> None:
        assert Greet().schema == FunctionDeclaration(
            "greet",
            "Greets.",
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Whom."},
                    "times": {"type": "integer", "description": "How often.", "minimum": 1, "default": 1},
                },
                "required": ["name"],
            },
        )

    def test_its_hooks_get_checked_parameters(self) -> None:
        tool = Greet()
        params = {"person": "Ada", "times": 2.0}
        assert tool.parse(params) == GreetParams("Ada", 2)
        assert tool.validate_tool_params(params) is None
        assert tool.rejection(params) is None
        assert tool.get_description(params) == "greet Ada"
        assert tool.tool_locations(params) == [ToolLocation("/homes/Ada", 1)]
        asked = asyncio.run(tool.should_confirm_execute(params))
        assert asked == InfoConfirmation("Greet", "Greet Ada?")
        assert tool.ran == []
        assert asyncio.run(tool.execute(params, ToolContext())) == ToolResult("hello Ada hello Ada ")
        assert tool.ran == [GreetParams("Ada", 2)]

    def test_it_knows_the_type_of_an_argument_by_every_name(self) -> None:
        assert [Greet().argument_type(name) for name in ("name", "person", "times", "x")] == [
            "string",
            "string",
            "integer",
            None,
        ]

    @pytest.mark.parametrize(
        ("params", "problem", "kind"),
        [
            ({}, "params must have required property 'name'", ErrorType.INVALID_TOOL_PARAMS),
            (
                {"name": 1, "times": 0},
                "params/name must be string, params/times must be >= 1",
                ErrorType.INVALID_TOOL_PARAMS,
            ),
            (None, "Value of params must be an object", ErrorType.INVALID_TOOL_PARAMS),
            ({"name": "nobody"}, "nobody is not here", ErrorType.INVALID_TOOL_PARAMS),
            ({"name": "outside"}, "outside is outside", ErrorType.PATH_NOT_IN_WORKSPACE),
        ],
    )
    def test_what_makes_no_sense_is_refused_everywhere(self, params: Params, problem: str, kind: ErrorType) -> None:
        tool = Greet()
        assert tool.validate_tool_params(params) == problem
        rejection = tool.rejection(params)
        assert rejection is not None
        assert (rejection.message, rejection.error_type) == (problem, kind)
        assert tool.get_description(params) == "Model did not provide valid parameters for greet tool"
        assert tool.tool_locations(params) == []
        with pytest.raises(ToolFailure, match=problem):
            tool.parse(params)
        with pytest.raises(ToolFailure, match=problem):
            asyncio.run(tool.should_confirm_execute(params))
        with pytest.raises(ToolFailure, match=problem):
            asyncio.run(tool.execute(params, ToolContext()))
        assert tool.ran == []

    def test_its_hooks_may_be_left_out(self) -> None:
        class Plain(TypedTool[GreetParams]):
            error_label = "plain"

            def describe(self, params: GreetParams) -> str:
                return params.name

            async def run(self, params: GreetParams, context: ToolContext) -> ToolResult:
                del context
                return ToolResult(params.name)

        tool = Plain(name="plain", display_name="Plain", description="", parameters=GreetParams, kind=Kind.OTHER)
        assert tool.tool_locations({"name": "a"}) == []
        assert asyncio.run(tool.should_confirm_execute({"name": "a"})) is None
        assert asyncio.run(tool.execute({"name": "a"}, ToolContext())) == ToolResult("a")


class TestNeverRaising:
    def test_a_success_passes_through_unchanged(self) -> None:
        assert asyncio.run(validate_and_execute(Echo(), {"word": "hello"})) == ToolResult("hello", "said")

    def test_wrong_arguments_are_told_and_nothing_runs(self) -> None:
        tool = Greet()
        assert asyncio.run(validate_and_execute(tool, {})) == ToolResult(
            "Error: Invalid parameters provided. Reason: params must have required property 'name'",
            "params must have required property 'name'",
            ToolError("params must have required property 'name'", ErrorType.INVALID_TOOL_PARAMS),
        )
        assert tool.ran == []

    @pytest.mark.parametrize("params", [None, [], "hello", 5])
    def test_arguments_that_are_no_object(self, params: object) -> None:
        tool = Echo()
        assert asyncio.run(validate_and_execute(tool, params)) == ToolResult(
            "Error: Invalid parameters provided. Reason: Value of params must be an object",
            "Value of params must be an object",
            ToolError("Value of params must be an object", ErrorType.INVALID_TOOL_PARAMS),
        )
        assert tool.contexts == []

    def test_a_refusal_of_another_kind_keeps_its_own_words(self) -> None:
        assert asyncio.run(validate_and_execute(Greet(), {"name": "outside"})) == ToolResult(
            "outside is outside",
            "outside is outside",
            ToolError("outside is outside", ErrorType.PATH_NOT_IN_WORKSPACE),
        )

    def test_a_failure_is_told_with_its_kind(self) -> None:
        assert asyncio.run(validate_and_execute(Echo(), {"word": "fail"})) == ToolResult(
            "it failed", "Failed.", ToolError("it failed", ErrorType.FILE_NOT_FOUND)
        )

    @pytest.mark.parametrize(("word", "reason"), [("break", "division by zero"), ("break silently", "KeyError")])
    def test_an_exception_becomes_a_failed_execution(self, word: str, reason: str) -> None:
        expected = ToolResult(
            f"Error: Tool call execution failed. Reason: {reason}",
            reason,
            ToolError(reason, ErrorType.EXECUTION_FAILED),
        )
        assert asyncio.run(validate_and_execute(Echo(), {"word": word})) == expected
        assert asyncio.run(execute_safely(Echo(), {"word": word}, ToolContext())) == expected

    def test_a_check_that_breaks_is_told_too(self) -> None:
        class BrokenCheck(Echo):
            def validate_tool_params(self, params: object) -> str | None:
                raise ZeroDivisionError("division by zero")

        result = asyncio.run(validate_and_execute(BrokenCheck(), {"word": "x"}))
        assert result.error == ToolError("division by zero", ErrorType.EXECUTION_FAILED)

    def test_a_cancellation_goes_on(self) -> None:
        async def cancel() -> None:
            task = asyncio.create_task(validate_and_execute(Echo(), {"word": "sleep"}))
            await asyncio.sleep(0)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel())

    def test_the_context_reaches_the_tool(self) -> None:
        tool, heard = Echo(can_update_output=True), list[str]()
        context = ToolContext(approved=InfoConfirmation("t", "p"), update_output=heard.append)
        asyncio.run(validate_and_execute(tool, {"word": "x"}, context))
        assert tool.contexts == [context]
        assert heard == ["halfway"]

    def test_live_output_is_given_only_to_a_tool_that_declares_it(self) -> None:
        tool, heard = Echo(can_update_output=False), list[str]()
        approved = InfoConfirmation("t", "p")
        context = ToolContext(approved=approved, update_output=heard.append)
        asyncio.run(validate_and_execute(tool, {"word": "x"}, context))
        assert tool.contexts == [ToolContext(approved=approved)]
        assert heard == []


class TestContext:
    def test_callbacks_can_always_be_called(self) -> None:
        context = ToolContext()
        context.update_output("x")
        context.keep_partial(ToolResult("half"))
        context.keep_replaced("/w/a", b"x")
        assert context == ToolContext()

    @pytest.mark.parametrize("call", [validate_and_execute, execute_safely])
    def test_a_cancelled_call_says_so_for_good(self, call: Callable[..., Coroutine[None, None, ToolResult]]) -> None:
        tool = Echo()

        async def cancel() -> None:
            task = asyncio.create_task(call(tool, {"word": "sleep"}, ToolContext()))
            await asyncio.sleep(0)
            assert not tool.contexts[0].is_cancelled
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel())
        assert tool.contexts[0].is_cancelled


class TestOutcomes:
    FAILURE = ToolFailure("why", ErrorType.INVALID_TOOL_PARAMS, display="shown")

    def test_rejected_arguments(self) -> None:
        assert invalid_params_result(self.FAILURE) == ToolResult(
            "Error: Invalid parameters provided. Reason: why",
            "shown",
            ToolError("why", ErrorType.INVALID_TOOL_PARAMS),
        )

    def test_a_failure(self) -> None:
        assert failure_result(self.FAILURE) == ToolResult(
            "why", "shown", ToolError("why", ErrorType.INVALID_TOOL_PARAMS)
        )

    def test_the_traceback_of_an_exception_is_kept_as_text(self) -> None:
        def deep() -> None:
            raise ValueError("oops")

        with pytest.raises(ValueError, match="oops") as caught:
            deep()
        failure = unexpected_error_result(caught.value, "count_words").error
        assert failure is not None
        assert failure.traceback.startswith("Traceback (most recent call last):\n")
        assert "in deep\n" in failure.traceback
        assert failure.traceback.endswith("ValueError: oops\n")
        assert failure.to_json() == {"type": "execution_failed", "message": "oops"}
        assert pickle.loads(pickle.dumps(failure)).traceback == failure.traceback

    def test_a_broken_tool(self) -> None:
        assert unexpected_error_result(ValueError("oops"), "count_words") == ToolResult(
            "Error: Tool call execution failed. Reason: oops",
            "oops",
            ToolError("oops", ErrorType.EXECUTION_FAILED),
        )


def test_the_variables_of_a_command_are_not_shown() -> None:
    assert "hunter2" not in repr(ToolContext(environment={"TOKEN": "hunter2"}))
