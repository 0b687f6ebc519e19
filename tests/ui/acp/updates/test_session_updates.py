"""Every event of a session as the client sees it: valid, visible, and in its place."""

import asyncio
import base64
from typing import Any

import pytest

from support.acp_updates import Json, RecordingClient, texts
from support.media_files import png
from support.sample_events import ALL_EVENTS, CALL, LAST_ANSWER, RETRYING, call_finished
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    AwaitingModel,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    PlanPresented,
    Prompted,
    RequestFailed,
    RunEnded,
    Severity,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, InlineData
from tejat.core.model import FailureKind, ModelResponse, Usage
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.acp.client import ClientCapabilities

MESSAGE, THOUGHT, USER = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
INVOKE = FunctionCall("invoke_agent", {"agent_name": "reader", "prompt": "Find the parser."}, "call-9")
STARTED = AgentStarted("reader#1", "reader", "call-9", "Find the parser.", "m")
ENDED = AgentEnded("reader#1", "reader", SubagentEnd.GOAL, turns=1, calls=1, usage=Usage(5, 0, 3), seconds=0.5)


def chunks(sent: list[Json]) -> list[tuple[str, str]]:
    return [(each["sessionUpdate"], each["content"]["text"]) for each in sent]


@pytest.mark.parametrize("is_replay", [False, True])
@pytest.mark.parametrize("shows_terminal_output", [False, True])
def test_every_kind_of_event_is_valid(is_replay: bool, shows_terminal_output: bool) -> None:
    async def main() -> None:
        client = RecordingClient(ClientCapabilities(shows_terminal_output=shows_terminal_output), is_replay=is_replay)
        client.handle(*ALL_EVENTS)
        assert len(client.sent) > 30

    asyncio.run(main())


class TestMessages:
    def test_each_response_is_a_message(self) -> None:
        client = RecordingClient()
        client.handle(ThoughtStreamed("Hm."), TextStreamed("I "), TextStreamed("look."))
        client.handle(Answered(ModelResponse(model_message("I look.")), 0.1))
        client.handle(TextStreamed("Done."), LAST_ANSWER)
        assert chunks(client.sent) == [(THOUGHT, "Hm."), (MESSAGE, "I "), (MESSAGE, "look."), (MESSAGE, "\n\nDone.")]
        ids = [each["messageId"] for each in client.sent]
        assert ids[1] == ids[2]
        assert len(set(ids)) == 3

    def test_a_side_request_does_not_end_the_message(self) -> None:
        client = RecordingClient()
        client.handle(TextStreamed("I "), replace(LAST_ANSWER, purpose="summary"), TextStreamed("look."))
        assert client.sent[0]["messageId"] == client.sent[1]["messageId"]

    def test_control_sequences_are_dropped_and_emoji_stay(self) -> None:
        client = RecordingClient()
        client.handle(TextStreamed("\x1b[31mred\x1b[0m 👩\u200d💻"))
        assert client.text_of(MESSAGE) == "red 👩\u200d💻"

    def test_the_prompt_is_sent_in_a_replay_only(self) -> None:
        picture = InlineData("image/png", png())
        prompted = Prompted(user_message("see @a", "\ncontent", picture, InlineData("application/pdf", b"1")), "see @a")
        assert RecordingClient().handle(prompted, Steered("more")) == []
        sent = RecordingClient(is_replay=True).handle(prompted, Steered("more"))
        assert [each["sessionUpdate"] for each in sent] == [USER] * 4
        assert [each["content"] for each in sent] == [
            {"type": "text", "text": "see @a"},
            {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png()).decode()},
            {"type": "text", "text": "[application/pdf, 1 bytes]"},
            {"type": "text", "text": "more"},
        ]
        assert len({each["messageId"] for each in sent}) == 2

    def test_a_replayed_prompt_without_display_text_shows_its_message(self) -> None:
        sent = RecordingClient(is_replay=True).handle(Prompted(user_message("hello"), ""))
        assert chunks(sent) == [(USER, "hello")]


