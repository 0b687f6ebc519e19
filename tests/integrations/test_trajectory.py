"""Trajectories of runs."""

import json
from typing import Any

from tejat.integrations.run_events import read_log
from tejat.integrations.trajectory import to_trajectory

TIME = "2026-01-02T03:04:05.678Z"


def trajectory(*events: dict[str, Any]) -> Any:
    return to_trajectory(read_log(json.dumps({"timestamp": TIME, **event}) for event in events), version="1.2.3")


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def asked(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def call(number: int) -> dict[str, Any]:
    return {"type": "tool_use", "tool_name": "glob", "tool_id": f"c{number}", "parameters": {"pattern": "*"}}


def result(number: int, content: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_id": f"c{number}", "status": "success", "content": content}


def test_a_whole_run() -> None:
    found = trajectory(
        {"type": "init", "session_id": "abc", "model": "gemini:x"},
        asked("Find it"),
        said("I "),
        said("look."),
        call(1),
        call(2),
        result(1, "one"),
        result(2, "two"),
        call(3),
        result(3, "three"),
        said("Done."),
        {"type": "result", "stats": {"total_tokens": 9, "input_tokens": 5, "cached": 2}, "cost_usd": 0.5},
    )
    assert found["agent"] == {"name": "tejat", "version": "1.2.3", "model_name": "gemini:x"}
    assert (found["schema_version"], found["session_id"]) == ("ATIF-v1.7", "abc")
    assert found["final_metrics"] == {
        "total_steps": 4,
        "total_prompt_tokens": 5,
        "total_completion_tokens": 4,
        "total_cached_tokens": 2,
        "total_cost_usd": 0.5,
    }
    steps = found["steps"]
    assert [(step["step_id"], step["source"], step["message"], step["timestamp"]) for step in steps] == [
        (1, "user", "Find it", TIME),
        (2, "agent", "I look.", TIME),
        (3, "agent", "", TIME),
        (4, "agent", "Done.", TIME),
    ]
    assert [[made["tool_call_id"] for made in step.get("tool_calls", [])] for step in steps] == [
        [],
        ["c1", "c2"],
        ["c3"],
        [],
    ]
    assert steps[1]["tool_calls"][0] == {
        "tool_call_id": "c1",
        "function_name": "glob",
        "arguments": {"pattern": "*"},
    }
    assert steps[1]["observation"] == {
        "results": [{"source_call_id": "c1", "content": "one"}, {"source_call_id": "c2", "content": "two"}]
    }
    assert "observation" not in steps[3]


def test_text_of_a_failed_attempt_is_void() -> None:
    found = trajectory(asked("x"), said("Hal"), {"type": "retry", "purpose": "conversation"}, said("Hello"))
    assert [step["message"] for step in found["steps"]] == ["x", "Hello"]
    found = trajectory(asked("x"), said("Hello"), {"type": "retry", "purpose": "compression"})
    assert [step["message"] for step in found["steps"]] == ["x", "Hello"]


def test_a_retry_after_results_keeps_them() -> None:
    found = trajectory(asked("x"), call(1), result(1, "one"), {"type": "retry", "purpose": "conversation"}, said("y"))
    assert [step["message"] for step in found["steps"]] == ["x", "", "y"]
    assert found["steps"][1]["observation"]["results"][0]["content"] == "one"


def test_steps_of_sub_agents_are_left_out() -> None:
    found = trajectory(asked("x"), {**said("inner"), "agent_id": "a1"}, said("outer"))
    assert [step["message"] for step in found["steps"]] == ["x", "outer"]


def test_a_run_that_was_cut_and_one_without_messages() -> None:
    assert trajectory(asked("x"), call(1))["final_metrics"] == {"total_steps": 2}
    assert trajectory({"type": "init", "session_id": "abc"}) is None
    assert len(trajectory(asked("x"), result(1, "of nothing"))["steps"]) == 1
