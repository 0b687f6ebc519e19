"""Sub-agents on the screen: a block for each while it runs, one line at its end, all calls on demand."""

import pytest

from support.sample_events import call_finished
from support.terminal.transcript import open_transcript, show_events
from tejat.core.agent.events import AgentEvent, Answered, Noticed
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallState, StateChanged

INVOKE = FunctionCall("invoke_agent", {"agent_name": "reviewer", "prompt": "Review it."}, "c1")
PARENT = StateChanged(0, INVOKE, CallState.EXECUTING)
STARTED = AgentStarted("reviewer#1", "reviewer", "c1", "Review the change.\nAll of it.", "fast")
ANSWER = Answered(ModelResponse(model_message("x"), usage=Usage(prompt=1000, output=200)), 1.0)
ENDED = AgentEnded(
    "reviewer#1",
    "reviewer",
    SubagentEnd.GOAL,
    turns=2,
    calls=14,
    usage=Usage(prompt=21_000, output=300),
    cost=0.02,
    seconds=48.0,
)


def read(name: str) -> FunctionCall:
    return FunctionCall("read_file", {"path": f"/w/{name}"}, name)


def inside(*events: AgentEvent, agent: str = "reviewer#1") -> list[AgentEvent]:
    return [AgentActivity(agent, agent.partition("#")[0], event) for event in events]


def done(*names: str) -> list[AgentEvent]:
    return [call_finished(read(name), ToolResult("text")) for name in names]


def test_a_running_agent_has_a_block_in_place_of_its_call() -> None:
    events = inside(ANSWER, *done("a.py", "b.py", "c.py"), StateChanged(3, read("d.py"), CallState.EXECUTING))
    screen = show_events(PARENT, STARTED, *events)
    screen.now += 5
    assert screen.drawn == [
        "● reviewer#1 Review the change. (1 turn, 1,200 tokens, 5 s, Esc to stop)",
        "  └ ✓ Read b.py",
        "    ✓ Read c.py",
        "    ● Reading d.py",
    ]
    assert screen.printed == "> do it\n"


def test_the_end_is_one_line_and_the_call_is_not_repeated() -> None:
    events = [*inside(ANSWER, *done("a.py", "b.py")), ENDED, call_finished(INVOKE, ToolResult("Subagent finished."))]
    screen, transcript = open_transcript()
    transcript.begin_run("do it")
    for event in (PARENT, STARTED, *events):
        transcript.handle_event(event)
    line = "✓ ok reviewer · 14 calls · 21,300 tokens · $0.02 · 48 s"
    assert screen.printed == f"> do it\n\n{line} (Ctrl-O to show)\n"
    transcript.expand_last()
    assert screen.printed.endswith(f"\n\n{line}\n  ✓ Read a.py\n  ✓ Read b.py\n")


def test_a_failure_says_why() -> None:
    ended = AgentEnded("reviewer#1", "reviewer", SubagentEnd.MAX_TURNS, turns=2, seconds=3.0, error="Too long.")
    screen = show_events(PARENT, STARTED, ended)
    assert screen.printed == "> do it\n\n✗ MAX_TURNS reviewer · 0 calls · 0 tokens · 3.0 s\n  └ Too long.\n"


def test_several_side_by_side() -> None:
    second = AgentStarted("generalist#1", "generalist", "c2", "Build.", "fast")
    other = StateChanged(1, FunctionCall("invoke_agent", {}, "c2"), CallState.EXECUTING)
    screen = show_events(
        PARENT, other, STARTED, second, *inside(*done("a.py")), *inside(*done("b.py"), agent="generalist#1")
    )
    assert screen.drawn == [
        "● reviewer#1 Review the change. (0 turns, 0 tokens, 0 s, Esc to stop)",
        "  └ ✓ Read a.py",
        "● generalist#1 Build. (0 turns, 0 tokens, 0 s)",
        "  └ ✓ Read b.py",
    ]


def test_very_many_have_a_row_each_as_far_as_there_is_room() -> None:
    many = [AgentStarted(f"a#{number}", "a", f"c{number}", "Work.", "fast") for number in range(30)]
    rows = show_events(*many).drawn
    assert rows[0].startswith("● a#0 Work.")
    assert rows[-1].startswith("… and ")
    assert len(rows) < 15


def test_a_call_that_started_no_agent_is_a_call() -> None:
    assert "Too many" in show_events(call_finished(INVOKE, ToolResult("Too many.", "Too many."))).printed


def test_notices_from_inside_name_the_agent() -> None:
    screen = show_events(STARTED, *inside(Noticed("The disk is full.")))
    assert "reviewer#1: The disk is full." in screen.printed


@pytest.mark.parametrize("task", ["\x1b[2Jevil\u202e", "x" * 500])
def test_hostile_tasks(task: str) -> None:
    screen = show_events(AgentStarted("reviewer#1", "reviewer", "c1", task, "fast"))
    assert "\x1b[2J" not in screen.drawn[0]
    assert len(screen.drawn[0]) <= 80


@pytest.mark.parametrize(
    ("width", "rows", "printed"),
    [
        (
            40,
            ["● reviewer#1 Review the… (1 turn, 1,200…", "  └ ✓ Read a.py"],
            "✓ ok reviewer · 14 calls · 21,300 tokens\n  · $0.02 · 48 s\n",
        ),
        (
            100,
            ["● reviewer#1 Review the change. (1 turn, 1,200 tokens, 0 s, Esc to stop)", "  └ ✓ Read a.py"],
            "✓ ok reviewer · 14 calls · 21,300 tokens · $0.02 · 48 s (Ctrl-O to show)\n",
        ),
    ],
)
def test_other_widths(width: int, rows: list[str], printed: str) -> None:
    events = [PARENT, STARTED, *inside(ANSWER, *done("a.py"))]
    assert show_events(*events, width=width).drawn == rows
    assert show_events(*events, ENDED, width=width).printed == f"> do it\n\n{printed}"