class TestNotices:
    @pytest.mark.parametrize(
        ("event", "text"),
        [
            (Noticed("Full.", Severity.ERROR), "Error: Full."),
            (Noticed("a\x1bb", Severity.NOTE), "Note: a<U+001B>b"),
            (AwaitingModel(15.2, 3900), "Note: Waiting for the model (about 3,900 tokens sent, 15 s so far)..."),
            (RETRYING, "Warning: The service is busy. Retrying in 2 s (attempt 2 of 5)."),
            (ModelChanged("a", "b", "It is busy."), "Warning: Switched from a to b: It is busy."),
            (HistoryRepaired(("Did it.",)), "Warning: Repaired the session history: Did it."),
            (CompressionStarted(), "Note: Compressing the conversation to free up context..."),
            (
                Compressed(1000, 10, CompressionStatus.COMPRESSED),
                "Note: Compressed the conversation from 1000 to 10 tokens.",
            ),
            (
                Compressed(9, 9, CompressionStatus.FAILED, "No summary."),
                "Warning: Could not compress the conversation: No summary.",
            ),
            (
                LoopDetected("Again.", ends_run=False),
                "Warning: The model is repeating itself: Again. It has been warned.",
            ),
            (
                RequestFailed(FailureKind.BLOCKED, "Blocked.", 0.1, "summary"),
                "Note: A side request (summary) failed: Blocked.",
            ),
        ],
    )
    def test_notices_are_thoughts(self, event: AgentEvent, text: str) -> None:
        client = RecordingClient()
        (sent,) = client.handle(event)
        assert chunks([sent]) == [(THOUGHT, f"{text}\n\n")]
        assert set(sent["_meta"]["tejat"]) == {"severity"}

    def test_the_end_of_a_run_reports_a_failed_conversation(self) -> None:
        assert RecordingClient().handle(RequestFailed(FailureKind.BLOCKED, "Blocked.", 0.1)) == []

    def test_a_retry_voids_the_text_and_says_so_where_it_stands(self) -> None:
        client = RecordingClient()
        client.handle(TextStreamed("Hel"), RETRYING, TextStreamed("Hello."))
        assert [kind for kind, _ in chunks(client.sent)] == [MESSAGE, THOUGHT, MESSAGE, MESSAGE]
        assert chunks(client.sent)[2] == (MESSAGE, "Warning: This attempt failed. Ignore the text above.\n\n")
        ids = [each["messageId"] for each in client.sent]
        assert len(set(ids)) == 4

    @pytest.mark.parametrize(
        "events", [[RETRYING], [ThoughtStreamed("Hm."), RETRYING], [TextStreamed("a"), replace(RETRYING, purpose="x")]]
    )
    def test_a_retry_without_text_voids_nothing(self, events: list[AgentEvent]) -> None:
        client = RecordingClient()
        client.handle(*events)
        assert "Ignore" not in client.text_of(MESSAGE)
        assert "Retrying" in client.text_of(THOUGHT)

    @pytest.mark.parametrize(("mode", "heading"), [("", "Plan: /p/plan.md"), ("default", "Approved plan: /p/plan.md")])
    def test_a_plan_is_a_message(self, mode: str, heading: str) -> None:
        sent = RecordingClient().handle(PlanPresented("/p/plan.md", "# Plan\n\n1. Do it.", mode))
        assert chunks(sent) == [(MESSAGE, f"{heading}\n\n# Plan\n\n1. Do it.\n\n")]


class TestTodos:
    def test_todos_are_the_plan(self) -> None:
        todos = TodoList(tuple(Todo(f"Do {status}\x1b", status) for status in TodoStatus))
        call = FunctionCall("write_todos", {}, "c1")
        sent = RecordingClient().handle(call_finished(call, ToolResult("ok", todos)))
        assert sent[-1]["sessionUpdate"] == "plan"
        assert [(each["content"], each["status"], each["priority"]) for each in sent[-1]["entries"]] == [
            ("Do pending<U+001B>", "pending", "medium"),
            ("Do in_progress<U+001B>", "in_progress", "medium"),
            ("Do completed<U+001B>", "completed", "medium"),
            ("Do cancelled<U+001B> (cancelled)", "completed", "medium"),
            ("Do blocked<U+001B> (blocked)", "pending", "medium"),
        ]
        assert [each.get("_meta") for each in sent[-1]["entries"]][3:] == [
            {"tejat": {"status": "cancelled"}},
            {"tejat": {"status": "blocked"}},
        ]

    def test_an_empty_list_clears_the_plan(self) -> None:
        call = FunctionCall("write_todos", {}, "c1")
        sent = RecordingClient().handle(call_finished(call, ToolResult("ok", TodoList())))
        assert sent[-1] == {"sessionUpdate": "plan", "entries": []}

    def test_todos_of_sub_agents_are_not(self) -> None:
        todos = call_finished(FunctionCall("write_todos", {}, "c1"), ToolResult("ok", TodoList((Todo("a"),))))
        sent = RecordingClient().handle(AgentActivity("a#1", "a", todos))
        assert "plan" not in [each["sessionUpdate"] for each in sent]


