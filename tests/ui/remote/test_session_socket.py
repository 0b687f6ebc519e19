"""The socket of a session, opened in the background."""

import asyncio
import os
from pathlib import Path
from typing import NoReturn

import pytest

from tejat.core.agent.events import AgentEvent
from tejat.engine.sessions.event_bus import EventBus
from tejat.ui.contract import UiSession
from tejat.ui.remote.session_socket import SessionSocket, serve_session, wants_socket


def no_session() -> NoReturn:
    raise AssertionError("nobody attached")


@pytest.mark.parametrize("steps", range(5))
def test_a_session_that_ends_while_its_socket_opens_leaves_nothing(tmp_path: Path, steps: int) -> None:
    async def run() -> None:
        socket = SessionSocket(EventBus[AgentEvent](), no_session, str(tmp_path), kind="headless")
        opening = asyncio.create_task(socket.open())
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait((opening,))
        await socket.close()

    asyncio.run(run())
    assert os.listdir(tmp_path) == []


def test_the_socket_exists_while_the_session_runs(tmp_path: Path) -> None:
    async def run() -> None:
        def open_session() -> UiSession:
            no_session()

        socket = SessionSocket(EventBus[AgentEvent](), open_session, str(tmp_path), kind="headless")
        await socket.open()
        assert [name.endswith(".sock") for name in os.listdir(tmp_path)] == [True]
        await socket.close()

    asyncio.run(run())
    assert os.listdir(tmp_path) == []


def test_a_short_run_opens_no_socket(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve_session(EventBus[AgentEvent](), no_session, directory=str(tmp_path), kind="headless"):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert os.listdir(tmp_path) == []


def test_a_directory_that_cannot_be_made_is_only_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    events = EventBus[AgentEvent]()
    seen: list[AgentEvent] = []
    events.subscribe(seen.append)

    async def run() -> None:
        socket = SessionSocket(events, no_session, str(tmp_path / "file" / "run"), kind="headless")
        await socket.open_later()
        await socket.close()

    asyncio.run(run())
    assert ["cannot be reached from other terminals" in str(event) for event in seen] == [True]


@pytest.mark.parametrize(
    ("flag", "setting", "is_replay", "expected"),
    [
        (None, True, False, True),
        (None, False, False, False),
        (True, False, False, True),
        (False, True, False, False),
        (True, True, True, False),
    ],
)
def test_who_gets_a_socket(flag: bool | None, setting: bool, is_replay: bool, expected: bool) -> None:
    assert wants_socket(flag, setting=setting, is_replay=is_replay) is expected
