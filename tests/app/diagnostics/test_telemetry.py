"""Telemetry: who asks for it, and what is written for each event."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tejat.app.diagnostics.telemetry import TelemetryLog, TelemetryOptions, telemetry_notes, telemetry_options
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting, Settings
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    Compressed,
    CompressionStatus,
    EndReason,
    Prompted,
    RequestFailed,
    Retrying,
    RunEnded,
    SessionStarted,
    TextStreamed,
)
from tejat.core.errors import ConfigurationError, ErrorType
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.model import FailureKind, ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState

ADMIN, USER = SourceTier.ADMIN, SourceTier.USER
TOKEN = "ghp_" + "a1" * 18


def resolve(*files: tuple[SourceTier, JsonObject], **environment: str) -> TelemetryOptions:
    given = tuple(Setting(value, f"file{number}:1", tier) for number, (tier, value) in enumerate(files))
    return telemetry_options(Settings(telemetry=given), environment, "/root")


class TestOptions:
    @pytest.mark.parametrize("files", [(), ((USER, {"outfile": "x"}),), ((USER, {"enabled": False, "outfile": "x"}),)])
    def test_nothing_unless_it_is_enabled(self, files: tuple[tuple[SourceTier, JsonObject], ...]) -> None:
        assert resolve(*files) == TelemetryOptions()

    def test_later_files_win_and_variables_win_over_them(self) -> None:
        files = (USER, {"enabled": True, "outfile": "a.jsonl"}), (ADMIN, {"outfile": "/b.jsonl", "logPrompts": True})
        assert resolve(*files) == TelemetryOptions("/b.jsonl", logs_prompts=True)
        variables = {"GEMINI_TELEMETRY_OUTFILE": "c.jsonl", "GEMINI_TELEMETRY_LOG_PROMPTS": "false"}
        assert resolve(*files, **variables) == TelemetryOptions("/root/c.jsonl")
        assert resolve(*files, GEMINI_TELEMETRY_ENABLED="0") == TelemetryOptions()
        assert resolve(GEMINI_TELEMETRY_ENABLED="TRUE", **variables) == TelemetryOptions("/root/c.jsonl")

    @pytest.mark.parametrize(
        ("value", "is_export"),
        [
            ({"enabled": True}, True),
            ({"enabled": True, "otlpEndpoint": "http://h"}, True),
            ({"enabled": True, "target": "gcp", "outfile": "x"}, True),
            ({"enabled": True, "target": "local", "outfile": "x"}, False),
            ({"target": "gcp"}, False),
        ],
    )
    def test_who_asks_for_events_to_be_sent(self, value: JsonObject, is_export: bool) -> None:
        for tier in (USER, ADMIN):
            options = resolve((tier, value))
            assert (options.export is not None) is is_export
            told = ("file0:1 turns telemetry on, but Tejat sends none.",) if is_export and tier is ADMIN else ()
            assert telemetry_notes(options) == told

    @pytest.mark.parametrize("name", ["GEMINI_TELEMETRY_TARGET", "GEMINI_TELEMETRY_OTLP_PROTOCOL"])
    def test_a_wrong_destination(self, name: str) -> None:
        with pytest.raises(ConfigurationError, match=f"{name} must be"):
            resolve(**{name: "elsewhere"})


def lines(path: Path, *events: AgentEvent, logs_prompts: bool = False, secrets: Mapping[str, str] | None = None) -> Any:
    failures: list[str] = []
    log = TelemetryLog(
        str(path), logs_prompts=logs_prompts, secrets=secrets or {}, on_failure=failures.append, clock=lambda: 1.5
    )
    for event in events:
        log.write(event)
    assert failures == []
    return [json.loads(line) for line in path.read_text().splitlines()]


STARTED = SessionStarted("s-1", "m-1")


def test_a_line_for_each_event(tmp_path: Path) -> None:
    answer = ModelResponse(model_message("Hi"), usage=Usage(10, 2, 3, 4), model="m-2")
    call = FunctionCall("write_file", {"content": "SECRET"}, "1")
    failed = ToolResult("no", "no", error=ToolError("no", ErrorType.POLICY_VIOLATION))
    found = lines(
        tmp_path / "log",
        STARTED,
        Prompted(user_message("hello"), "hello"),
        TextStreamed("Hi"),
        Answered(answer, 0.25),
        CallFinished(0, call, CallState.SUCCESS, ToolResult("SECRET", "SECRET"), (), 0.1, BY_USER),
        CallFinished(0, call, CallState.ERROR, failed, (), 0.0),
        Retrying(FailureKind.RATE_LIMITED, "slow down", 1, 5, 2.0),
        RequestFailed(FailureKind.NETWORK, "gone", 1.0),
        Compressed(100, 10, CompressionStatus.COMPRESSED),
        RunEnded(EndReason.FINISHED, "Hi", turns=2, seconds=3.0),
    )
    head = {"event.timestamp": "1970-01-01T00:00:01.500Z", "session.id": "s-1"}
    assert all(head.items() <= line.items() for line in found)
    assert [(line["event.name"], {k: v for k, v in line.items() if "." not in k}) for line in found] == [
        ("gemini_cli.config", {"model": "m-1"}),
        ("gemini_cli.user_prompt", {"prompt_length": 5}),
        (
            "gemini_cli.api_response",
            {
                "model": "m-2",
                "purpose": "conversation",
                "duration_ms": 250,
                "input_token_count": 10,
                "output_token_count": 3,
                "cached_content_token_count": 2,
                "thoughts_token_count": 4,
                "tool_token_count": 0,
                "total_token_count": 17,
            },
        ),
        (
            "gemini_cli.tool_call",
            {
                "function_name": "write_file",
                "duration_ms": 100,
                "success": True,
                "status": "success",
                "decision": "accept",
                "error_type": None,
            },
        ),
        (
            "gemini_cli.tool_call",
            {
                "function_name": "write_file",
                "duration_ms": 0,
                "success": False,
                "status": "error",
                "decision": "reject",
                "error_type": "policy_violation",
            },
        ),
        (
            "gemini_cli.network_retry_attempt",
            {"model": "m-1", "attempt": 1, "max_attempts": 5, "error_type": "rate_limited"},
        ),
        (
            "gemini_cli.api_error",
            {"model": "m-1", "error_type": "network", "error": "gone", "duration_ms": 1000},
        ),
        ("gemini_cli.chat_compression", {"tokens_before": 100, "tokens_after": 10, "status": "compressed"}),
        ("gemini_cli.conversation_finished", {"outcome": "finished", "turn_count": 2, "duration_ms": 3000}),
    ]
    assert "SECRET" not in (tmp_path / "log").read_text()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_prompts_only_if_wanted_and_never_keys(tmp_path: Path) -> None:
    text = f"use my-own-secret-value and {TOKEN}"
    secrets = {"MY_KEY": "my-own-secret-value"}
    found = lines(tmp_path / "log", Prompted(user_message(text), text), logs_prompts=True, secrets=secrets)
    assert found[0]["prompt"] == "use [the secret MY_KEY] and ***"
    failed = RequestFailed(FailureKind.BAD_REQUEST, f"bad key {TOKEN}", 0.0)
    assert lines(tmp_path / "log", failed)[1]["error"] == "bad key ***"


def test_a_file_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    failures: list[str] = []
    target = tmp_path / "elsewhere"
    os.symlink(target, tmp_path / "log")
    log = TelemetryLog(str(tmp_path / "log"), logs_prompts=False, secrets={}, on_failure=failures.append)
    log.write(STARTED)
    log.write(STARTED)
    assert len(failures) == 1
    assert failures[0].startswith(f"Could not write telemetry to {tmp_path}/log: ")
    assert not target.exists()