class TestSubagents:
    def run(self, *events: AgentEvent) -> RecordingClient:
        async def main() -> RecordingClient:
            client = RecordingClient()
            client.handle(StateChanged(0, INVOKE, CallState.EXECUTING), STARTED)
            for event in events:
                client.handle(event)
            await asyncio.sleep(0.25)
            return client

        return asyncio.run(main())

    def inside(self, *events: AgentEvent) -> list[AgentActivity]:
        return [AgentActivity("reader#1", "reader", event) for event in events]

    def test_calls_of_an_agent_name_it_and_the_call_that_runs_it(self) -> None:
        finished = call_finished(CALL, ToolResult("one"))
        client = self.run(*self.inside(StateChanged(0, CALL, CallState.EXECUTING), finished))
        parent, call = [each for each in client.sent if each["sessionUpdate"] == "tool_call"]
        assert call["title"] == "reader#1: Read a.txt"
        assert call["_meta"]["tejat"]["parentToolCallId"] == parent["toolCallId"]
        ends = [each["toolCallId"] for each in client.sent if each.get("status") == "completed"]
        assert ends == [call["toolCallId"]]

    def test_the_call_that_runs_it_shows_its_progress(self) -> None:
        answered = Answered(ModelResponse(model_message("x"), usage=Usage(10, 0, 5)), 0.1)
        client = self.run(*self.inside(answered, StateChanged(0, CALL, CallState.EXECUTING)))
        parent = client.sent[0]["toolCallId"]
        shown = [each for each in client.sent if each["toolCallId"] == parent and "content" in each]
        assert texts(shown[-1]["content"]) == [
            "Find the parser.\n\n- Reading a.txt (running)\n\n1 turn, 15 tokens",
        ]

    def test_its_end_is_in_the_end_of_the_call(self) -> None:
        client = self.run(ENDED, call_finished(INVOKE, ToolResult("", "It is in a.py."), seconds=0.5))
        assert texts(client.sent[-1]["content"]) == ["It is in a.py.", "ok reader, 1 call, 8 tokens, 0.5 s"]

    def test_what_it_says_is_not_sent_and_its_notices_are(self) -> None:
        events = self.inside(TextStreamed("Inside."), ThoughtStreamed("Hm."), RETRYING, Noticed("Careful."))
        client = self.run(*events)
        messages = [each for each in client.sent if each["sessionUpdate"] in (MESSAGE, THOUGHT)]
        assert chunks(messages) == [
            (THOUGHT, "reader#1: Warning: The service is busy. Retrying in 2 s (attempt 2 of 5).\n\n"),
            (THOUGHT, "reader#1: Warning: Careful.\n\n"),
        ]

    def test_handing_in_the_result_is_no_tool_call(self) -> None:
        call = FunctionCall("complete_task", {"result": "x"}, "c1")
        client = self.run(*self.inside(StateChanged(0, call, CallState.EXECUTING), call_finished(call, ToolResult(""))))
        assert [each["sessionUpdate"] for each in client.sent].count("tool_call") == 1

    def test_calls_that_its_end_leaves_open_are_ended(self) -> None:
        client = self.run(*self.inside(StateChanged(0, CALL, CallState.EXECUTING)), ENDED)
        assert client.sent[-1]["status"] == "failed"

    def test_an_agent_without_a_call_is_reported_in_notices(self) -> None:
        client = RecordingClient()
        client.handle(STARTED, ENDED)
        assert client.text_of(THOUGHT) == (
            "Note: Agent reader#1 started: Find the parser.\n\n"
            "Note: Agent ended: ok reader, 1 call, 8 tokens, 0.5 s\n\n"
        )


def test_the_end_of_a_run_ends_its_calls_and_its_message() -> None:
    async def main() -> None:
        client = RecordingClient()
        client.handle(TextStreamed("a"), StateChanged(0, CALL, CallState.EXECUTING))
        client.handle(OutputUpdated(0, CALL, "x"), OutputUpdated(0, CALL, "y"), RunEnded(EndReason.INTERRUPTED))
        assert client.sent[-1]["status"] == "failed"
        count = len(client.sent)
        await asyncio.sleep(0.2)
        assert len(client.sent) == count
        client.handle(TextStreamed("b"))
        assert client.sent[0]["messageId"] != client.sent[-1]["messageId"]

    asyncio.run(main())


def test_calls_can_be_described_by_another() -> None:
    client = RecordingClient()
    details = client.updates.describe(CALL)

    def describe(_: FunctionCall) -> Any:
        return replace(details, locations=())

    client.updates.describe = describe
    assert client.handle(StateChanged(0, CALL, CallState.VALIDATING))[0]["locations"] == []
