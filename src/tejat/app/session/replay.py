"""A stored conversation as events, for front ends that show it again."""

import os
from collections.abc import Iterable, Iterator, Sequence

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    Noticed,
    Prompted,
    Severity,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.errors import ErrorType
from tejat.core.i18n import _
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Part, Text, Thought
from tejat.core.model import ModelResponse
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.core.tools.display import Display, FileDiff
from tejat.core.tools.todos import TodoList, todos_from_state
from tejat.engine.loop.archive import ConversationArchive
from tejat.engine.loop.conversation import Conversation
from tejat.engine.prompt.mentions import mentioning_text
from tejat.engine.sessions.rewind_points import RewindPoint
from tejat.tools.registry import ToolRegistry
from tejat.tools.shell.result import command_exit_code, command_output
from tejat.workspace.text.diff import count_diff_stat, create_patch

_CANCELLED = "[Operation Cancelled]"
"""The beginning of the response to a call that was cancelled."""
_MAX_CONTENT = 1 << 20
"""Characters from which the texts of a change are left out."""


def replay_events(conversation: Conversation, root: str) -> Iterator[AgentEvent]:
    """Yield what was said and done in a conversation, also before it was summarized, which a notice marks.

    Prompts are shown as they were typed, as far as that is known. `root` is the working directory.
    """
    history, archive, points = conversation.history.messages, conversation.archive, conversation.rewind_points
    return replay_messages(history, archive, points, root)


def replay_messages(
    history: Sequence[Message], archive: ConversationArchive, rewind_points: Iterable[RewindPoint], root: str
) -> Iterator[AgentEvent]:
    """Yield the events of a history and of the messages that summaries have replaced."""
    typed = {
        id(history[point.prompt_index]): point.display_text
        for point in rewind_points
        if point.prompt_index < len(history)
    }
    messages = [each.message for each in archive.numbered(history)]
    replaced = 0 if archive.is_empty else len(messages) - len(history[archive.head_length :])
    if archive.forgotten:
        yield Noticed(_("The beginning of this conversation is not shown."), Severity.NOTE)
    for number, (message, following) in enumerate(zip(messages, (*messages[1:], None), strict=False)):
        if replaced and number == replaced:
            yield _summary_notice()
        if message.role is Role.MODEL:
            yield from answer_events(message, following, root)
        elif id(message) in typed or not message.responses:
            yield Prompted(message, typed.get(id(message)) or mentioning_text(message))
    if replaced and replaced == len(messages):
        yield _summary_notice()


def _summary_notice() -> Noticed:
    return Noticed(_("The model has only a summary of the conversation up to here."), Severity.NOTE)


def describe_call(registry: ToolRegistry, call: FunctionCall) -> CallDetails:
    """Describe a call of the model, also one of an unknown tool or with wrong arguments. Never raises."""
    try:
        return _describe(registry, call)
    except Exception:  # noqa: BLE001 -- a broken tool is reported when it is called
        return CallDetails(Kind.OTHER, call.name)


def _describe(registry: ToolRegistry, call: FunctionCall) -> CallDetails:
    tool = registry.get(call.name)
    if tool is None:
        return CallDetails(Kind.OTHER, call.name)
    if tool.rejection(call.args) is not None:
        return CallDetails(tool.kind, tool.display_name, is_output_markdown=tool.is_output_markdown)
    title, locations = tool.get_description(call.args), tuple(tool.tool_locations(call.args))
    return CallDetails(tool.kind, title or tool.display_name, locations, tool.is_output_markdown)


def answer_events(message: Message, following: Message | None, root: str) -> Iterator[AgentEvent]:
    """Yield an answer of the model, and its calls with their responses, which are in the message that follows."""
    for part in message.parts:
        match part:
            case Text(text) if text:
                yield TextStreamed(text)
            case Thought(text) if text:
                yield ThoughtStreamed(text)
            case _:
                pass
    yield Answered(ModelResponse(message), 0.0)
    responses = {} if following is None else _responses(following)
    for index, call in enumerate(message.calls):
        yield StateChanged(index, call, CallState.SCHEDULED)
        if parts := responses.get(call.id):
            yield _finished_call(index, call, parts, root)


def _responses(message: Message) -> dict[str | None, tuple[Part, ...]]:
    """The responses in a message by the ids of their calls, each with the media that follow it."""
    found: dict[str | None, tuple[Part, ...]] = {}
    call_id: str | None = None
    for part in message.parts:
        if isinstance(part, FunctionResponse):
            call_id = part.id
            found[call_id] = (part,)
        elif isinstance(part, InlineData) and call_id in found:
            found[call_id] += (part,)
    return found


def _finished_call(index: int, call: FunctionCall, parts: tuple[Part, ...], root: str) -> CallFinished:
    response = next(part.response for part in parts if isinstance(part, FunctionResponse))
    media = [part for part in parts if isinstance(part, InlineData)]
    if (error := response.get("error")) is not None:
        text = str(error)
        state = CallState.CANCELLED if text.startswith(_CANCELLED) else CallState.ERROR
        kind = ErrorType.CANCELLED if state is CallState.CANCELLED else ErrorType.UNKNOWN
        return CallFinished(index, call, state, ToolResult(text, text, ToolError(text, kind)), parts, 0.0)
    output = response.get("output")
    text = output if isinstance(output, str) else ""
    display, code = _display(call, root) or command_output(text), command_exit_code(text)
    result = ToolResult([text, *media] if media else text, display, exit_code=code)
    return CallFinished(index, call, CallState.SUCCESS, result, parts, 0.0)


def _display(call: FunctionCall, root: str) -> Display | None:
    """What a call displayed, as far as its arguments tell: a change of a file, a list of todos."""
    match call.name, dict(call.args):
        case "write_file", {"file_path": str(path), "content": str(content)}:
            return _file_diff(os.path.join(root, path), None, content)
        case "replace", {"file_path": str(path), "old_string": str(old), "new_string": str(new)}:
            return _file_diff(os.path.join(root, path), old or None, new)
        case "write_todos", {"todos": list()}:
            todos = todos_from_state(call.args.get("todos"))  # pyright: ignore[reportArgumentType] -- JSON
            return todos if todos != TodoList() else None
        case _:
            return None


def _file_diff(path: str, old: str | None, new: str) -> FileDiff | None:
    if len(new) + len(old or "") > _MAX_CONTENT:
        return None
    name = os.path.basename(path)
    before, after = _whole_lines(old or "", new)
    patch = create_patch(name, before, after, old_header="Original", new_header="Written")
    stat = count_diff_stat(before, after, after)
    return FileDiff(name, path, patch.text, old is None, original_content=old, new_content=new, diff_stat=stat)


def _whole_lines(old: str, new: str) -> tuple[str, str]:
    """Add a newline to both texts of an edit within a file: they do not end where it ends."""
    is_within = old and new and not old.endswith("\n") and not new.endswith("\n")
    return (f"{old}\n", f"{new}\n") if is_within else (old, new)
