"""Assertions about runs, with the events of a real one."""

from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import ANY

import pytest

from tejat.core.agent.events import AgentEvent
from tejat.testing import ScriptedModel, TemporaryWorkspace, assert_called, assert_not_called, assert_text, call


@pytest.fixture(scope="module")
def events() -> list[AgentEvent]:
    calls = [call("read_file", path="a.txt", limit=1), call("glob", pattern="*.md")]
    with (
        TemporaryWorkspace({"a.txt": "one\n"}) as workspace,
        ScriptedModel([calls, "It says one."]) as model,
        workspace.sync_agent(model) as agent,
    ):
        return list(agent.run("What does it say?"))


def test_calls_that_were_made(events: list[AgentEvent]) -> None:
    assert assert_called(events, "read_file").call.args["limit"] == 1
    assert assert_called(events, "read_file", path="a.txt", limit=ANY).result.error is None
    assert assert_called(events, "glob", pattern="*.md").call.name == "glob"


CALLS = "The calls were:\n  read_file(path='a.txt', limit=1): success\n  glob(pattern='*.md'): success"


def test_calls_that_were_not_made(events: list[AgentEvent]) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_called(events, "read_file", path="b.txt")
    assert str(caught.value) == f"read_file(path='b.txt') was not called. {CALLS}"
    with pytest.raises(AssertionError, match=r"read_file\(offset=None\) was not called"):
        assert_called(events, "read_file", offset=None)
    with pytest.raises(AssertionError, match=r"^x\(\) was not called. There were no calls.$"):
        assert_called([], "x")


def test_calls_that_must_not_be_made(events: list[AgentEvent]) -> None:
    assert_not_called(events, "write_file")
    assert_not_called(events, "read_file", path="b.txt")
    with pytest.raises(AssertionError) as caught:
        assert_not_called(events, "read_file")
    assert str(caught.value) == f"read_file() was called. {CALLS}"


def test_texts(events: list[AgentEvent]) -> None:
    ended = assert_text(events, "one")
    assert assert_text(ended, "It says") is ended
    with pytest.raises(AssertionError, match=r"^'two' is not in the answer 'It says one.'. The run ended: finished$"):
        assert_text(ended, "two")
    with pytest.raises(AssertionError, match="There is no RunEnded among the events"):
        assert_text(events[:-1], "one")


def test_what_are_no_events(events: list[AgentEvent]) -> None:
    ended: Any = events[-1]
    wrong: Any
    for wrong in (ended, None, "read_file"):
        with pytest.raises(TypeError, match=r"^The events of a run are expected, not .* in `list\(agent.run"):
            assert_called(wrong, "read_file")
        with pytest.raises(TypeError, match="The events of a run are expected"):
            assert_not_called(wrong, "read_file")

    async def run() -> AsyncIterator[AgentEvent]:
        yield ended

    unread: Any = run()
    with pytest.raises(TypeError, match=r"async_generator\. Collect them with `async for`"):
        assert_text(unread, "one")
