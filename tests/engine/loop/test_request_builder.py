"""Requests that fit: whole sessions on servers with small context windows."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.model_servers.local import Answer, LocalModelServer, llama_cpp
from support.program import ProgramEnv
from tejat.app.session.lifespan import open_agent
from tejat.core.agent.events import (
    AgentEvent,
    Compressed,
    CompressionStatus,
    EndReason,
    Noticed,
    Retrying,
    RunEnded,
)
from tejat.core.agent.options import AgentOptions
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.tokens import estimate_message_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import Usage
from tejat.engine.sessions.session import Session
from tejat.engine.sessions.session_store import SessionStore
from tejat.models import ModelOptions, open_model

WINDOW = 4096
LAST_LINE = 'LIMIT = "old"'


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    for number in range(150):
        (machine.project / f"module_{number}.py").write_text("")
    lines = [f"def function_{number}(value):  # {'x' * 20}\n    return value + {number}" for number in range(520)]
    (machine.project / "big.py").write_text("\n".join([*lines, LAST_LINE, ""]))
    assert (machine.project / "big.py").stat().st_size > 36_000
    return machine


def last_text(messages: Sequence[Mapping[str, Any]]) -> str:
    return str(messages[-1]["content"])


def agent_options(machine: ProgramEnv, server: LocalModelServer, resume: str | None = None) -> AgentOptions:
    return AgentOptions(
        directories=(str(machine.project),),
        model="gemma-local",
        mode="yolo",
        resume=resume,
        environment={**machine.environment, "OPENAI_BASE_URL": server.base},
    )


def run(
    machine: ProgramEnv, server: LocalModelServer, *prompts: str, resume: str | None = None
) -> tuple[list[RunEnded], list[AgentEvent], Session]:
    events: list[AgentEvent] = []

    async def main() -> tuple[list[RunEnded], list[AgentEvent], Session]:
        async with open_agent(agent_options(machine, server, resume), None) as session:
            ended = [await session.prompt(prompt, events.append) for prompt in prompts]
            return ended, events, session

    with server:
        return asyncio.run(main())


class Editor:
    """A model that pages through a file to its last line, changes that and ends."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.offsets: list[int] = []

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> Answer:
        seen = last_text(messages)
        if "<record>" in seen:
            return "<state_snapshot>The last line of big.py is to be changed.</state_snapshot>"
        if "Successfully modified" in seen:
            return "Done."
        if LAST_LINE in seen:
            change = {"file_path": self.path, "old_string": LAST_LINE, "new_string": 'LIMIT = "new"'}
            return {"replace": change}
        rest = re.search(r"offset (\d+) for the rest", seen)
        offset = self.offsets[-1] + 100 if self.offsets else 0
        assert len(self.offsets) < 200
        self.offsets.append(int(rest[1]) if rest else offset)
        return {"read_file": {"path": self.path, "offset": self.offsets[-1], "limit": 100}}


@pytest.mark.parametrize("window", [WINDOW, 8192])
def test_a_large_file_is_read_and_edited_in_a_small_window(machine: ProgramEnv, window: int) -> None:
    editor = Editor(machine.project / "big.py")
    server = LocalModelServer(editor, window=window)
    (ended,), events, session = run(machine, server, "Set LIMIT in big.py to new.")
    assert (ended.reason, ended.text) == (EndReason.FINISHED, "Done.")
    assert 'LIMIT = "new"' in (machine.project / "big.py").read_text()
    assert len(server.sizes) > 10
    assert server.refused == []
    assert 0.3 < session.conversation.tokens / session.conversation.context_window < 1
    notices = [event.message for event in events if isinstance(event, Noticed)]
    assert any(f"gemma-local has a context window of {window:,} tokens" in notice for notice in notices)


def test_the_lean_profile_is_small(machine: ProgramEnv) -> None:
    server = LocalModelServer(lambda _: "Hello.", window=WINDOW)
    run(machine, server, "hi")
    (body,) = server.bodies
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert names == [
        *("list_directory", "read_file", "search_file_content", "replace", "write_file", "run_shell_command"),
        "find_tools",
    ]
    fixed = len(str(body["messages"][0])) + len(str(body["tools"]))
    assert fixed / 4 < 1800


