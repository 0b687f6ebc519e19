"""Tool calls: announced once, updated while they run, ended once, each under its own id."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from support.acp_updates import Json, RecordingClient, texts
from support.sample_events import call_finished, function_response
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolLocation, ToolResult
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.updates.tool_calls import TOOL_KINDS, ToolCalls, call_locations

READ = FunctionCall("read_file", {"path": "a.txt"}, "same")
SHELL = FunctionCall("run_shell_command", {"command": "make test", "directory": "sub"}, "same")
CANCELLED = ToolResult("no", "You rejected this call.", ToolError("no", ErrorType.CANCELLED))
TERMINAL = ClientCapabilities(shows_terminal_output=True)


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


def state(call: FunctionCall, to: CallState, index: int = 0) -> StateChanged:
    return StateChanged(index, call, to)


class TestLife:
    def test_a_call_is_announced_with_all_that_is_known(self) -> None:
        client = RecordingClient()
        (sent,) = client.handle(state(READ, CallState.VALIDATING))
        assert sent == {
            "sessionUpdate": "tool_call",
            "toolCallId": client.updates.call_id_for("", 0),
            "status": "pending",
            "title": "Read a.txt",
            "kind": "read",
            "locations": [{"path": "/w/a.txt", "line": 3}],
            "rawInput": {"path": "a.txt"},
            "_meta": {"tejat": {"toolName": "read_file"}},
        }

    def test_only_changes_are_sent_after_that(self) -> None:
        client = RecordingClient()
        states = [CallState.VALIDATING, CallState.AWAITING_APPROVAL, CallState.SCHEDULED, CallState.EXECUTING]
        client.handle(*(state(READ, each) for each in (*states, CallState.EXECUTING)))
        call_id = client.updates.call_id_for("", 0)
        client.handle(state(READ, CallState.SUCCESS))
        client.handle(call_finished(READ, ToolResult("one", "Read"), function_response(READ, "one")))
        assert client.sent[1:] == [
            {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress"},
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call_id,
                "status": "completed",
                "content": [{"type": "content", "content": {"type": "text", "text": "```\none\n```"}}],
                "rawOutput": {"output": "one"},
            },
        ]

    def test_a_question_of_a_running_call_makes_it_wait(self) -> None:
        client = RecordingClient()
        for each in (CallState.EXECUTING, CallState.AWAITING_APPROVAL, CallState.EXECUTING):
            client.handle(state(READ, each))
        assert [each["status"] for each in client.sent] == ["in_progress", "pending", "in_progress"]

    def test_a_call_that_never_began_has_an_announcement_too(self) -> None:
        client = RecordingClient()
        sent = client.handle(call_finished(READ, CANCELLED, seconds=0.0))
        assert [each["sessionUpdate"] for each in sent] == ["tool_call", "tool_call_update"]
        assert sent[1]["status"] == "failed"

    def test_a_call_that_a_hook_rewrote_is_described_again(self) -> None:
        client = RecordingClient()
        client.handle(state(READ, CallState.VALIDATING))
        other = replace(READ, args={"path": "b.txt"})
        (sent,) = client.handle(state(other, CallState.AWAITING_APPROVAL))
        assert (sent["title"], sent["rawInput"]) == ("Read b.txt", {"path": "b.txt"})
        assert sent["locations"] == [{"path": "/w/b.txt", "line": 3}]

    def test_calls_without_an_end_are_ended(self) -> None:
        client = RecordingClient()
        client.handle(state(READ, CallState.EXECUTING))
        client.updates.calls.close_all()
        client.updates.calls.close_all()
        assert [each.get("status") for each in client.sent] == ["in_progress", "failed"]
        assert client.updates.call_id_for("", 0) is None


class TestIds:
    def test_calls_with_the_same_id_of_the_model_have_different_ids(self) -> None:
        client = RecordingClient()
        finished = call_finished(READ, ToolResult("one"))
        client.handle(
            *(state(READ, CallState.EXECUTING, index) for index in (0, 1)),
            finished,
            replace(finished, index=1),
            state(READ, CallState.EXECUTING),
        )
        announced = [each["toolCallId"] for each in client.sent if each["sessionUpdate"] == "tool_call"]
        assert len(set(announced)) == len(announced) == 3
        ended = [each["toolCallId"] for each in client.sent if each.get("status") == "completed"]
        assert ended == announced[:2]

    def test_calls_of_agents_are_kept_apart(self) -> None:
        client = RecordingClient()
        client.updates.calls.handle_event(state(READ, CallState.EXECUTING))
        client.updates.calls.handle_event(state(READ, CallState.EXECUTING), agent="a#1", parent="p")
        mine, theirs = client.sent
        assert client.updates.call_id_for("", 0) == mine["toolCallId"] != theirs["toolCallId"]
        assert client.updates.call_id_for("a#1", 0) == theirs["toolCallId"]
        assert theirs["title"] == "a#1: Read a.txt"
        assert theirs["_meta"] == {"tejat": {"toolName": "read_file", "agent": "a#1", "parentToolCallId": "p"}}

    def test_a_call_that_is_not_there_has_none(self) -> None:
        client = RecordingClient()
        assert (client.updates.call_id_for("", 0), client.updates.call_id_for("", None)) == (None, None)

    def test_a_replay_and_the_live_session_use_different_ids(self) -> None:
        ids = {RecordingClient().handle(state(READ, CallState.VALIDATING))[0]["toolCallId"] for _ in range(2)}
        assert len(ids) == 2


class TestDescriptions:
    @pytest.mark.parametrize(
        ("call", "title"),
        [
            (SHELL, "make test (in sub)"),
            (FunctionCall("run_shell_command", {"command": "a\nb\nc"}), "a (and 2 more lines)"),
            (FunctionCall("run_shell_command", {}), "Run"),
            (FunctionCall("replace", {"file_path": "/w/src/a.py"}), "Edit src/a.py"),
            (FunctionCall("github__search", {"q": "x"}), 'Call github/search q="x"'),
            (FunctionCall("plugin", {"q": "x"}), "plugin: about plugin"),
            (FunctionCall("read_file", {"path": "a\x1b[31m\nb"}), "Read a<U+001B>[31m (and 1 more line)"),
        ],
    )
    def test_titles(self, call: FunctionCall, title: str) -> None:
        (sent,) = RecordingClient().handle(state(call, CallState.VALIDATING))
        assert sent["title"] == title

    def test_every_kind_is_one_of_the_protocol(self) -> None:
        assert set(TOOL_KINDS) == set(Kind)
        for kind in Kind:
            client = RecordingClient()
            calls = ToolCalls(client.take, lambda _, kind=kind: CallDetails(kind, "x"), ClientCapabilities())
            calls.handle_event(state(READ, CallState.VALIDATING))

    def test_locations_are_absolute_with_lines_from_1(self) -> None:
        places = (ToolLocation("/w/a", 0), ToolLocation("b", 2), ToolLocation("/w/c"), ToolLocation("/w/d", 7))
        assert call_locations(CallDetails(Kind.READ, "", places)) == [
            {"path": "/w/a", "line": 1},
            {"path": "/w/c"},
            {"path": "/w/d", "line": 7},
        ]


class TestLiveOutput:
    def test_output_replaces_the_content_at_a_limited_rate(self) -> None:
        async def main() -> None:
            client = RecordingClient()
            client.handle(state(SHELL, CallState.EXECUTING))
            sent = client.handle(*(OutputUpdated(0, SHELL, f"line {number}") for number in range(500)))
            assert [texts(each["content"]) for each in sent] == [["```\nline 0\n```"]]
            await asyncio.sleep(0.3)
            assert texts(client.sent[-1]["content"]) == ["```\nline 499\n```"]
            assert len(client.sent) == 3

        run(main)

    def test_the_end_replaces_output_that_waits(self) -> None:
        async def main() -> None:
            client = RecordingClient()
            client.handle(
                state(SHELL, CallState.EXECUTING),
                OutputUpdated(0, SHELL, "a"),
                OutputUpdated(0, SHELL, "a\nb"),
                call_finished(SHELL, ToolResult("", "a\nb\nc\n", exit_code=0)),
            )
            await asyncio.sleep(0.2)
            assert [texts(each["content"]) for each in client.sent[1:]] == [["```\na\n```"], ["```\na\nb\nc\n```"]]

        run(main)

    def test_a_terminal_of_the_client_shows_the_output_itself(self) -> None:
        async def main() -> None:
            client = RecordingClient(TERMINAL)
            client.handle(state(SHELL, CallState.EXECUTING))
            client.updates.show_terminal("same", "t1")
            client.updates.show_terminal("unknown", "t2")
            client.handle(OutputUpdated(0, SHELL, "a"))
            client.handle(call_finished(SHELL, ToolResult("", "a\n", exit_code=1)))
            assert [each.get("content") for each in client.sent[1:]] == [
                [{"type": "terminal", "terminalId": "t1"}],
                [
                    {"type": "terminal", "terminalId": "t1"},
                    {"type": "content", "content": {"type": "text", "text": "exit 1"}},
                ],
            ]
            assert "_meta" not in client.sent[-1]

        run(main)


class TestTerminalExtension:
    def announced(self, client: RecordingClient) -> Json:
        return client.handle(state(SHELL, CallState.EXECUTING))[0]

    def test_a_command_has_a_terminal_from_the_start(self) -> None:
        sent = self.announced(RecordingClient(TERMINAL))
        call_id = sent["toolCallId"]
        assert sent["content"] == [{"type": "terminal", "terminalId": call_id}]
        assert sent["_meta"]["terminal_info"] == {"terminal_id": call_id, "cwd": "/w/sub"}

    def test_output_is_appended_and_nothing_of_it_is_lost(self) -> None:
        async def main() -> None:
            client = RecordingClient(TERMINAL)
            call_id = self.announced(client)["toolCallId"]
            client.handle(OutputUpdated(0, SHELL, "a\n"), OutputUpdated(0, SHELL, "a\nb\n"))
            client.handle(call_finished(SHELL, ToolResult("", "a\nb\n", exit_code=3)))
            assert [each["_meta"] for each in client.sent[1:]] == [
                {"terminal_output": {"terminal_id": call_id, "data": "a\n"}},
                {"terminal_output": {"terminal_id": call_id, "data": "b\n"}},
                {"terminal_exit": {"terminal_id": call_id, "exit_code": 3, "signal": None}},
            ]
            assert client.sent[-1]["content"][0] == {"type": "terminal", "terminalId": call_id}
            assert (client.sent[-1]["status"], texts(client.sent[-1]["content"])) == ("failed", ["exit 3"])

        run(main)

    def test_output_that_was_not_streamed_comes_at_the_end(self) -> None:
        client = RecordingClient(TERMINAL)
        call_id = self.announced(client)["toolCallId"]
        sent = client.handle(call_finished(SHELL, ToolResult("", "a\n", exit_code=-9)))
        assert [each["_meta"] for each in sent] == [
            {"terminal_output": {"terminal_id": call_id, "data": "a\n"}},
            {"terminal_exit": {"terminal_id": call_id, "exit_code": None, "signal": "SIGKILL"}},
        ]

    def test_a_rejected_command_shows_why_instead(self) -> None:
        client = RecordingClient(TERMINAL)
        self.announced(client)
        (sent,) = client.handle(call_finished(SHELL, CANCELLED, seconds=0.0))
        assert [each["type"] for each in sent["content"]] == ["content"]

    def test_a_background_process_has_none(self) -> None:
        client = RecordingClient(TERMINAL)
        call = replace(SHELL, args={"command": "serve", "is_background": True})
        (sent,) = client.handle(state(call, CallState.EXECUTING))
        assert ("content" in sent, "terminal_info" in sent["_meta"]) == (False, False)

    def test_a_client_without_the_extension_gets_text(self) -> None:
        sent = self.announced(RecordingClient())
        assert ("content" in sent, "terminal_info" in sent["_meta"]) == (False, False)

    def test_a_replay_has_none(self) -> None:
        sent = self.announced(RecordingClient(TERMINAL, is_replay=True))
        assert ("content" in sent, "terminal_info" in sent["_meta"]) == (False, False)
