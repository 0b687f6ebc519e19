"""Live sessions are attached while browsers need them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.command_runner import HELLO
from support.interactive import InteractiveEnv
from support.web.sessions import LocalSessions, wait_for
from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import load_run_config
from tejat.core.agent.events import RunEnded
from tejat.core.errors import UsageError
from tejat.ui.web.session.feeds import SessionFeeds

Work = Callable[[LocalSessions, SessionFeeds], Awaitable[None]]


def run_with_feeds(tmp_path: Path, idle_seconds: float, work: Work) -> None:
    env = InteractiveEnv(tmp_path)

    async def main() -> None:
        config = load_run_config([str(env.project)], faults=[], environment=env.environment)
        sessions = LocalSessions(StoredHistory(config))
        feeds = SessionFeeds(sessions, idle_seconds=idle_seconds)
        async with sessions.session("s1", env.agent_options(HELLO)):
            await work(sessions, feeds)
            await feeds.close()

    asyncio.run(main())


def test_a_feed_is_shared_and_closed_when_nobody_needs_it(tmp_path: Path) -> None:
    async def work(_sessions: LocalSessions, feeds: SessionFeeds) -> None:
        feed = await feeds.get("s1")
        assert await feeds.get("s1") is feed
        stream = feed.stream(feed.state.position)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.2)
        assert await feeds.get("s1") is feed, "a browser listens"
        waiting.cancel()
        await asyncio.wait((waiting,))
        await stream.aclose()
        await asyncio.sleep(0.25)
        assert await feeds.get("s1") is not feed

    run_with_feeds(tmp_path, 0.05, work)


def test_an_unknown_session_is_an_error_each_time(tmp_path: Path) -> None:
    async def work(_sessions: LocalSessions, feeds: SessionFeeds) -> None:
        for _ in range(2):
            with pytest.raises(UsageError):
                await feeds.get("none")

    run_with_feeds(tmp_path, 60, work)


def test_a_line_of_a_browser_is_run_and_shown(tmp_path: Path) -> None:
    async def work(sessions: LocalSessions, feeds: SessionFeeds) -> None:
        feed = await feeds.get("s1")
        await asyncio.sleep(0)
        feed.submit("hello", "me")
        await wait_for(lambda: any(isinstance(event, RunEnded) for event in sessions.live["s1"].events))
        assert feed.snapshot(10)["blocks"]

    run_with_feeds(tmp_path, 60, work)
