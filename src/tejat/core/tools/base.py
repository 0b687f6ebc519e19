"""The tool contract: declaration, validation, confirmation, execution, result."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from tejat.core.errors import CallbackFailure, ErrorType, ToolFailure
from tejat.core.frozen import Frozen, Value, field, replace
from tejat.core.messages.declaration import READ_ONLY_KINDS, FunctionDeclaration, Kind
from tejat.core.messages.sdk import SdkResult
from tejat.core.messages.types import JsonObject, Params, PartListUnion, content_to_json
from tejat.core.tools.cancellation import CancelReason, CancelSignal
from tejat.core.tools.display import Display, display_to_json
from tejat.core.tools.result_content import ResultContent

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import ApprovalReply, Confirmation, UserSubject
    from tejat.core.tools.cancellation import CancelReason
    from tejat.core.tools.display import Display

_Parameters = TypeVar("_Parameters")


class ToolLocation(Value):
    """A file position that a call will touch, for front ends that follow along."""

    path: str
    line: int | None = None


class ToolError(Value):
    """The error of a failed call. `traceback` is the traceback of an exception in the tool, as text, for its author."""

    message: str
    type: ErrorType
    traceback: str = field(default="", repr=False, compare=False)

    def to_json(self) -> JsonObject:
        return {"type": self.type.value, "message": self.message}


class ToolResult(SdkResult, ResultContent):
    """The result of a call: `llm_content` for the model, `return_display` for the user, `error` if it failed.

    `exit_code` is that of a command that ended by itself; negative values are signals. A `final_answer` ends the run:
    it is the last text of the answer, unless the call was cancelled.
    """

    llm_content: PartListUnion
    return_display: Display = ""
    error: ToolError | None = None
    exit_code: int | None = None
    final_answer: str | None = None

    def to_json(self) -> JsonObject:
        return {
            "llmContent": content_to_json(self.llm_content),
            "returnDisplay": display_to_json(self.return_display),
            "error": None if self.error is None else self.error.to_json(),
        }


def ignore(*_: object) -> None:
    """The callbacks of a context that nobody listens to."""


class ToolContext(Frozen):
    """The context of one call. Its callbacks can always be called; without a listener they do nothing.

    `approved` is the confirmation that the user approved: the tool does exactly that. `update_output` takes the live
    output, all of it each time, of a tool with `can_update_output`. Calls are cancelled by cancelling their task; a
    tool that has a partial result passes it to `keep_partial` first, and code in other threads looks at `is_cancelled`;
    `cancel_reason` says why. `environment` are more variables for a command. `call_id` is the id of the call, and
    `index` its position in the batch. `ask` asks the user something that does not permit the call, None if there is
    no user to ask. `plan_file` is the only file that the call may write, because it is a plan. `keep_replaced` takes
    the real path and the content of a file, with changes that the editor had not saved: undo restores that instead of
    the content on disk.
    """

    approved: Confirmation | None = None
    update_output: Callable[[str], None] = ignore
    keep_partial: Callable[[ToolResult], None] = ignore
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    call_id: str = ""
    index: int = 0
    ask: Callable[[UserSubject], Awaitable[ApprovalReply]] | None = None
    plan_file: str = ""
    keep_replaced: Callable[[str, bytes], None] = ignore
    signal: CancelSignal = field(default_factory=CancelSignal, repr=False, compare=False)

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled or timed out. Work in a thread should stop then."""
        return self.signal.is_set

    @property
    def cancel_reason(self) -> CancelReason | None:
        """Why the call was cancelled, None as long as it was not."""
        return self.signal.reason