@pytest.mark.parametrize(("window", "token_length"), [(WINDOW, 3.0), (32_768, 3.0), (65_536, 3.0), (65_536, 1.2)])
def test_a_session_of_many_turns_is_summarised_to_what_fits(
    machine: ProgramEnv, window: int, token_length: float
) -> None:
    session_id = store_session(machine, turns=2_000)

    def answer(messages: Sequence[Mapping[str, Any]]) -> Answer:
        return "<state_snapshot>Files were read.</state_snapshot>" if "<record>" in last_text(messages) else "Done."

    server = LocalModelServer(answer, window=window, token_length=token_length)
    (ended,), events, session = run(machine, server, "And now?", resume=session_id)
    assert (ended.reason, ended.text) == (EndReason.FINISHED, "Done.")
    (outcome,) = [event for event in events if isinstance(event, Compressed)]
    assert outcome.status is CompressionStatus.COMPRESSED
    assert max(server.sizes) <= window
    # Where a token is as long as expected, nothing is tried in vain.
    assert len(server.refused) <= (0 if token_length == 3.0 else 3)
    assert estimate_message_tokens(session.conversation.history.messages) < window


def store_session(machine: ProgramEnv, turns: int) -> str:
    """Store a session in which each of very many prompts led to a call."""
    directory = machine.home / ".local" / "state" / "tejat" / "sessions"
    journal = SessionStore(str(directory), str(machine.project)).create(session_id="long-session", model="gemma-local")
    with journal.sync_once():
        for number in range(turns):
            prompt, call = f"Read {number}.", FunctionCall("read_file", {"path": f"{number}.txt"}, f"call-{number}")
            journal.record_prompt(user_message(prompt), prompt)
            journal.record_answer(model_message(call), Usage(100, 0, 10), "gemma-local")
            result = FunctionResponse("read_file", {"output": f"line {number} 0x{number * 7919:016x}\n" * 20}, call.id)
            journal.record_responses([(0, [result])])
            journal.record_answer(model_message(f"Read {number}."), Usage(200, 0, 10), "gemma-local")
    journal.close()
    return "long-session"


