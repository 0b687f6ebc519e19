"""Runs that are watched: in a real kernel, with the real widgets."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from support.notebooks import RecordedOutputs, data_of, execute_cells, printed, record_outputs
from support.wait import wait_until
from tejat.agent import Agent
from tejat.core.agent.events import Answered, AwaitingModel, EndReason, RunEnded, TextStreamed
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.errors import UsageError
from tejat.core.messages.history import model_message
from tejat.core.model import ModelResponse
from tejat.core.tools.call_events import CallState, StateChanged
from tejat.notebook.approver import NotebookApprover
from tejat.notebook.live import LiveRun, LiveView, watch
from tejat.sync_agent import SyncAgent

SCRIPT = """
[[answer]]
say = "I will write <b>it</b>."
[[answer.call]]
name = "write_file"
args = { file_path = "${root}/a.txt", content = "hello\\n" }
[[answer]]
say = "All **done**."
"""

OPEN = """
from contextlib import ExitStack
from tejat import SyncAgent
from tejat.notebook import NotebookApprover, watch

approver = NotebookApprover()
opened = ExitStack()
agent = opened.enter_context(SyncAgent(model="scripted:script.toml", directories="project", approver=approver))
"""
CLICK = """
import time
while approver.panel is None and not run.is_done:
    time.sleep(0.05)
panel = approver.panel
print([button.description for button in panel.buttons.values()])
panel.buttons["No, and say what to do instead"].click()
print(panel.is_answered)
panel.buttons["Allow once"].click()
panel.buttons["No, continue"].click()
print(panel.is_answered, len(panel.widget.children))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "script.toml").write_text(SCRIPT)
    return tmp_path


def test_a_question_is_answered_by_a_click(project: Path) -> None:
    outputs = execute_cells(
        [OPEN, "run = watch(agent, 'Write it.')\nrun", CLICK, "run.wait(60)", "run.view", "opened.close()"], project
    )
    _open, watched, clicked, ended, view, _close = outputs
    assert "LiveRun(running)" in data_of(watched, "text/plain")
    labels, before, after, _end = printed(clicked).split("\n")
    assert "'Allow once [y]'" in labels
    assert (before, after) == ("False", "True 0"), "the transcript shows the answer"
    assert "All <strong>done</strong>." in data_of(ended, "text/html")[0]
    assert (project / "project" / "a.txt").read_text() == "hello\n"
    (shown,) = data_of(view, "text/html")
    assert "I will write &lt;b&gt;it&lt;/b&gt;." in shown
    assert "<strong>Allow once</strong>" in shown
    assert shown.index("Created") < shown.index("All <strong>done</strong>.")


def test_a_run_inside_of_a_cell_is_rejected_where_nobody_can_type(project: Path) -> None:
    outputs = execute_cells([OPEN, "agent.ask('Write it.')", "opened.close()"], project)
    shown = data_of(outputs[1], "text/html")
    assert "Apply this change?" in shown[0]
    assert "Rejected: this notebook cannot ask here. Use watch(), with ipywidgets installed." in shown[1]
    assert "All <strong>done</strong>." in shown[2]
    assert not (project / "project" / "a.txt").exists()


def test_who_waits_is_asked_in_the_cell(project: Path) -> None:
    wait = "import builtins\nbuiltins.input = lambda text: print(text) or 'y'\nended = await run\nprint(ended.reason)"
    outputs = execute_cells([OPEN, "run = watch(agent, 'Write it.')", wait, "opened.close()"], project)
    assert "  y  Allow once" in printed(outputs[2])
    assert printed(outputs[2]).endswith("finished\n")
    assert (project / "project" / "a.txt").read_text() == "hello\n"


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> RecordedOutputs:
    return record_outputs(monkeypatch)


