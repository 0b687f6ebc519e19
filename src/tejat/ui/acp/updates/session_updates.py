"""Events of a session as updates for the client."""

from collections.abc import Sequence

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    AwaitingModel,
    Noticed,
    PlanPresented,
    Prompted,
    RequestFailed,
    Retrying,
    RunEnded,
    Severity,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.frozen import replace
from tejat.core.i18n import _, translate
from tejat.core.messages.types import InlineData, JsonObject, JsonValue
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_line, sanitize_text
from tejat.core.tools.call_events import CallFinished, Event, OutputUpdated, StateChanged
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.engine.subagents.complete_task import COMPLETE_TASK
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.updates.call_content import agent_text
from tejat.ui.acp.updates.content_blocks import keep_head, media_block, text_block
from tejat.ui.acp.updates.messages import ChunkKind, MessageChunks
from tejat.ui.acp.updates.tool_calls import DescribeCall, OpenCall, SendUpdate, ToolCalls
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error
from tejat.ui.shared.labels.text_summary import summarize_line
from tejat.ui.shared.labels.todos import MAX_TODO_CHARS
from tejat.ui.shared.notices import retry_message, screen_notice, severity_label, side_request_notice, waiting_message
from tejat.workspace.text.terminal_text import strip_sequences

_MAX_PLAN_CHARS = 256 * 1024


