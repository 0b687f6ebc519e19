"""Who asks how: with buttons in a thread, with `input` in a cell, and a rejection where neither works."""

import builtins
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.notebooks import record_outputs
from support.wait import wait_until
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ExecConfirmation, Outcome
from tejat.notebook.approver import NotebookApprover, OpenPanels, open_panels

QUESTION = ApprovalRequest(ExecConfirmation("Run", "ls <dir>", "/"), "run_shell_command")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return record_outputs(monkeypatch).contents


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_thread_asks_with_buttons(shown: list[Any], *, is_watched: bool) -> None:
    approver, panels = NotebookApprover(), OpenPanels()

    def ask() -> ApprovalReply:
        if is_watched:
            open_panels.set(panels)
        return approver.ask(QUESTION)

    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(ask)
        wait_until(lambda: approver.panel is not None)
        assert approver.panel is not None
        assert panels.first is (approver.panel if is_watched else None)
        assert "ls &lt;dir&gt;" in shown[0].children[0].value
        approver.panel.buttons["Allow once"].click()
        assert reply.result(60) == ApprovalReply(Outcome.PROCEED_ONCE)
    answered = [child.value for child in shown[0].children]
    assert len(answered) == (not is_watched)
    assert all("<strong>Allow once</strong>" in each for each in answered)
    assert (approver.panel, panels.first) == (None, None)


def test_a_cell_asks_with_input(shown: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert threading.current_thread() is threading.main_thread()
    monkeypatch.setattr(builtins, "input", lambda _text: "n")
    assert NotebookApprover().ask(QUESTION) == ApprovalReply(Outcome.CANCEL)
    assert "ls &lt;dir&gt;" in shown[0]


@pytest.mark.usefixtures("shown")
def test_without_widgets_a_thread_asks_with_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ipywidgets" else object())
    monkeypatch.setattr(builtins, "input", lambda _text: "y")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(NotebookApprover().ask, QUESTION).result(60) == ApprovalReply(Outcome.PROCEED_ONCE)


@pytest.mark.parametrize("error", [EOFError, NotImplementedError, OSError])
def test_nobody_who_types_is_a_rejection(
    error: type[Exception], shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_text: str) -> str:
        raise error

    monkeypatch.setattr(builtins, "input", fail)
    assert NotebookApprover().ask(QUESTION) == ApprovalReply(Outcome.CANCEL)
    assert "Rejected: this notebook cannot ask here" in shown[-1]


@pytest.mark.usefixtures("shown")
def test_a_question_after_the_end_is_answered_with_a_stop() -> None:
    panels = OpenPanels()
    panels.cancel()

    def ask() -> ApprovalReply:
        open_panels.set(panels)
        return NotebookApprover().ask(QUESTION)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(ask).result(60) == ApprovalReply(Outcome.STOP)