class Yes:
    """Says yes, and remembers in which thread."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def ask(self, question: object) -> ApprovalReply:
        self.threads.append(threading.current_thread())
        return ApprovalReply(Outcome.PROCEED_ONCE)


def settings(project: Path) -> Any:
    environment = {"HOME": str(project / "home")}
    return {
        "model": f"scripted:{project / 'script.toml'}",
        "directories": project / "project",
        "environment": environment,
    }


class TestRun:
    def test_the_outcome_is_that_of_the_run(self, project: Path, outputs: RecordedOutputs) -> None:
        approver = Yes()
        with SyncAgent(**settings(project), approver=approver) as agent:
            run = watch(agent, "Write it.")
            ended = run.wait(60)
            assert (ended.text, run.ended, run.is_done) == ("I will write <b>it</b>.\nAll **done**.", ended, True)
            assert repr(run).startswith("LiveRun(RunEnded(reason=")
        assert approver.threads
        assert threading.current_thread() not in approver.threads
        assert "All <strong>done</strong>." in outputs.contents[-1]
        assert "All <strong>done</strong>." not in outputs.contents[0]

    def test_it_can_be_awaited_in_a_loop(self, project: Path, outputs: RecordedOutputs) -> None:
        async def cell() -> RunEnded:
            with SyncAgent(**settings(project), approver=Yes()) as agent:
                return await watch(agent, "Write it.")

        assert asyncio.run(cell()).text.endswith("All **done**.")

    def test_waiting_has_a_limit(self, project: Path, outputs: RecordedOutputs) -> None:
        held = threading.Event()

        class Slow(Yes):
            def ask(self, question: object) -> ApprovalReply:
                held.wait()
                return super().ask(question)

        with SyncAgent(**settings(project), approver=Slow()) as agent:
            run = watch(agent, "Write it.")
            with pytest.raises(TimeoutError, match="has not ended yet"):
                run.wait(0.3)
            assert (run.ended, run.is_done, repr(run)) == (None, False, "LiveRun(running)")
            held.set()
            run.wait(60)

    def test_what_the_approver_raises_is_raised(self, project: Path, outputs: RecordedOutputs) -> None:
        class Broken:
            def ask(self, question: object) -> ApprovalReply:
                raise KeyError("broken")

        with SyncAgent(**settings(project), approver=Broken()) as agent:
            run = LiveRun(agent, "Write it.")
            with pytest.raises(KeyError, match="broken"):
                run.wait(60)


SLEEP_SCRIPT = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "sleep 300" }
[[answer]]
say = "Awake."
"""


