"""The list of sessions: who waits first, and no work while nobody looks."""

import asyncio
from collections.abc import Sequence

from tejat.ui.web.contract import SessionActivity, SessionEntry
from tejat.ui.web.overview import OverviewFeed, entry_to_json, sort_entries


def entry(name: str, activity: SessionActivity, *, since: float = 0.0, modified: float = 0.0) -> SessionEntry:
    return SessionEntry(name, name, "/project", activity, since, modified)


class Directory:
    """A list that the test changes."""

    def __init__(self) -> None:
        self.entries = [entry("a", SessionActivity.IDLE)]
        self.listed = 0

    async def list_sessions(self) -> Sequence[SessionEntry]:
        self.listed += 1
        return self.entries


def test_those_that_wait_longest_come_first_then_those_that_work() -> None:
    entries = [
        entry("old", SessionActivity.ENDED, modified=1),
        entry("new", SessionActivity.ENDED, modified=9),
        entry("idle", SessionActivity.IDLE, modified=50),
        entry("works", SessionActivity.WORKING, modified=3),
        entry("waits", SessionActivity.WAITING, since=5, modified=99),
        entry("waits longer", SessionActivity.WAITING, since=2, modified=1),
    ]
    names = [each.session_id for each in sort_entries(entries)]
    assert names == ["waits longer", "waits", "works", "idle", "new", "old"]


def test_texts_of_sessions_are_sanitized() -> None:
    shown = entry_to_json(SessionEntry("a", "x\x1b[31m\u202ey", "/p", SessionActivity.IDLE, 1.2, 3.7))
    assert "\x1b" not in str(shown["title"])
    assert "\u202e" not in str(shown["title"])
    assert (shown["since"], shown["modified"]) == (1, 4)


def test_nothing_is_listed_while_nobody_listens() -> None:
    async def main() -> None:
        directory = Directory()
        feed = OverviewFeed(directory)  # pyright: ignore[reportArgumentType]
        await asyncio.sleep(0.02)
        assert directory.listed == 0
        stream = feed.stream()
        assert b'"id":"a"' in await anext(stream)
        await stream.aclose()
        listed = directory.listed
        feed.refresh()
        await asyncio.sleep(0.05)
        assert directory.listed == listed

    asyncio.run(main())


def test_all_listeners_get_a_change_soon_and_no_repetition() -> None:
    async def main() -> None:
        directory = Directory()
        feed = OverviewFeed(directory)  # pyright: ignore[reportArgumentType]
        streams = [feed.stream(), feed.stream()]
        for stream in streams:
            assert b'"idle"' in await anext(stream)
        waiting = [asyncio.ensure_future(anext(stream)) for stream in streams]
        feed.refresh()
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting), "nothing has changed"
        directory.entries = [entry("a", SessionActivity.WAITING)]
        feed.refresh()
        async with asyncio.timeout(5):
            assert all(b'"waiting"' in message for message in await asyncio.gather(*waiting))
        for stream in streams:
            await stream.aclose()

    asyncio.run(main())
