"""What a client hears of a call that takes long."""

import asyncio
import time
from typing import Any

import pytest

from support.wait import wait_until_async
from tejat.core.messages.types import FunctionCall, JsonValue
from tejat.core.tools.call_events import CallState, OutputUpdated, StateChanged
from tejat.mcp.protocol import JsonRpcMessage
from tejat.ui.mcp_server.progress import ProgressNotifier

CALL = FunctionCall("x", {})


def notifications(outputs: list[str], token: JsonValue, *, enough: int = 1) -> list[Any]:
    """The parameters of what is told while a call shows these outputs and then goes on until so much was told."""

    async def main() -> list[Any]:
        found: list[Any] = []

        async def send(message: JsonRpcMessage) -> None:
            found.append(message)

        async with ProgressNotifier(send, token) as progress:
            progress.handle_event(StateChanged(0, CALL, CallState.EXECUTING))
            for output in outputs:
                progress.handle_event(OutputUpdated(0, CALL, output))
                await asyncio.sleep(0)
            await wait_until_async(lambda: len(found) >= enough)
        assert {message.method for message in found} <= {"notifications/progress"}
        return [message.params for message in found]

    return asyncio.run(main())


@pytest.mark.parametrize("token", ["t", 0, 7])
def test_output_is_told_with_the_token(token: JsonValue) -> None:
    assert notifications(["a\x1b"], token) == [{"progressToken": token, "progress": 1, "message": "a<U+001B>"}]


@pytest.mark.parametrize("token", [None, True, 1.5, ["t"]])
def test_who_gave_none_hears_nothing(token: JsonValue) -> None:
    assert notifications(["a"], token, enough=0) == []


def test_only_the_newest_is_told_and_not_too_often() -> None:
    began = time.monotonic()
    found = notifications([f"{number}" for number in range(1000)], "t", enough=2)
    assert 2 <= len(found) <= 2 + (time.monotonic() - began) / 0.25
    assert [each["progress"] for each in found] == list(range(1, len(found) + 1))
    assert found[-1]["message"] == "999"


def test_of_long_output_the_end_is_told() -> None:
    (only,) = notifications(["x" * 10_000 + "end"], "t")
    assert len(only["message"]) == 2_000
    assert only["message"].endswith("xend")


def test_silence_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tejat.ui.mcp_server.progress._HEARTBEAT_SECONDS", 0.01)
    assert notifications([], "t")[0] == {"progressToken": "t", "progress": 1}
