"""Displays of output in terminals of a real client, which behaves well or badly."""

import asyncio
import os
import stat
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.acp.terminal_client import Behaviour
from support.acp.terminals import TerminalClient, patient, start_client
from support.wait import wait_until_async
from tejat.ui.acp.client import ClientCapabilities
from tejat.workspace.processes.terminals import displays as module
from tejat.workspace.processes.terminals.displays import TerminalDisplay, TerminalDisplays

pytestmark = pytest.mark.usefixtures(patient.__name__)

Test = Callable[["Session"], Awaitable[None]]


class Session:
    """The displays of a session and what they report."""

    def __init__(self, client: TerminalClient, directory: Path) -> None:
        self.client = client
        self.warnings: list[str] = []
        self.stops = 0
        self.displays = TerminalDisplays(client.terminals, self.warnings.append)
        self._directory = str(directory)

    def open(self, call_id: str = "call-1") -> TerminalDisplay:
        display = self.displays.open(call_id=call_id, directory=self._directory, on_stop=self._count_stop)
        assert display is not None
        return display

    @property
    def is_usable(self) -> bool:
        display = self.displays.open(call_id="call-9", directory=self._directory, on_stop=self._count_stop)
        if display is not None:
            self.displays.close(display)
        return display is not None

    def _count_stop(self) -> None:
        self.stops += 1


def run(tmp_path: Path, test: Test, behaviour: Behaviour = Behaviour.GOOD) -> None:
    async def main() -> None:
        async with start_client(behaviour) as client:
            session = Session(client, tmp_path)
            try:
                await asyncio.wait_for(test(session), 60)
            finally:
                session.displays.close_all()

    asyncio.run(main())


def test_output_is_printed_as_it_comes_and_the_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        display.write(b"one\n")
        await wait_until_async(lambda: bool(session.client.shown))
        assert session.client.shown == [("call-1", "term_1")]
        await session.client.states(lambda states: "one" in states[0]["output"])
        display.write(b"two \x1b[31mred\x1b[m \x1b]52;c;eA==\x07")
        await session.displays.finish(display, 7)
        (terminal,) = await session.client.states()
        assert terminal["output"] == "one\r\ntwo \x1b[31mred\x1b[m "
        assert terminal["exit"] == {"exitCode": 7, "signal": None}
        assert terminal["released"]
        assert terminal["params"]["sessionId"] == "session-1"
        assert terminal["params"]["cwd"] == str(tmp_path)
        assert terminal["params"]["outputByteLimit"] > 0
        assert await session.client.methods() == ["terminal/create", "terminal/wait_for_exit", "terminal/release"]
        assert (session.warnings, session.stops) == ([], 0)

    run(tmp_path, test)


@pytest.mark.parametrize("behaviour", [Behaviour.SHELL, Behaviour.PIPES])
def test_editors_that_use_a_shell_or_no_pseudo_terminal(tmp_path: Path, behaviour: Behaviour) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        display.write(b"one\n")
        await session.displays.finish(display, 3)
        (terminal,) = await session.client.states()
        assert terminal["output"].splitlines()[-1] == "one"
        assert terminal["exit"] == {"exitCode": 3, "signal": None}

    run(tmp_path, test, behaviour)


def test_the_socket_is_private_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        directory = os.path.dirname((await session.client.states())[0]["params"]["args"][-1])
        assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
        await session.displays.finish(display, 0)
        assert os.listdir(directory) == []
        session.displays.close_all()
        assert os.path.basename(directory) not in os.listdir(os.path.dirname(directory))

    run(tmp_path, test)


