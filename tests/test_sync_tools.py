"""The tools in synchronous programs: threads, notebooks, approvals."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import ExternalToolsEnv
from support.note_tool import NoteParams, NoteTool
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.errors import UsageError
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.core.tools.call_events import CallFinished, Event
from tejat.sync_tools import SyncTools


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("first\n")
    return tmp_path


def opened(project: Path, approver: Any = None, **settings: Any) -> SyncTools:
    return SyncTools(project, approver, sandbox="off", **settings)


class Recorder:
    """Approves everything, and keeps the threads in which it is called."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.events: list[Event] = []

    def ask(self, _: ApprovalRequest) -> bool:
        self.threads.append(threading.current_thread())
        return True

    def watch(self, event: Event) -> None:
        self.threads.append(threading.current_thread())
        self.events.append(event)


class TestCalls:
    def test_one_and_many(self, project: Path) -> None:
        with opened(project) as tools:
            assert tools.call("read_file", path="a.txt") == ToolResult("first\n")
            assert tools.call(FunctionCall("read_file", {"path": "a.txt"})).error is None
            calls = [FunctionCall("read_file", {"path": "a.txt"}, "1"), FunctionCall("nothing", {}, "2")]
            first, second = tools.call_many(calls)
            assert first.response == (FunctionResponse("read_file", {"output": "first\n"}, "1"),)
            assert second.result.error is not None
            assert "read_file" in tools.registry
            assert "read_file" in [each.name for each in tools.declarations()]
            assert tools.notes == ()

    def test_external_tools_are_found(self, tmp_path: Path) -> None:
        env = ExternalToolsEnv(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})
        env.write_user_settings(tools={"discoveryCommand": ["/bin/echo", '[{"name": "tide"}]']})
        with SyncTools(env.project, sandbox="off", environment=env.environment) as tools:
            assert "tide" in tools.registry

    def test_inside_a_running_loop(self, project: Path) -> None:
        async def notebook_cell(tools: SyncTools) -> ToolResult:
            return tools.call("read_file", path="a.txt")

        with opened(project) as tools:
            assert asyncio.run(notebook_cell(tools)) == ToolResult("first\n")

    def test_several_threads_at_once(self, project: Path) -> None:
        def work(number: int) -> list[object]:
            path = str(project / f"{number}.txt")
            wrote = [tools.call("write_file", file_path=path, content=f"{number} {turn}") for turn in range(3)]
            return [*(each.error for each in wrote), tools.call("read_file", path=path).llm_content]

        with opened(project, lambda _: True) as tools, ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [[None, None, None, f"{number} 2"] for number in range(8)]

    def test_calls_that_read_run_at_the_same_time_in_several_threads(self, project: Path) -> None:
        barrier = threading.Barrier(3, timeout=60)

        class Meeting(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                await asyncio.to_thread(barrier.wait)
                return ToolResult(params.text)

        meeting = Meeting("meet", asks=False, kind=Kind.READ)
        with opened(project, tools=meeting) as tools, ThreadPoolExecutor(3) as pool:
            results = list(pool.map(lambda text: tools.call("meet", text=text), "abc"))
        assert [each.llm_content for each in results] == ["a", "b", "c"]


class TestCaller:
    def test_the_approver_and_the_listener_run_in_the_calling_thread(self, project: Path) -> None:
        recorder = Recorder()
        with opened(project, recorder, tools=NoteTool()) as tools:
            assert tools.call("note", text="a", on_event=recorder.watch) == ToolResult("wrote a", "written")
        assert set(recorder.threads) == {threading.current_thread()}
        assert isinstance(recorder.events[-1], CallFinished)

    def test_an_async_approver(self, project: Path) -> None:
        async def ask(_: ApprovalRequest) -> bool:
            await asyncio.sleep(0)
            return threading.current_thread() is not threading.main_thread()

        with opened(project, ask, tools=NoteTool()) as tools:
            assert tools.call("note", text="a").error is None

    def test_what_it_raises_is_raised_and_the_tools_go_on(self, project: Path) -> None:
        def ask(_: ApprovalRequest) -> bool:
            raise KeyError("lost")

        with opened(project, ask, tools=NoteTool()) as tools:
            with pytest.raises(KeyError, match="lost"):
                tools.call("note", text="a")
            assert tools.call("read_file", path="a.txt").error is None

    def test_an_approver_without_further_answers(self, project: Path) -> None:
        with opened(project, lambda _: next(iter(()))) as tools:
            with pytest.raises(RuntimeError, match="The approver raised StopIteration") as caught:
                tools.call("write_file", file_path="new.txt", content="x")
            assert isinstance(caught.value.__cause__, StopIteration)
            assert tools.call("read_file", path="a.txt").error is None

    def test_a_reply_with_a_wrong_field_is_raised(self, project: Path) -> None:
        with opened(project, lambda _: ApprovalReply("yes"), tools=NoteTool()) as tools:  # pyright: ignore[reportArgumentType, reportUnknownLambdaType]
            with pytest.raises(TypeError, match=r"^ApprovalReply\.outcome must be an Outcome member, not 'yes'\.$"):
                tools.call("note", text="a")
            assert tools.call("read_file", path="a.txt").error is None

    def test_an_approver_that_always_replies_with_the_same_text(self, project: Path) -> None:
        asked: list[ApprovalRequest] = []

        def ask(question: ApprovalRequest) -> ApprovalReply | bool:
            asked.append(question)
            return len(asked) <= 5 and ApprovalReply(Outcome.PROCEED_ONCE, new_content="mine\n")

        with opened(project, ask) as tools:
            assert tools.call("write_file", file_path="a.txt", content="theirs\n").error is None
        assert (project / "a.txt").read_text() == "mine\n"
        assert [each.note for each in asked] == ["", "This is your edited version."]

    def test_an_interrupt_cancels_the_call_and_waits_for_its_end(self, project: Path) -> None:
        def interrupt(_: ApprovalRequest) -> bool:
            raise KeyboardInterrupt

        tool = NoteTool()
        with opened(project, interrupt, tools=tool) as tools:
            with pytest.raises(KeyboardInterrupt):
                tools.call("note", text="a")
            assert tools.call("read_file", path="a.txt").error is None
        assert tool.written == []

    def test_what_a_listener_raises_is_raised_when_the_calls_have_ended(self, project: Path) -> None:
        def watch(_: Event) -> None:
            raise KeyError("lost")

        tool = NoteTool(asks=False)
        with opened(project, tools=tool) as tools, pytest.raises(KeyError, match="lost"):
            tools.call("note", text="a", on_event=watch)
        assert [text for text, _ in tool.written] == ["a"]

    def test_an_approver_may_read_and_nothing_else(self, project: Path) -> None:
        read: list[object] = []

        def ask(_: ApprovalRequest) -> bool:
            read.append(tools.call("read_file", path="a.txt").llm_content)
            return tools.call("note", text="nested").error is None

        is_busy = pytest.raises(UsageError, match="busy with the call that this code runs in")
        with opened(project, ask, tools=NoteTool()) as tools, is_busy:
            tools.call("note", text="a")
        assert read == ["first\n"]

    def test_a_listener_may_read_and_call_the_next_tool_at_the_end(self, project: Path) -> None:
        refused: list[str] = []
        results: list[ToolResult] = []

        def watch(event: Event) -> None:
            if isinstance(event, CallFinished):
                results.append(tools.call("write_file", file_path="c.txt", content="x"))
                return
            results.append(tools.call("read_file", path="a.txt"))
            if not refused:
                with pytest.raises(UsageError, match="busy with the call that this code runs in") as caught:
                    tools.call("write_file", file_path="c.txt", content="x")
                refused.append(str(caught.value))

        with opened(project, lambda _: True) as tools:
            tools.call("write_file", file_path="b.txt", content="x", on_event=watch)
        assert len(refused) == 1
        assert {each.error for each in results} == {None}
        assert (project / "c.txt").exists()


class TestClosing:
    def test_outside_of_with(self, project: Path) -> None:
        tools = opened(project)
        uses: list[Callable[[], object]] = [
            lambda: tools.call("glob", pattern="*"),
            tools.declarations,
            lambda: tools.registry,
            lambda: tools.notes,
        ]
        for use in uses:
            with pytest.raises(UsageError, match="not open"):
                use()
        with tools:
            pass
        for use in uses:
            with pytest.raises(UsageError, match="These tools are closed"):
                use()

    def test_open_and_close_without_with(self, project: Path) -> None:
        tools = opened(project)
        assert repr(tools) == "<SyncTools, not open>"
        assert tools.open() is tools
        assert tools.call("read_file", path="a.txt").llm_content == "first\n"
        assert repr(tools) == f"<SyncTools in {project}, {len(tools.registry)} tools>"
        tools.close()
        tools.close()
        assert repr(tools) == "<SyncTools, closed>"
        with pytest.raises(UsageError, match="These tools are closed"):
            tools.call("read_file", path="a.txt")

    def test_they_can_be_opened_again(self, project: Path) -> None:
        tools = SyncTools(iter([project]), tools=iter([NoteTool()]))
        for _ in range(2):
            with tools:
                assert tools.call("read_file", path=Path("a.txt")).text == "first\n"
                assert "note" in tools.registry
                with pytest.raises(UsageError, match="These tools are open already"):
                    tools.open()
                assert tools.call("read_file", path="a.txt").text == "first\n"

    def test_only_one_of_several_threads_opens_them(self, project: Path) -> None:
        tools = opened(project)

        def open_them(_: int) -> str:
            try:
                tools.open()
            except UsageError as error:
                return str(error)
            return "opened"

        with ThreadPoolExecutor(8) as pool:
            answers = sorted(pool.map(open_them, range(8)))
        tools.close()
        assert answers == 7 * ["These tools are open already."] + ["opened"]
        assert [each for each in threading.enumerate() if each.name == "tejat-tools"] == []

    def test_what_keeps_it_from_opening_is_raised(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="nowhere"), SyncTools(tmp_path / "nowhere"):
            pass
        with pytest.raises(TypeError, match="must take one argument"):
            SyncTools(tmp_path, lambda: True)  # pyright: ignore[reportArgumentType]

    def test_calls_of_other_threads_are_cancelled(self, project: Path) -> None:
        has_started = threading.Event()

        def watch(_: Event) -> None:
            has_started.set()

        with ThreadPoolExecutor(1) as pool:
            with opened(project, tools=NoteTool(asks=False)) as tools:
                waiting = pool.submit(tools.call, "note", on_event=watch, text="wait")
                assert has_started.wait(60)
            with pytest.raises(UsageError, match="closed during the call"):
                waiting.result(60)

    def test_async_code_that_they_run_cannot_close_them(self, project: Path) -> None:
        async def approve(_: ApprovalRequest) -> bool:
            tools.close()
            return True

        with opened(project, approve) as tools:
            with pytest.raises(UsageError, match="cannot be closed by code that they run"):
                tools.call("write_file", file_path="b.txt", content="x")
            assert tools.call("read_file", path="a.txt").error is None
