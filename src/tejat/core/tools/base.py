"""The contract of a tool: what it declares, how arguments are checked, what it asks, what it does and gives back."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

from tejat.core.approval.confirmation import Confirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import frozen, replace
from tejat.core.messages.types import JsonObject, Params, PartListUnion, content_to_json
from tejat.core.tools.display import Display, display_to_json
from tejat.core.tools.schema import json_type_of, parameters_schema, parse_arguments

_Parameters = TypeVar("_Parameters")


class Kind(StrEnum):
    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    AGENT = "agent"
    FETCH = "fetch"
    COMMUNICATE = "communicate"
    PLAN = "plan"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


READ_ONLY_KINDS = frozenset({Kind.READ, Kind.SEARCH, Kind.FETCH})


@frozen
class FunctionDeclaration:
    """What a model is told of a tool."""

    name: str
    description: str
    parameters_json_schema: JsonObject

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "description": self.description,
            "parametersJsonSchema": self.parameters_json_schema,
        }


@frozen
class ToolLocation:
    """A place that a call will touch, for front ends that follow along."""

    path: str
    line: int | None = None


@frozen
class ToolError:
    message: str
    type: ErrorType

    def to_json(self) -> JsonObject:
        return {"type": self.type.value, "message": self.message}


@frozen
class ToolResult:
    """What a call came to: `llm_content` for the model, `return_display` for the person, `error` if it failed.

    `exit_code` is that of a command which ended by itself, for the person too: below 0 it is the signal that ended it.
    """

    llm_content: PartListUnion
    return_display: Display = ""
    error: ToolError | None = None
    exit_code: int | None = None

    def to_json(self) -> JsonObject:
        return {
            "llmContent": content_to_json(self.llm_content),
            "returnDisplay": display_to_json(self.return_display),
            "error": None if self.error is None else self.error.to_json(),
        }


@frozen
class ToolContext:
    """What belongs to one call.

    `approved` is the confirmation that the person said yes to: the tool does exactly that. `update_output` takes live
    output; it is given only to tools that declare `can_update_output`. Cancelling is cancelling the task; a tool that
    has something to tell nevertheless hands it to `keep_partial` before it lets the cancellation through.
    """

    approved: Confirmation | None = None
    update_output: Callable[[str], None] | None = None
    keep_partial: Callable[[ToolResult], None] | None = None


class BaseTool(ABC):
    """The base of every tool.

    A subclass gives the names, the description and the parameter schema to the constructor and implements `execute`;
    the other members have defaults. `params` are always the arguments as the model sent them.

    `bounds_output` says that its results are kept short or in pages by itself; those of other tools are cut where they
    are too long for a model. `server_name` is the server that the tool belongs to, if it is somebody else's, and
    `has_changed` whether it is another tool now than the one that was last allowed: then a person is asked, whatever
    the rules allow. `may_change_files` is False for one that works on another machine, so that nothing has to be kept
    for undo.
    """

    limits_own_output: ClassVar[bool] = False
    server_name: str | None = None
    has_changed: bool = False
    may_change_files: bool = True

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

    @property
    def schema(self) -> FunctionDeclaration:
        return FunctionDeclaration(self.name, self.description, self.parameter_schema)

    @property
    def is_read_only(self) -> bool:
        return self.kind in READ_ONLY_KINDS

    @property
    def own_name(self) -> str:
        """The name that rules know it by: a server's tool is known by its server and the name it has there."""
        return self.name

    def on_allowed(self) -> None:  # noqa: B027 -- most tools have nothing to note
        """Somebody let a call of the tool, as it is now, run: the person or a rule."""

    def validate_tool_params(self, params: object) -> str | None:
        """What is wrong with the arguments, or None."""
        from tejat.core.tools.schema_validation import validation_problem

        return validation_problem(params, self.parameter_schema)

    def rejection(self, params: object) -> ToolFailure | None:
        """The same as `validate_tool_params`, with the kind of failure."""
        problem = self.validate_tool_params(params)
        return ToolFailure(problem, ErrorType.INVALID_TOOL_PARAMS) if problem else None

    def get_description(self, params: Params) -> str:
        """What this call would do, in a line for the person."""
        return json.dumps(params, ensure_ascii=False, separators=(",", ":"), default=str)

    def argument_type(self, name: str) -> str | None:
        """The JSON type of a parameter, None for one that the tool does not know."""
        properties = self.parameter_schema.get("properties")
        declared = properties.get(name) if isinstance(properties, Mapping) else None
        json_type = declared.get("type") if isinstance(declared, Mapping) else None
        return json_type if isinstance(json_type, str) else None

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        return []

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        """What the person must agree to first, or None. Looking changes nothing. Raises ToolFailure."""
        return None

    @abstractmethod
    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        """Do the work. A failure that the model should know of is returned, or raised as ToolFailure."""


