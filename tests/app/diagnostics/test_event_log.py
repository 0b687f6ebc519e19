"""Events in the log, each with the logger that its reader would choose."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tejat.agent import Agent
from tejat.app.diagnostics.event_log import log_event
from tejat.core.agent.events import (
    AgentEvent,
    AwaitingModel,
    Compressed,
    CompressionStatus,
    EndReason,
    LoopDetected,
    ModelChanged,
    RequestFailed,
    Retrying,
    RunEnded,
    TextStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.model import FailureKind, Usage
from tejat.sync_agent import SyncAgent
from tejat.tools.python.function_tool import tool

TOKEN = "xoxb-1234567890-abcdefghij"
FAILED = RequestFailed(FailureKind.NETWORK, "No network.", 2.0)


@tool
def broken() -> str:
    """Fails."""
    raise KeyError(TOKEN)


SCRIPT = """
[[answer]]
[[answer.call]]
name = "glob"
args = { pattern = "*" }
[[answer.call]]
name = "broken"
args = {}
[[answer]]
say = "Done."
"""


def records(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.name, record.getMessage()) for record in caplog.records]


def test_a_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tejat")
    (tmp_path / "script.toml").write_text(SCRIPT)
    environment = {"HOME": str(tmp_path / "home")}
    settings: Any = {
        "directories": tmp_path,
        "model": f"scripted:{tmp_path / 'script.toml'}",
        "environment": environment,
    }
    with SyncAgent(**settings, tools=[broken]) as agent:
        session = agent.session_id
        assert agent.ask("Find it.").text == "Done."
    found = [(record.name.removeprefix("tejat."), record.levelname) for record in caplog.records]
    assert found == [
        ("agent", "INFO"),
        ("agent", "INFO"),
        ("model", "INFO"),
        ("tools", "INFO"),
        ("tools", "ERROR"),
        ("tools", "INFO"),
        ("model", "INFO"),
        ("agent", "INFO"),
    ]
    texts = [record.getMessage() for record in caplog.records]
    assert texts[0].startswith(f"Session {session} with scripted:")
    assert texts[3].startswith("glob: success, seconds: 0.")
    assert texts[5].startswith("broken: error (execution_failed), seconds: 0.")
    assert texts[7].startswith("Run ended: finished (turns: 2, tokens: ")
    assert "KeyError: '***'" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("event", "name", "level", "text"),
    [
        (
            Retrying(FailureKind.NETWORK, "No network.", 1, 3, 2.0),
            "model",
            "WARNING",
            "Attempt 1 of 3 failed: No network. Retrying in 2.0 seconds",
        ),
        (FAILED, "model", "WARNING", "Request failed: No network. (network)"),
        (AgentActivity("a-1", "a", FAILED), "model", "WARNING", "Request failed: No network. (network)"),
        (AwaitingModel(10.2, 5), "model", "INFO", "No answer after 10 seconds"),
        (ModelChanged("a", "b", f"no {TOKEN}"), "model", "WARNING", "Changed from a to b: no ***"),
        (AgentStarted("a-1", "a", "1", "Go.", "m"), "agent", "INFO", "Sub-agent a-1 started with m"),
        (AgentEnded("a-1", "a", SubagentEnd.GOAL), "agent", "INFO", "Sub-agent a-1 ended: GOAL"),
        (AgentEnded("a-1", "a", SubagentEnd.ERROR), "agent", "WARNING", "Sub-agent a-1 ended: ERROR"),
        (
            Compressed(9, 3, CompressionStatus.COMPRESSED),
            "agent",
            "INFO",
            "History compressed: 3 tokens, 9 before",
        ),
        (LoopDetected("again", ends_run=True), "agent", "WARNING", "Loop detected: again"),
        (
            RunEnded(EndReason.MODEL_FAILED, message="No key.", usage=Usage(5), turns=1, seconds=0.5),
            "agent",
            "WARNING",
            "Run ended: model_failed: No key. (turns: 1, tokens: 5, seconds: 0.500)",
        ),
    ],
)
def test_other_events(event: AgentEvent, name: str, level: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tejat")
    log_event(event)
    (record,) = caplog.records
    assert (record.name, record.levelname, record.getMessage()) == (f"tejat.{name}", level, text)


def test_every_event_is_logged_for_debugging_except_streamed_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="tejat")
    log_event(TextStreamed("secret"))
    log_event(LoopDetected(f"{'x' * 100} {TOKEN}", ends_run=False))
    assert records(caplog)[0] == ("tejat", f"LoopDetected(detail='{'x' * 100} ***', ends_run=False)")
    assert len(records(caplog)) == 2


def test_a_failure_to_open_is_raised_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(TypeError):
        Agent(tools=[1])  # pyright: ignore[reportArgumentType]
    assert caplog.records == []
