"""Where the tools of a client work, and when they are let go."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.note_tool import open_scheduler
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import UsageError
from tejat.engine.calls.scheduler import Scheduler
from tejat.ui.mcp_server.client_approver import ChannelApprover
from tejat.ui.mcp_server.client_workspace import ClientWorkspace, parse_roots


class FakeTools:
    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def offers(self, name: str) -> bool:
        return name in self.scheduler.registry


class FakeSession:
    """Opens tools and writes down when. Nobody has any tools in `/nowhere`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.log: list[str] = []

    @contextmanager
    def open(self, approver: Approver, within: Sequence[str]) -> Generator[FakeTools]:
        name = ",".join(within) or "all"
        if name == "/nowhere":
            raise UsageError("There is nothing.")
        self.log.append(f"open {name}")
        with open_scheduler(self._directory, [], None) as scheduler:
            yield FakeTools(scheduler)
        self.log.append(f"close {name}")


def test_tools_are_opened_once_and_closed_at_the_end(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    place = ClientWorkspace(session, ChannelApprover())
    assert session.log == []
    with place.tools() as first, place.tools() as second:
        assert first is second
    place.close()
    place.close()
    assert session.log == ["open all", "close all"]


def test_moving_closes_what_nobody_uses(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    place = ClientWorkspace(session, ChannelApprover())
    place.set_roots(("/place/a",))
    with place.tools():
        pass
    place.set_roots(("/place/a",))
    place.set_roots(("/place/b",))
    with place.tools():
        pass
    assert session.log == ["open /place/a", "close /place/a", "open /place/b"]


def test_what_is_in_use_is_closed_after_that(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    place = ClientWorkspace(session, ChannelApprover())
    with place.tools():
        with place.tools():
            place.set_roots(("/place/a",))
            with place.tools():
                pass
        assert session.log == ["open all", "open /place/a"]
    assert session.log == ["open all", "open /place/a", "close all"]
    place.close()
    assert session.log[3:] == ["close /place/a"]


def test_the_end_closes_also_what_was_left(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    place = ClientWorkspace(session, ChannelApprover())
    with place.tools():
        place.set_roots(("/place/a",))
        place.close()
        assert session.log == ["open all", "close all"]


def test_a_place_that_cannot_be_had_may_be_had_later(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    place = ClientWorkspace(session, ChannelApprover())
    place.set_roots(("/nowhere",))
    with pytest.raises(UsageError, match="There is nothing"), place.tools():
        pass
    place.set_roots(())
    with place.tools():
        pass
    assert session.log == ["open all"]


ROOTS: list[tuple[Any, list[str] | None]] = [
    ([{"uri": "file:///a/b", "name": "b"}], ["/a/b"]),
    ([{"uri": "file:///a%20b/%C3%BC%FF"}], [os.fsdecode(b"/a b/\xc3\xbc\xff")]),
    ([{"uri": "file://localhost/a"}], ["/a"]),
    ([{"uri": "FILE:///a"}], ["/a"]),
    ([{"uri": "file:///a"}, {"uri": "file:///b"}], ["/a", "/b"]),
    ([{"uri": "file:///a"}] * 100, ["/a"] * 64),
    (
        [{"uri": uri} for uri in ("https://a/b", "/a", "file:a", "file://host/a", "file:///a%00b", "file://[", 3)],
        [],
    ),
    ([None, {}, 3], []),
    ([], None),
    ("file:///a", None),
    (None, None),
    ({}, None),
]


@pytest.mark.parametrize(("roots", "expected"), ROOTS)
def test_directories_in_the_answer(roots: Any, expected: list[str] | None) -> None:
    assert parse_roots({"roots": roots}) == expected
