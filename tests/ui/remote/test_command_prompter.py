"""Tests of what a command asks the user of a front end, over a real connection."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support.prompter import FakePrompter
from tejat.core.errors import UsageError
from tejat.core.messages.types import JsonObject
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report
from tejat.ui.jsonrpc.peer import JsonRpcPeer, RequestError
from tejat.ui.jsonrpc.socket_stream import SocketSink, SocketSource
from tejat.ui.remote import methods
from tejat.ui.remote.command_prompter import CommandPrompter
from tejat.ui.remote.params import read_param
from tejat.ui.remote.prompter_requests import answer_prompter_request


class _FrontEnd:
    """Answers what is asked with the prompter."""

    def __init__(self, user: UserPrompter) -> None:
        self.user = user

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        return await answer_prompter_request(self.user, method, params)

    def handle_notification(self, method: str, params: JsonObject) -> None:
        if method == methods.SHOW:
            self.user.show(read_param(params, "report", Report))


class _Secretive(FakePrompter):
    """Notes which entries are secret."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(**answers)
        self.secrets: list[tuple[str, str, bool]] = []

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        self.secrets.append((label, initial, is_secret))
        return await super().enter(label, initial=initial, is_secret=is_secret)


@asynccontextmanager
async def connected(user: UserPrompter) -> AsyncGenerator[tuple[CommandPrompter, JsonRpcPeer]]:
    """The prompter of a command, and the connection of the front end that this user is at."""
    ours, theirs = socket.socketpair()
    here, there = (JsonRpcPeer(lambda _: None, name="test") for _ in range(2))

    async def serve(peer: JsonRpcPeer, end: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=end)
        await peer.serve(_FrontEnd(user), SocketSource(reader), SocketSink(writer))
        writer.close()

    serving = [asyncio.create_task(serve(peer, end)) for peer, end in ((here, ours), (there, theirs))]
    try:
        yield CommandPrompter(here), there
    finally:
        here.close()
        there.close()
        await asyncio.wait(serving)


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await work

    asyncio.run(bounded())


def test_every_question_arrives_with_its_answer() -> None:
    user = _Secretive(choices=[1], entries=["s3cret", None], edits=["new text"])
    report = Report("Title", (Paragraph("Shown."),))

    async def use() -> None:
        async with connected(user) as (prompter, _):
            prompter.show(report)
            assert await prompter.enter("Key", initial="x", is_secret=True) == "s3cret"
            assert await prompter.enter("Name") is None
            assert await prompter.edit("old text", suffix=".txt") == "new text"
            assert await prompter.copy("copied") == "clipboard"
            assert await prompter.page([report, report]) is False

    run(use())
    assert user.secrets == [("Key", "x", True), ("Name", "", False)]
    assert user.copied == ["copied"]
    assert user.reports == [report] * 3


def test_an_editor_or_a_clipboard_that_is_missing_is_reported() -> None:
    async def use() -> None:
        async with connected(FakePrompter(can_copy=False)) as (prompter, _):
            with pytest.raises(UsageError, match="There is no clipboard here"):
                await prompter.copy("x")

    run(use())


def test_a_front_end_that_leaves_chooses_nothing() -> None:
    class Slow(FakePrompter):
        async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
            await asyncio.sleep(60)
            return "late"

    async def use() -> None:
        async with connected(Slow()) as (prompter, there):
            asking = asyncio.create_task(prompter.enter("Key"))
            await asyncio.sleep(0.05)
            there.close()
            assert await asking is None
            assert await prompter.edit("x") is None

    run(use())


def test_an_unknown_question_is_an_error() -> None:
    async def use() -> None:
        with pytest.raises(RequestError, match="Method not found: nonsense"):
            await answer_prompter_request(FakePrompter(), "nonsense", {})
        with pytest.raises(RequestError, match="label is invalid"):
            await answer_prompter_request(FakePrompter(), methods.ENTER, {"label": 5, "initial": ""})

    run(use())