class TypedTool(BaseTool, Generic[_Parameters]):
    """A tool whose parameters are a typed class (see `core/tools/schema.py`).

    A subclass implements `describe` and `run` and, where it has something to say, the other hooks; they get checked
    parameters.
    """

    error_label: ClassVar[str]

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
    async def run(self, params: _Parameters, context: ToolContext) -> ToolResult: ...

    def check(self, params: _Parameters) -> None:
        """Raise ToolFailure for parameters that fit the schema and still make no sense."""

    @abstractmethod
    def describe(self, params: _Parameters) -> str: ...

    def locations(self, params: _Parameters) -> list[ToolLocation]:
        return []

    def parse(self, params: object) -> _Parameters:
        """The arguments as typed parameters. Raises ToolFailure that says what is wrong."""
        parsed = parse_arguments(self._parameters, params)
        self.check(parsed)
        return parsed

    def rejection(self, params: object) -> ToolFailure | None:
        try:
            self.parse(params)
        except ToolFailure as failure:
            return failure
        return None

    def validate_tool_params(self, params: object) -> str | None:
        failure = self.rejection(params)
        return failure.message if failure else None

    def get_description(self, params: Params) -> str:
        try:
            return self.describe(self.parse(params))
        except ToolFailure:
            return f"Model did not provide valid parameters for {self.error_label} tool"

    def argument_type(self, name: str) -> str | None:
        return json_type_of(self._parameters, name)

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        try:
            return self.locations(self.parse(params))
        except ToolFailure:
            return []

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return await self.run(self.parse(params), context)


class ProposingTool(TypedTool[_Parameters]):
    """A typed tool that says what it would do before it does it."""

    @abstractmethod
    async def propose(self, params: _Parameters) -> Confirmation | None:
        """What the person must agree to first, or None. Looking changes nothing. Raises ToolFailure."""

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return await self.propose(self.parse(params))


@runtime_checkable
class ModifiableTool(Protocol):
    """A tool whose proposal a person may rewrite before agreeing to it."""

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        """The arguments that propose `new_content` instead of what `confirmation` showed."""
        ...


@runtime_checkable
class TrialTool(Protocol):
    """A tool whose calls can be tried in a copy of the files before they count."""

    async def can_try(self, confirmation: Confirmation) -> bool:
        """Whether that can be done here, for what the person would otherwise agree to."""
        ...

    async def run_trial(self, confirmation: Confirmation, context: ToolContext) -> TrialConfirmation:
        """Do what was to be confirmed in a copy, and say what came of it. Raises ToolFailure where that cannot be done.

        Nothing real has changed then. It is over when the trial is executed, as what was approved, or `throw_away` was
        called for it.
        """
        ...

    async def discard_trial(self, trial: TrialConfirmation) -> None:
        """Forget what was done in the copy."""
        ...


async def validate_and_execute(tool: BaseTool, params: object, context: ToolContext | None = None) -> ToolResult:
    """Check the arguments and run the tool without asking anyone. Raises nothing but the cancellation of its task."""
    try:
        failure = tool.rejection(params)
    except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
        return unexpected_error_result(error)
    if failure:
        return invalid_params_result(failure)
    return await execute_safely(tool, cast("Params", params), context or ToolContext())


async def execute_safely(tool: BaseTool, params: Params, context: ToolContext) -> ToolResult:
    """Run the tool on checked arguments; whatever it raises becomes what the model is told."""
    if context.update_output is not None and not tool.can_update_output:
        context = replace(context, update_output=None)
    try:
        return await tool.execute(params, context)
    except ToolFailure as failure:
        return failure_result(failure)
    except Exception as error:  # noqa: BLE001 -- a broken tool must not end the turn
        return unexpected_error_result(error)


def invalid_params_result(failure: ToolFailure) -> ToolResult:
    """The arguments were refused before anything ran."""
    if failure.error_type is not ErrorType.INVALID_TOOL_PARAMS:
        return failure_result(failure)
    told = f"Error: Invalid parameters provided. Reason: {failure.message}"
    return ToolResult(told, failure.display, ToolError(failure.message, failure.error_type))


def failure_result(failure: ToolFailure) -> ToolResult:
    return ToolResult(failure.message, failure.display, ToolError(failure.message, failure.error_type))


def unexpected_error_result(error: Exception) -> ToolResult:
    """A tool raised something it should not have."""
    from tejat.core.log import report_unexpected

    report_unexpected(error, "a tool")
    reason = str(error) or type(error).__name__
    told = f"Error: Tool call execution failed. Reason: {reason}"
    return ToolResult(told, reason, ToolError(reason, ErrorType.EXECUTION_FAILED))