class BaseTool(ABC):
    """The base class of all tools.

    A subclass passes names, description and parameter schema to the constructor and implements `execute`; the other
    members have defaults. `params` are always the arguments as the model sent them.

    `limits_own_output`: the tool keeps its results short or in pages; longer results of other tools are truncated.
    `server_name` is the MCP server of the tool, if any. `has_changed`: the tool differs from the one last allowed, so
    the user is asked whatever the rules say. `may_change_files` is False for tools that need no undo snapshot: they
    work on another machine, or their own calls are recorded. `writes_plans`: the tool writes one file and keeps to
    `ToolContext.plan_file`. `hints` are the annotations of an MCP tool by their protocol names: claims of its server.
    """

    limits_own_output: ClassVar[bool] = False
    writes_plans: ClassVar[bool] = False
    server_name: str | None = None
    has_changed: bool = False
    may_change_files: bool = True
    hints: Mapping[str, object] = MappingProxyType({})

    def __init__(
        self,
        *,
        name: str,
        description: str,
        parameter_schema: JsonObject,
        display_name: str | None = None,
        kind: Kind = Kind.OTHER,
        is_output_markdown: bool = True,
        can_update_output: bool = False,
    ) -> None:
        self.name = name
        self.display_name = display_name or name
        self.description = description
        self.parameter_schema = parameter_schema
        self.kind = kind
        self.is_output_markdown = is_output_markdown
        self.can_update_output = can_update_output

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'name', '')!r}>"

    @property
    def schema(self) -> FunctionDeclaration:
        """The declaration for models."""
        return FunctionDeclaration(self.name, self.description, self.parameter_schema)

    @property
    def is_read_only(self) -> bool:
        """Whether calls only read: they run at the same time, and in plan mode too."""
        return self.kind in READ_ONLY_KINDS

    @property
    def own_name(self) -> str:
        """The name that rules use; for an MCP tool, the name it has at its server."""
        return self.name

    def rule_names(self, params: Params) -> tuple[str, ...]:
        """Further names by which rules may refer to this call."""
        return ()

    def runs_concurrently(self, params: Params) -> bool:
        """Whether neighbouring calls like this one may run at the same time."""
        return self.is_read_only

    def on_allowed(self) -> None:  # noqa: B027 -- most tools have nothing to note
        """Called when the user or a rule allows a call of the tool as it is now."""

    def validate_tool_params(self, params: object) -> str | None:
        """The problem with the arguments, or None."""
        from tejat.core.tools.schema_validation import validation_problem

        return validation_problem(params, self.parameter_schema)

    def rejection(self, params: object) -> ToolFailure | None:
        """The problem with the arguments as a failure with its error type, or None."""
        problem = self.validate_tool_params(params)
        return ToolFailure(problem, ErrorType.INVALID_TOOL_PARAMS) if problem else None

    def get_description(self, params: Params) -> str:
        """A one-line description of the call for the user."""
        return json.dumps(params, ensure_ascii=False, separators=(",", ":"), default=str)

    def argument_type(self, name: str) -> str | None:
        """The JSON type of a parameter, None if it is unknown."""
        properties = self.parameter_schema.get("properties")
        declared = properties.get(name) if isinstance(properties, Mapping) else None
        json_type = declared.get("type") if isinstance(declared, Mapping) else None
        return json_type if isinstance(json_type, str) else None

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        """The files that the call is about, for front ends that show them. Changes nothing."""
        return []

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        """The confirmation that the call needs, or None. Changes nothing. Raises ToolFailure."""
        return None

    @abstractmethod
    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        """Run the tool. Failures for the model are returned, or raised as ToolFailure."""


class ParsingTool(BaseTool):
    """A tool whose arguments are valid if they can be parsed."""

    @abstractmethod
    def parse(self, params: object) -> object:
        """Parse arguments. Raises ToolFailure."""

    def rejection(self, params: object) -> ToolFailure | None:
        try:
            self.parse(params)
        except ToolFailure as failure:
            return failure
        return None

    def validate_tool_params(self, params: object) -> str | None:
        failure = self.rejection(params)
        return failure.message if failure else None


