"""Tests of stored conversations as events, with conversations that a scripted model really had."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from support.note_tool import NoteTool, open_scheduler
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.app.session.replay import describe_call, replay_events, replay_messages
from tejat.core.agent.events import AgentEvent, Answered, Noticed, Prompted, TextStreamed
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import ToolFailure
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import History, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.core.tools.display import FileDiff
from tejat.engine.loop.archive import ConversationArchive
from tejat.engine.loop.conversation import Conversation
from tejat.engine.sessions.rewind_points import RewindPoints

SCRIPT = """
[[answer]]
say = "I write it."
[[answer.call]]
name = "write_file"
args = { file_path = "${root}/new.txt", content = "Hello.\\n" }
[[answer.call]]
name = "read_file"
args = { path = "${root}/missing.txt" }
[[answer]]
say = "Done."
[[answer]]
say = "Nothing more."
"""


async def converse(folder: Path, *, resume: str | None = None) -> tuple[str, list[AgentEvent]]:
    script = folder.parent / "script.toml"
    script.write_text(SCRIPT)
    options = AgentOptions((str(folder),), model=f"scripted:{script}", mode="auto_edit", resume=resume)
    async with open_session_manager(options) as manager:
        if resume is None:
            (folder / "notes.md").write_text("Some notes.")
            await manager.session.prompt("Write a file, see @notes.md")
            await manager.session.prompt("And now?")
        return manager.session.session_id, list(replay_events(manager.session.conversation, str(folder)))


def names(events: list[AgentEvent]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, Answered)]


def test_a_resumed_conversation_has_the_same_events(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    session_id, before = asyncio.run(converse(folder))
    _, after = asyncio.run(converse(folder, resume=session_id))
    assert names(before) == [
        *("Prompted", "TextStreamed", "StateChanged", "CallFinished", "StateChanged", "CallFinished", "TextStreamed"),
        *("Prompted", "TextStreamed"),
    ]
    assert names(after) == names(before)
    for events in (before, after):
        prompts = [event.display_text for event in events if isinstance(event, Prompted)]
        assert prompts == ["Write a file, see @notes.md", "And now?"]
        texts = [event.text for event in events if isinstance(event, TextStreamed)]
        assert texts == ["I write it.", "Done.", "Nothing more."]
        written, read = (event for event in events if isinstance(event, CallFinished))
        assert (written.state, read.state) == (CallState.SUCCESS, CallState.ERROR)
        assert read.result.error is not None
        assert "File not found" in read.result.error.message
        display = written.result.return_display
        assert isinstance(display, FileDiff)
        assert (display.file_path, display.new_content) == (str(folder / "new.txt"), "Hello.\n")
        started = [event.index for event in events if isinstance(event, StateChanged)]
        assert started == [0, 1]


class BrokenTool(NoteTool):
    """Cannot even be asked about its arguments."""

    def rejection(self, params: object) -> ToolFailure | None:
        raise RuntimeError("broken")


def test_a_tool_that_breaks_is_described_by_its_name(tmp_path: Path) -> None:
    with open_scheduler(tmp_path, [BrokenTool()], None) as scheduler:
        assert describe_call(scheduler.registry, FunctionCall("note", {})) == CallDetails(Kind.OTHER, "note")


def replay_summarized(*, limit: int = 10_000) -> list[str]:
    """Replay a conversation of two prompts, of which a summary has replaced the first."""
    first, second = [user_message("one"), model_message("1")], [user_message("two"), model_message("2")]
    summarized = [user_message("summary"), model_message("ok"), *second]
    archive = ConversationArchive(limit=limit)
    archive.replace([*first, *second], summarized)
    conversation = SimpleNamespace(history=History(summarized), archive=archive, rewind_points=RewindPoints())
    told: list[str] = []
    for event in replay_events(cast("Conversation", conversation), "/w"):
        match event:
            case Prompted(_, text) | TextStreamed(text) | Noticed(text):
                told.append(text)
            case _:
                pass
    return told


def test_the_place_of_a_summary_is_marked() -> None:
    notice = "The model has only a summary of the conversation up to here."
    assert replay_summarized() == ["one", "1", notice, "two", "2"]


def test_a_beginning_that_was_forgotten_is_marked() -> None:
    assert replay_summarized(limit=0)[0] == "The beginning of this conversation is not shown."
    assert replay_summarized(limit=0)[-2:] == ["two", "2"]


def test_calls_are_described_even_if_they_are_wrong(tmp_path: Path) -> None:
    async def describe(manager: SessionManager, call: FunctionCall) -> tuple[Kind, str, tuple[str, ...]]:
        details = describe_call(manager.toolset.registry, call)
        return details.kind, details.title, tuple(each.path for each in details.locations)

    async def main() -> None:
        script = tmp_path / "script.toml"
        script.write_text(SCRIPT)
        async with open_session_manager(AgentOptions((str(tmp_path),), model=f"scripted:{script}")) as manager:
            path = str(tmp_path / "a.txt")
            read = await describe(manager, FunctionCall("read_file", {"path": path}))
            assert read == (Kind.READ, "a.txt", (path,))
            assert await describe(manager, FunctionCall("read_file", {"path": 3})) == (Kind.READ, "ReadFile", ())
            assert await describe(manager, FunctionCall("nothing", {})) == (Kind.OTHER, "nothing", ())

    asyncio.run(main())


def test_commands_have_their_exit_codes_and_edits_their_counts() -> None:
    output = "\n".join(
        ["Command: x", "Directory: (root)", "Stdout: out", "Stderr: (empty)", "Error: (none)", "Exit Code: 3"]
    )
    calls = (
        FunctionCall("run_shell_command", {"command": "x"}, "1"),
        FunctionCall("replace", {"file_path": "a", "old_string": "a\nb", "new_string": "a\nc"}, "2"),
    )
    responses = user_message(
        FunctionResponse("run_shell_command", {"output": f"{output}\nSignal: (none)"}, "1"),
        FunctionResponse("replace", {"output": "ok"}, "2"),
    )
    history = [user_message("x"), model_message("y", *calls), responses]
    events = replay_messages(history, ConversationArchive(), (), "/w")
    command, edit = (event.result for event in events if isinstance(event, CallFinished))
    assert (command.return_display, command.exit_code) == ("out", 3)
    diff = edit.return_display
    assert isinstance(diff, FileDiff)
    assert diff.file_diff.endswith("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    assert diff.diff_stat is not None
    assert (diff.diff_stat.model_added_lines, diff.diff_stat.model_removed_lines) == (1, 1)


def test_an_empty_conversation_has_no_events() -> None:
    assert list(replay_messages([], ConversationArchive(), (), "/w")) == []