def test_nothing_that_came_from_a_model_is_an_argument(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        await session.displays.finish(session.open("$(touch x); '"), 0)
        params = (await session.client.states())[0]["params"]
        assert "touch" not in str(params)

    run(tmp_path, test)


def test_only_one_program_is_served(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        path = (await session.client.states())[0]["params"]["args"][-1]
        reader, writer = await asyncio.open_unix_connection(path)
        display.write(b"one\n")
        with pytest.raises((ConnectionError, AssertionError)):
            assert await reader.read() != b""
        writer.close()
        await session.displays.finish(display, 0)
        assert (await session.client.states())[0]["output"] == "one\r\n"
        assert session.stops == 0

    run(tmp_path, test)


def test_stopping_the_terminal_is_reported_once(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        await session.client.kill_program()
        await wait_until_async(lambda: session.stops == 1)
        display.write(b"late\n")
        await session.displays.finish(display, 0)
        assert (session.stops, session.warnings) == (1, [])
        assert session.is_usable

    run(tmp_path, test)


def test_closing_frees_the_terminal_and_is_no_stop(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        session.displays.close(display)
        session.displays.close(display)
        await session.client.states(lambda states: states[0]["exit"])
        assert (await session.client.methods()).count("terminal/release") == 1
        assert session.stops == 0

    run(tmp_path, test)


def test_a_terminal_that_opens_after_all_is_released(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        await asyncio.sleep(0.1)
        session.displays.close(display)
        await session.client.states(lambda states: states and states[0]["released"])
        assert session.client.shown == []

    run(tmp_path, test, Behaviour.LATE)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (Behaviour.REFUSE, "the client answered: Permission denied for terminal/create"),
        (Behaviour.ABSENT, "the program that prints the output ended at once (exit code 127)"),
        (Behaviour.NONSENSE, "the client opened a terminal without an id"),
        (Behaviour.LIAR, "the program that prints the output ended at once (exit code 0)"),
        (Behaviour.CRASH, "the client answered: The connection was closed"),
    ],
)
def test_an_editor_that_fails_is_not_asked_again(tmp_path: Path, behaviour: Behaviour, reason: str) -> None:
    async def test(session: Session) -> None:
        display, other = session.open(), session.open("call-2")
        display.write(b"one\n")
        await session.displays.finish(display, 0)
        await session.displays.finish(other, 0)
        assert session.warnings == [
            f"The output of commands is shown as text from now on, not in terminals of your editor: {reason}."
        ]
        assert session.client.shown == []
        assert not session.is_usable

    run(tmp_path, test, behaviour)


@pytest.mark.parametrize("behaviour", [Behaviour.SILENT, Behaviour.IDLE, Behaviour.DEAF])
def test_an_editor_that_takes_too_long_is_asked_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour
) -> None:
    if behaviour is not Behaviour.DEAF:
        monkeypatch.setattr(module, "_START_SECONDS", 0.05)
    monkeypatch.setattr(module, "_EXIT_SECONDS", 0.05)

    async def test(session: Session) -> None:
        for _ in range(3):
            assert session.is_usable
            began = time.monotonic()
            await session.displays.finish(session.open(), 0)
            assert time.monotonic() - began < 5
        assert not session.is_usable
        (warning,) = session.warnings
        assert warning.endswith(": they take too long.")

    run(tmp_path, test, behaviour)


def test_nothing_waits_for_the_terminal_of_an_editor_that_shows_output_anyway(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        session.client.connection.capabilities = ClientCapabilities(has_terminals=True, shows_terminal_output=True)
        for _ in range(4):
            display = session.open()
            await asyncio.sleep(0.05)
            await session.displays.finish(display, 0)
        assert (session.client.shown, session.warnings) == ([], [])
        await session.client.states(lambda states: len(states) == 4 and all(each["released"] for each in states))

    run(tmp_path, test, Behaviour.LATE)


def test_such_an_editor_has_the_terminals_that_opened_in_time(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        session.client.connection.capabilities = ClientCapabilities(has_terminals=True, shows_terminal_output=True)
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        await session.displays.finish(display, 3)
        assert (await session.client.states())[0]["exit"] == {"exitCode": 3, "signal": None}

    run(tmp_path, test)


def test_a_slow_terminal_does_not_hold_up_and_shows_the_end(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        display = session.open()
        for number in range(200):
            display.write(b"%06d " % number * 3000)  # more than fits into all buffers
        display.write(b"the end\n")
        await session.displays.finish(display, 0)
        output = (await session.client.states())[0]["output"]
        assert output.endswith("the end\r\n")
        assert "bytes of output are not shown here]" in output
        assert len(output) < 1 << 20

    run(tmp_path, test)


def test_a_terminal_that_nobody_reads_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PRINT_SECONDS", 0.2)

    async def test(session: Session) -> None:
        display = session.open()
        await wait_until_async(lambda: bool(session.client.shown))
        for _ in range(20):
            display.write(b"x" * 100_000)
        began = time.monotonic()
        await session.displays.finish(display, 0)
        assert time.monotonic() - began < 5
        await session.client.states(lambda states: states[0]["exit"])

    run(tmp_path, test, Behaviour.UNREAD)


def test_a_directory_that_was_removed_is_made_again(tmp_path: Path) -> None:
    async def test(session: Session) -> None:
        await session.displays.finish(session.open(), 0)
        os.rmdir(os.path.dirname((await session.client.states())[0]["params"]["args"][-1]))
        await session.displays.finish(session.open(), 4)
        assert (await session.client.states())[1]["exit"] == {"exitCode": 4, "signal": None}
        assert session.warnings == []

    run(tmp_path, test)


def test_without_a_place_for_the_socket_there_are_no_displays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))

    async def test(session: Session) -> None:
        await session.displays.finish(session.open(), 0)
        (warning,) = session.warnings
        assert "too long" in warning
        assert await session.client.methods() == []

    run(tmp_path, test)