class TypedTool(ParsingTool, Generic[_Parameters]):
    """A tool whose parameters are a typed class (see `core/tools/schema.py`).

    A subclass implements `describe` and `run` and optionally the other hooks, which get checked parameters.
    """

    error_label: ClassVar[str] = ""
    """The name of the tool in messages about invalid arguments, by default its name."""

    def __init__(
        self,
        *,
        name: str,
        display_name: str,
        description: str,
        parameters: type[_Parameters],
        kind: Kind,
        is_output_markdown: bool = True,
        can_update_output: bool = False,
    ) -> None:
        from tejat.core.tools.schema import parameters_schema

        super().__init__(
            name=name,
            display_name=display_name,
            description=description,
            parameter_schema=parameters_schema(parameters),
            kind=kind,
            is_output_markdown=is_output_markdown,
            can_update_output=can_update_output,
        )
        self._parameters = parameters

    @abstractmethod
    async def run(self, params: _Parameters, context: ToolContext) -> ToolResult:
        """Run the tool. A ToolFailure is told to the model."""

    def check(self, params: _Parameters) -> None:
        """Raise ToolFailure for parameters that match the schema but make no sense."""

    @abstractmethod
    def describe(self, params: _Parameters) -> str:
        """What the call does, in one line for the user."""

    def locations(self, params: _Parameters) -> list[ToolLocation]:
        """The files that the call is about."""
        return []

    def parse(self, params: object) -> _Parameters:
        """Parse arguments into typed parameters. Raises ToolFailure."""
        from tejat.core.tools.schema import Arguments, parse_arguments

        is_call = isinstance(params, Arguments)
        if is_call and (known := params.parsed_by(self)) is not None:
            return cast("_Parameters", known)
        parsed = parse_arguments(self._parameters, params)
        self.check(parsed)
        if is_call:
            params.keep_parsed(self, parsed)
        return parsed

    def get_description(self, params: Params) -> str:
        try:
            return self.describe(self.parse(params))
        except ToolFailure:
            return f"Model did not provide valid parameters for {self.error_label or self.name} tool"

    def argument_type(self, name: str) -> str | None:
        from tejat.core.tools.schema import json_type_of

        return json_type_of(self._parameters, name)

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        try:
            return self.locations(self.parse(params))
        except ToolFailure:
            return []

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return await self.run(self.parse(params), context)


class ProposingTool(TypedTool[_Parameters]):
    """A typed tool that proposes what it would do before it does it."""

    @abstractmethod
    async def propose(self, params: _Parameters) -> Confirmation | None:
        """The confirmation that the call needs, or None. Changes nothing. Raises ToolFailure."""

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return await self.propose(self.parse(params))


async def validate_and_execute(tool: BaseTool, params: object, context: ToolContext | None = None) -> ToolResult:
    """Validate the arguments and run the tool without approval. Raises nothing but CancelledError."""
    try:
        failure = tool.rejection(params)
    except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
        return unexpected_error_result(error, tool.name)
    if failure:
        return invalid_params_result(failure)
    return await execute_safely(tool, cast("Params", params), context or ToolContext())


async def execute_safely(tool: BaseTool, params: Params, context: ToolContext) -> ToolResult:
    """Run the tool on validated arguments. Exceptions become results with an error."""
    from tejat.core.tools.result_check import checked_result

    if context.update_output is not ignore and not tool.can_update_output:
        context = replace(context, update_output=ignore)
    try:
        return checked_result(tool.name, await tool.execute(params, context))
    except ToolFailure as failure:
        return failure_result(failure)
    except CallbackFailure:
        raise
    except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
        return unexpected_error_result(error, tool.name)
    except BaseException:  # cancelled, or the program ends
        context.signal.set()
        raise


def invalid_params_result(failure: ToolFailure) -> ToolResult:
    """The result of a call whose arguments were rejected."""
    if failure.error_type is not ErrorType.INVALID_TOOL_PARAMS:
        return failure_result(failure)
    message = f"Error: Invalid parameters provided. Reason: {failure.message}"
    return ToolResult(message, failure.display, ToolError(failure.message, failure.error_type))


def failure_result(failure: ToolFailure) -> ToolResult:
    return ToolResult(failure.message, failure.display, ToolError(failure.message, failure.error_type))


def unexpected_error_result(error: Exception, tool: str) -> ToolResult:
    """The result of a call whose tool raised an unexpected exception, with its traceback, which is also logged."""
    from traceback import format_exception

    from tejat.core.log import report_unexpected, tools_logger

    report_unexpected(error, f"the tool {tool!r}", log=tools_logger)
    # A KeyError is only the key, and some exceptions have no text.
    reason = str(error) or type(error).__name__
    reason = f"{type(error).__name__}: {reason}" if isinstance(error, KeyError) and error.args else reason
    message = f"Error: Tool call execution failed. Reason: {reason}"
    failure = ToolError(reason, ErrorType.EXECUTION_FAILED, traceback="".join(format_exception(error)))
    return ToolResult(message, reason, failure)
