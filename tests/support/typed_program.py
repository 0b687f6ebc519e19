"""A program of a user, with the public names only. `tests/architecture/test_user_types.py` checks its types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, assert_type

from tejat import (
    Agent,
    AgentEvent,
    ApprovalReply,
    ApprovalRequest,
    BaseTool,
    CallFinished,
    EditConfirmation,
    EndReason,
    ErrorType,
    ExecConfirmation,
    FunctionCall,
    FunctionDeclaration,
    HookReply,
    InfoConfirmation,
    InlineData,
    Kind,
    Message,
    Outcome,
    Param,
    Price,
    RunEnded,
    SyncAgent,
    TextStreamed,
    ToolContext,
    ToolFailure,
    ToolRegistry,
    ToolResult,
    TypedTool,
    Usage,
    Workspace,
    builtin_registry,
    function_model,
    hook,
    open_tools,
    tool,
    validate_and_execute,
)
from tejat.testing import Answer, ScriptedModel, TemporaryWorkspace, assert_called, assert_text, call


@tool
def add(one: int, two: int = 2) -> int:
    """Adds two numbers."""
    return one + two


def ask_before(path: Path) -> str | bool:
    return f"Delete {path}?" if path.exists() else False


@tool(kind=Kind.EDIT, confirm=ask_before, timeout=5)
async def delete(path: Path, context: ToolContext) -> str:
    """Deletes a file."""
    context.update_output("deleting")
    if context.is_cancelled:
        raise ToolFailure("It was cancelled.", ErrorType.CANCELLED)
    return str(path)


@tool(confirm=lambda: True)
def picture(size: Annotated[int, Param("Pixels.", minimum=1)] = 8) -> list[str | InlineData]:
    """Draws a picture."""
    return ["drawn", InlineData("image/png", bytes(size))]


async def call_directly() -> None:
    assert_type(add(1, two=3), int)
    assert_type(await delete(Path("a"), ToolContext()), str)
    assert_type(picture(), list[str | InlineData])


@hook("BeforeTool", matcher="write_file", timeout=5)
def no_secrets(event: dict[str, Any]) -> HookReply | None:
    return HookReply("deny", "No.") if "secret" in event["tool_input"]["file_path"] else None


@hook("AfterTool")
async def count(event: Mapping[str, object]) -> None:
    record(event["tool_name"])


@dataclass(frozen=True)
class ShoutParams:
    text: Annotated[str, Param("What to shout.")]


class Shout(TypedTool[ShoutParams]):
    def __init__(self) -> None:
        super().__init__(
            name="shout", display_name="Shout", description="Shouts.", parameters=ShoutParams, kind=Kind.OTHER
        )

    def describe(self, params: ShoutParams) -> str:
        return params.text

    async def run(self, params: ShoutParams, context: ToolContext) -> ToolResult:
        return ToolResult(params.text.upper())


class Echo(BaseTool):
    def __init__(self) -> None:
        super().__init__(
            name="echo",
            description="Says it again.",
            parameter_schema={"type": "object", "properties": {"text": {"type": "string"}}},
        )

    async def execute(self, params: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(str(params["text"]))


class Careful:
    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        match question.confirmation:
            case EditConfirmation(file_path=path) if path.endswith(".md"):
                return ApprovalReply(Outcome.PROCEED_ONCE)
            case ExecConfirmation(command=command):
                return ApprovalReply(Outcome.CANCEL, feedback=f"Not {command}.")
            case InfoConfirmation(prompt=prompt):
                return ApprovalReply(Outcome.PROCEED_ONCE if prompt else Outcome.CANCEL)
            case _:
                return ApprovalReply(Outcome.CANCEL)


async def approve_reads(question: ApprovalRequest) -> bool:
    return question.tool_name.startswith("read")


def refuse(question: ApprovalRequest) -> ApprovalReply:
    return ApprovalReply(Outcome.CANCEL, feedback=f"Not {question.tool_name}.")


def answer(messages: Sequence[Message], tools: Sequence[FunctionDeclaration]) -> str | FunctionCall:
    return FunctionCall(tools[0].name, {}) if not messages[-1].responses else "Done."


def check(finished: CallFinished, model: ScriptedModel) -> None:
    assert_type(model.requests[0].messages[0].text, str)
    record(finished.result.error)


class CarefulSync:
    def ask(self, question: ApprovalRequest) -> ApprovalReply:
        return ApprovalReply(Outcome.CANCEL)


def record(*values: object) -> None:
    """Stands for what a program does with them."""


def show(event: AgentEvent) -> str:
    match event:
        case TextStreamed(text):
            return text
        case CallFinished(call=call, state=state, result=result):
            return f"{call.name} {state} {result.llm_content}"
        case RunEnded(reason=EndReason.FINISHED):
            return event.text
        case RunEnded():
            return f"{event.reason} {event.usage.total}"
        case _:
            return ""


async def run_agent() -> None:
    async with Agent(model="auto", tools=[add, delete, picture, Shout(), Echo()], approver=Careful()) as agent:
        async for event in agent.run("Hello"):
            record(show(event))
        ended = await agent.ask("Hello")
        record(ended.text, agent.session_id, [message.text for message in agent.history])


def run_sync() -> None:
    hooks = [no_secrets, count]
    with SyncAgent(directories=[Path()], tools=add, approver=CarefulSync(), hooks=hooks, max_turns=3) as agent:
        for event in agent.run("Hello"):
            record(show(event))
        record(agent.ask("Hello").text)


async def call_tools(directory: str) -> None:
    with Workspace([directory]) as workspace:
        registry: ToolRegistry = builtin_registry(workspace)
        registry.register(Shout())
        result = await validate_and_execute(registry["shout"], {"text": "a"})
        if result.error is not None:
            record(result.error.type, result.error.message)
        record([declaration.to_json() for declaration in registry.declarations()])
    with open_tools([directory], Careful()) as session:
        batch = session.scheduler.batch(
            [FunctionCall("shout", {"text": "a"}, id="1")], lambda event: record(event.index)
        )
        await batch.run()
        record(batch.responses, await session.scheduler.run(FunctionCall("shout", {"text": "a"})))


def try_agents() -> None:
    with (
        TemporaryWorkspace({"a.txt": "one"}) as workspace,
        ScriptedModel([call("add", one=1), Answer("Three.", usage=Usage(output=3))], price=Price(1, 1, 1)) as model,
        workspace.sync_agent(model, tools=[add]) as agent,
    ):
        events = list(agent.run("Add"))
        check(assert_called(events, "add", one=1), model)
        assert_text(events, "Three")


async def run_own_model() -> None:
    async with Agent(model=function_model(answer), approver=approve_reads, mode="plan", on_event=record) as agent:
        (await agent.ask("Hello")).raise_for_failure()
    with SyncAgent(model=ScriptedModel(["Hi."]), approver=refuse) as other:
        record(other.ask("Hello").text)