class TestDeadEnds:
    def test_what_cannot_fit_is_said_and_the_next_prompt_works(self, machine: ProgramEnv) -> None:
        server = LocalModelServer(lambda _: "Hello.", window=WINDOW)
        (too_long, after), _, _ = run(machine, server, "word " * 20_000, "hi")
        assert (too_long.reason, after.reason) == (EndReason.CONTEXT_FULL, EndReason.FINISHED)
        assert "the context window of gemma-local is 4,096" in too_long.message
        assert '"tools": {"core": ["read_file", "replace"]} in settings.json' in too_long.message
        assert (len(server.sizes), server.refused) == (1, [])

    def test_a_mentioned_file_is_cut(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(tools={"core": ["read_file"]})
        server = LocalModelServer(lambda _: "A lot.", window=WINDOW)
        (ended,), _, _ = run(machine, server, "What is in @big.py ?")
        assert (ended.text, server.refused) == ("A lot.", [])
        (body,) = server.bodies
        assert "Content from @big.py" in last_text(body["messages"])
        assert "[Cut here to fit the context window: " in last_text(body["messages"])
        assert [tool["function"]["name"] for tool in body["tools"]] == ["read_file"]

    def test_a_window_that_nobody_told_is_learned_from_the_refusal(self, machine: ProgramEnv) -> None:
        editor = Editor(machine.project / "big.py")
        server = LocalModelServer(editor, window=WINDOW, pages={})
        (ended,), _, session = run(machine, server, "Set LIMIT in big.py to new.")
        assert (ended.text, session.conversation.context_window) == ("Done.", WINDOW)
        assert len(server.refused) == 1

    def test_context_files_are_cut(self, machine: ProgramEnv) -> None:
        (machine.home / ".gemini").mkdir()
        (machine.home / ".gemini" / "GEMINI.md").write_text("Always be kind. " * 2000)
        server = LocalModelServer(lambda _: "Hello.", window=WINDOW)
        (ended,), _, _ = run(machine, server, "hi")
        assert (ended.text, server.refused) == ("Hello.", [])
        assert "characters left out" in server.bodies[0]["messages"][0]["content"]

    def test_a_question_on_the_side_that_is_too_long_is_not_sent(self, machine: ProgramEnv) -> None:
        """A failed edit makes the program ask the model about the whole file."""

        def answer(messages: Sequence[Mapping[str, Any]]) -> Answer:
            if messages[-1]["role"] == "tool":
                return "I give up."
            change = {"old_string": "no such text in it", "new_string": "x"}
            return {"replace": {"file_path": str(machine.project / "big.py"), **change}}

        server = LocalModelServer(answer, window=WINDOW)
        (ended,), _, _ = run(machine, server, "go")
        assert (ended.text, server.refused) == ("I give up.", [])


class TestToolsAsText:
    def test_a_template_without_tools_is_noticed_and_made_up_for(self, machine: ProgramEnv) -> None:
        def answer(messages: Sequence[Mapping[str, Any]]) -> Answer:
            if "<tool_response>" in last_text(messages):
                return f"It says: {last_text(messages).splitlines()[1]}"
            path = machine.project / "a.txt"
            return f'I look.\n<tool_call>\n{{"name": "read_file", "arguments": {{"path": "{path}"}}}}\n</tool_call>'

        (machine.project / "a.txt").write_text("hello world\n")
        server = LocalModelServer(answer, window=WINDOW, pages=llama_cpp(WINDOW, supports_tools=False))
        (ended,), events, _ = run(machine, server, "What is in a.txt?")
        assert ended.text == "I look.\nIt says: read_file: hello world"
        assert all("tools" not in body for body in server.bodies)
        notices = [event.message for event in events if isinstance(event, Noticed)]
        assert sum("its chat template has no tool support" in notice for notice in notices) == 1

    def test_tools_that_were_dropped_silently_are_noticed_by_the_size_of_the_prompt(self, machine: ProgramEnv) -> None:
        server = LocalModelServer(lambda _: "Hello.", window=32_768, pages={}, drops_tools=True)
        (ended,), events, _ = run(machine, server, "hi")
        assert ended.text == "Hello."
        assert ["tools" in body for body in server.bodies] == [True, False]
        (retrying,) = (event for event in events if isinstance(event, Retrying))
        assert "its chat template has no tool support" in retrying.reason


def test_a_larger_model_gets_everything_again(machine: ProgramEnv) -> None:
    path = machine.project / "big.py"

    def answer(messages: Sequence[Mapping[str, Any]]) -> Answer:
        return "Seen." if messages[-1]["role"] == "tool" else {"read_file": {"path": str(path)}}

    small, large = LocalModelServer(answer, window=WINDOW), LocalModelServer(lambda _: "All.", window=200_000)

    async def main() -> str:
        options = agent_options(machine, small)
        async with open_agent(options, None) as session:
            await session.prompt("Read big.py.")
            environment = {**machine.environment, "OPENAI_BASE_URL": large.base}
            await session.conversation.change_model(open_model("big", ModelOptions(environment)), "")
            return (await session.prompt("And now?")).text

    with small, large:
        assert asyncio.run(main()) == "All."
    assert LAST_LINE not in str(small.bodies[-1])
    (body,) = large.bodies
    assert LAST_LINE in body["messages"][-3]["content"]
    assert len(body["tools"]) > 10
    assert len(body["messages"][0]["content"]) > 2 * len(small.bodies[0]["messages"][0]["content"])


def test_a_run_in_a_small_window_can_be_replayed(machine: ProgramEnv) -> None:
    record, path = machine.base / "run.jsonl", machine.project / "big.py"
    before = path.read_text()
    with LocalModelServer(Editor(path), window=WINDOW) as server:
        played = machine.run("-m", "x", "-y", "--record", str(record), "-p", "Edit.", OPENAI_BASE_URL=server.base)
    assert (played.code, played.stdout, server.refused) == (0, "Done.\n", [])
    path.write_text(before)
    replayed = machine.run("-y", "--replay", str(record), "-p", "Edit.")
    assert (replayed.code, replayed.stdout) == (0, "Done.\n")
    assert 'LIMIT = "new"' in path.read_text()


def test_a_summary_and_its_request_fit_the_window(machine: ProgramEnv) -> None:
    """A long session is resumed with a model whose window is much smaller."""

    def answer(messages: Sequence[Mapping[str, Any]]) -> Answer:
        return (
            "<state_snapshot>Short.</state_snapshot>"
            if "<record>" in last_text(messages)
            else " ".join(map(str, range(3000)))
        )

    large = LocalModelServer(answer, window=1_000_000)
    _, _, session = run(machine, large, *("tell me more",) * 12)
    before = session.conversation.tokens
    assert before > 40_000
    small = LocalModelServer(answer, window=40_000)
    (ended,), events, session = run(machine, small, "go on", resume=session.session_id)
    assert (ended.reason, small.refused) == (EndReason.FINISHED, [])
    (compressed,) = (event for event in events if isinstance(event, Compressed))
    assert compressed.after < 20_000 < before