class SessionUpdates:
    """Sends what happens in a session; `send` gets the value of `update` in `session/update`.

    Notices are thoughts, so that messages have only what the model says to the user, and plans that it presents. Calls
    of sub-agents are tool calls too, and the call that runs one shows its progress; what it says is not sent. How a run
    ended is left to the answer of the prompt. With `is_replay`, prompts are sent too. `folder` is the working
    directory.
    """

    def __init__(
        self,
        send: SendUpdate,
        describe: DescribeCall,
        capabilities: ClientCapabilities,
        *,
        folder: str = "",
        is_replay: bool = False,
    ) -> None:
        if is_replay:  # nothing is running
            capabilities = replace(capabilities, shows_terminal_output=False)
        self._forward = send
        self._folder = folder
        self._is_replay = is_replay
        self._messages = MessageChunks(send)
        self.calls = ToolCalls(self.send, describe, capabilities, folder=folder)
        self._agents: dict[str, tuple[AgentProgress, OpenCall | None]] = {}

    @property
    def describe(self) -> DescribeCall:
        """Describes the calls; it can be replaced."""
        return self.calls.describe

    @describe.setter
    def describe(self, describe: DescribeCall) -> None:
        self.calls.describe = describe

    def handle_event(self, event: AgentEvent) -> None:
        match event:
            case TextStreamed(text):
                self._messages.add_text(ChunkKind.MESSAGE, strip_sequences(text))
            case ThoughtStreamed(text):
                self._messages.add_text(ChunkKind.THOUGHT, strip_sequences(text))
            case Answered(purpose="conversation"):
                self._messages.end_messages()
            case Retrying():
                self._report_retry(event)
            case StateChanged() | OutputUpdated() | CallFinished():
                self.calls.handle_event(event)
                self._show_todos(event)
            case AgentStarted() | AgentActivity() | AgentEnded():
                self._handle_agent(event)
            case PlanPresented():
                self._show_plan(event)
            case Prompted() | Steered():
                self._show_prompt(event)
            case RunEnded():
                self._messages.end_messages()
                self._messages.note_other_update()  # the next prompt separates them
                self.calls.close_all()
            case _:
                self._show_notice(_notice_of(event))

    def send(self, update: JsonObject) -> None:
        """Send an update between those of the events."""
        self._messages.note_other_update()
        self._forward(update)

    def call_id_for(self, agent: str, index: int | None) -> str | None:
        """The id of the tool call of an agent, empty for the session's own, at a position in its batch.

        None if there is no such call now.
        """
        call = self.calls.find(agent, index)
        return None if call is None else call.call_id

    def show_terminal(self, call_id: str, terminal_id: str, *, agent: str = "") -> None:
        """Show a terminal of the client in the tool call that runs in it; `call_id` is the id of the model."""
        call = self.calls.find_started(agent, call_id)
        if call is not None:
            self.calls.show_terminal(call, terminal_id)

    def _report_retry(self, event: Retrying, agent: str = "") -> None:
        self._show_notice(Noticed(retry_message(event, wait=event.wait) + "."), agent)
        if agent or event.purpose != CONVERSATION:
            return
        if self._messages.has_begun(ChunkKind.MESSAGE):  # chunks cannot be taken back
            void = Noticed(_("This attempt failed. Ignore the text above."))
            self._show_notice(void, kind=ChunkKind.MESSAGE)
        self._messages.end_messages()

    def _handle_agent(self, event: AgentStarted | AgentActivity | AgentEnded) -> None:
        match event:
            case AgentStarted(agent_id, call_id=call_id):
                progress = AgentProgress(event, since=0.0, folder=self._folder)
                parent = self.calls.find_started("", call_id)
                self._agents[agent_id] = progress, parent
                if parent is None:
                    text = _("Agent {agent} started: {task}", agent=agent_id, task=progress.task)
                    self._show_notice(Noticed(text, Severity.NOTE))
            case AgentActivity(agent_id, _name, inner):
                self._handle_activity(agent_id, inner)
            case AgentEnded(agent_id):
                self.calls.close_all(agent_id)
                _progress, parent = self._agents.pop(agent_id, (None, None))
                if parent is not None:
                    parent.agent = event
                else:
                    words = ". ".join(filter(None, (", ".join(agent_end_labels(event)), agent_error(event))))
                    self._show_notice(Noticed(_("Agent ended: {figures}", figures=words), Severity.NOTE))

    def _handle_activity(self, agent_id: str, event: AgentEvent) -> None:
        progress, parent = self._agents.get(agent_id, (None, None))
        match event:
            case Retrying():
                self._report_retry(event, agent_id)
            case StateChanged() | OutputUpdated() | CallFinished():
                if event.call.name != COMPLETE_TASK:
                    self.calls.handle_event(event, agent=agent_id, parent="" if parent is None else parent.call_id)
            case _:
                self._show_notice(_notice_of(event), agent_id)
        if progress is None or isinstance(event, OutputUpdated | TextStreamed | ThoughtStreamed):
            return
        progress.record(event)
        if parent is not None:
            self.calls.show_text(parent, agent_text(progress))

    def _show_todos(self, event: Event) -> None:
        todos = event.result.return_display if isinstance(event, CallFinished) else None
        if isinstance(todos, TodoList):
            self.send({"sessionUpdate": "plan", "entries": list(map(_plan_entry, todos.todos))})

    def _show_plan(self, plan: PlanPresented) -> None:
        path = sanitize_line(plan.path)
        heading = _("Approved plan: {path}", path=path) if plan.is_approved else _("Plan: {path}", path=path)
        text = f"{heading}\n\n{keep_head(strip_sequences(plan.text), _MAX_PLAN_CHARS)}"
        self._messages.add_notice(ChunkKind.MESSAGE, text, {"tejat": {"plan": plan.path}})

    def _show_prompt(self, event: Prompted | Steered) -> None:
        """Send what the user said, in a replay only: otherwise the client has shown it."""
        if not self._is_replay:
            return
        if isinstance(event, Steered):
            self._messages.add_whole(ChunkKind.USER, [text_block(event.text)])
            return
        media = [part for part in event.message.parts if isinstance(part, InlineData)]
        shown: Sequence[JsonObject] = [media_block(part) or text_block(part.label) for part in media]
        text = event.display_text or event.message.text
        self._messages.add_whole(ChunkKind.USER, [*([text_block(text)] if text else []), *shown])

    def _show_notice(self, notice: Noticed | None, agent: str = "", *, kind: ChunkKind = ChunkKind.THOUGHT) -> None:
        if notice is None:
            return
        text = f"{severity_label(notice.severity)}: {translate(notice.message).strip()}"
        text = sanitize_text(f"{agent}: {text}" if agent else text)
        self._messages.add_notice(kind, text, {"tejat": {"severity": notice.severity.value}})


def _notice_of(event: AgentEvent) -> Noticed | None:
    match event:
        case RequestFailed():
            return side_request_notice(event)
        case AwaitingModel():
            return Noticed(waiting_message(event), Severity.NOTE)
        case _:
            return screen_notice(event)


def _plan_entry(todo: Todo) -> JsonObject:
    """An entry of the plan, which knows three states: what was cancelled counts as completed, what is blocked waits."""
    text = summarize_line(todo.description, limit=MAX_TODO_CHARS)
    match todo.status:
        case TodoStatus.CANCELLED:
            status, text = "completed", _("{todo} (cancelled)", todo=text)
        case TodoStatus.BLOCKED:
            status, text = "pending", _("{todo} (blocked)", todo=text)
        case _:
            status = todo.status.value
    entry: dict[str, JsonValue] = {"content": text, "priority": "medium", "status": status}
    return entry if status == todo.status.value else {**entry, "_meta": {"tejat": {"status": todo.status.value}}}