class TestCancel:
    def test_a_silent_command_ends_at_once(self, project: Path, outputs: RecordedOutputs) -> None:
        (project / "script.toml").write_text(SLEEP_SCRIPT)
        is_running = threading.Event()

        def watch_calls(event: object) -> None:
            if isinstance(event, StateChanged) and event.state is CallState.EXECUTING:
                is_running.set()

        with SyncAgent(**settings(project), mode="yolo", on_event=watch_calls) as agent:
            run = watch(agent, "Sleep.")
            assert is_running.wait(60)
            run.cancel()
            run.cancel()
            assert run.wait(60).reason is EndReason.INTERRUPTED
            assert "Stopped." in outputs.contents[-1]
            assert agent.ask("Again.").text == "Awake."

    def test_one_run_is_cancelled_not_the_next(self, project: Path, outputs: RecordedOutputs) -> None:
        (project / "script.toml").write_text(SLEEP_SCRIPT)
        with SyncAgent(**settings(project), mode="yolo") as agent:
            first, second = watch(agent, "Sleep."), watch(agent, "Later.")
            first.cancel()
            assert first.wait(60).reason is EndReason.INTERRUPTED
            assert second.wait(60).reason is EndReason.FINISHED

    def test_a_proposal_is_edited_and_shown_again(self, project: Path, outputs: RecordedOutputs) -> None:
        approver = NotebookApprover()
        with SyncAgent(**settings(project), approver=approver) as agent:
            run = watch(agent, "Write it.")
            wait_until(lambda: approver.panel is not None)
            first = approver.panel
            assert first is not None
            first.texts["Edit before approving"].value = "edited\n"
            first.buttons["Use the edited text"].click()
            wait_until(lambda: approver.panel not in (None, first))
            assert approver.panel is not None
            approver.panel.buttons["Allow once"].click()
            run.wait(60)
        assert (project / "project" / "a.txt").read_text() == "edited\n"

    def test_the_run_ends_although_the_answer_was_yes(self, project: Path, outputs: RecordedOutputs) -> None:
        runs: list[LiveRun] = []
        started = threading.Event()

        class Stopping(Yes):
            def ask(self, question: object) -> ApprovalReply:
                started.wait()
                runs[0].stop_button.click()
                return super().ask(question)

        with SyncAgent(**settings(project), approver=Stopping()) as agent:
            runs.append(watch(agent, "Write it."))
            started.set()
            ended = runs[0].wait(60)
            assert ended.reason is EndReason.INTERRUPTED
            assert "Stopped." in outputs.contents[-1]
            assert agent.ask("Again.").text == "All **done**."

    def test_an_open_question_is_answered_with_a_stop(self, project: Path, outputs: RecordedOutputs) -> None:
        approver = NotebookApprover()
        with SyncAgent(**settings(project), approver=approver) as agent:
            run = watch(agent, "Write it.")
            wait_until(lambda: approver.panel is not None)
            run.cancel()
            assert run.wait(60).reason is EndReason.INTERRUPTED
        assert not (project / "project" / "a.txt").exists()
        assert "Stopped." in outputs.contents[-1]

    @pytest.mark.usefixtures("outputs")
    def test_an_interrupt_of_the_kernel_cancels(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(_text: str) -> str:
            raise KeyboardInterrupt

        with SyncAgent(**settings(project), approver=NotebookApprover()) as agent:
            monkeypatch.setattr("builtins.input", interrupt)
            run = watch(agent, "Write it.")
            with pytest.raises(KeyboardInterrupt):
                run.wait(60)
            assert run.wait(60).reason is EndReason.INTERRUPTED


class TestView:
    def test_of_an_async_agent(self, project: Path, outputs: RecordedOutputs) -> None:
        async def cell() -> None:
            view = LiveView(root=str(project / "project"))
            async with Agent(**settings(project), mode="yolo") as agent:
                async for event in agent.run("Write it."):
                    view.handle_event(event)

        asyncio.run(cell())
        assert '<code class="object">a.txt</code>' in outputs.contents[-1]

    def test_streamed_text_is_shown_in_larger_steps(self, outputs: RecordedOutputs) -> None:
        now = [0.0]
        view = LiveView(root="/", clock=lambda: now[0])
        for word in ("one", " two", " three"):
            view.handle_event(TextStreamed(word))
        assert len(outputs.contents) == 2  # when it is shown, and the first word
        now[0] = 5.0
        view.handle_event(TextStreamed(" four"))
        assert "one two three four" in outputs.contents[-1]
        view.handle_event(Answered(ModelResponse(model_message("one two three four")), 1.0))
        assert len(outputs.contents) == 4

    def test_other_events_are_shown_at_once(self, outputs: RecordedOutputs) -> None:
        view = LiveView(root="/", clock=lambda: 0.0)
        for seconds in (10.0, 20.0):
            view.handle_event(AwaitingModel(seconds, 5))
        assert len(outputs.contents) == 3


def test_mistakes_are_raised_before_anything_is_shown(project: Path, outputs: RecordedOutputs) -> None:
    prompt: Any = None
    other: Any = Agent(**settings(project))
    with pytest.raises(TypeError, match=r"watch needs a SyncAgent, not <Agent, not open>\. For an Agent, pass its"):
        watch(other, "hello")
    with SyncAgent(**settings(project)) as agent, pytest.raises(TypeError, match="prompt must be"):
        watch(agent, prompt)
    with pytest.raises(UsageError, match="This agent is closed"):
        watch(agent, "hello")
    assert outputs.contents == []


def test_a_program_is_no_notebook(project: Path) -> None:
    with (
        SyncAgent(**settings(project)) as agent,
        pytest.raises(UsageError, match="This works in a notebook only"),
    ):
        watch(agent, "Write it.")
