"""Notifications: when they are written, how, and to whom."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping

import pytest
from prompt_toolkit.output import DummyOutput

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.ui.status import NotificationMethod, NotificationOptions
from tejat.ui.shared.external.tmux import TmuxClient
from tejat.ui.terminal.notifications import Notifier, choose_method
from tejat.ui.terminal.screen.focus import FocusReports

AUTO, OSC9, OSC777, BELL = NotificationMethod
QUESTION = "Waiting for your answer"


class Desk:
    """A notifier, and what it has written."""

    def __init__(
        self,
        options: NotificationOptions | None = None,
        tmux: TmuxClient | None = None,
        **environment: str,
    ) -> None:
        self.written: list[str] = []
        self.focus = FocusReports(DummyOutput())
        self.focus.open()
        self._tmux = tmux
        self.on_read: Callable[[], None] = lambda: None
        self.notifier = Notifier(
            self.written.append, self.focus, environment, start=self._run, read_tmux=self._read_tmux
        )
        self.notifier.apply(options or NotificationOptions(is_enabled=True))

    def _run(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run(work)

    async def _read_tmux(self) -> TmuxClient | None:
        self.on_read()
        return self._tmux


def test_nothing_by_default() -> None:
    desk = Desk(NotificationOptions())
    desk.notifier.notify_question()
    desk.notifier.end_turn(RunEnded(EndReason.FINISHED, seconds=60))
    desk.notifier.end_work()
    assert desk.written == []


def test_a_question_unless_the_terminal_has_the_focus() -> None:
    desk = Desk()
    desk.notifier.notify_question()  # nothing is known about the focus
    desk.focus.handle_report(True)
    desk.notifier.notify_question()
    assert desk.written == ["\a"]
    desk.focus.handle_report(False)
    desk.notifier.notify_question()
    assert desk.written == ["\a", "\a"]


def test_the_end_of_a_long_turn_once_all_work_is_done() -> None:
    desk = Desk(TERM="xterm-kitty")
    desk.notifier.end_turn(RunEnded(EndReason.FINISHED, seconds=65))
    assert desk.written == []
    desk.notifier.end_turn(RunEnded(EndReason.FINISHED, seconds=1))
    desk.notifier.end_work()
    desk.notifier.end_work()
    assert desk.written == ["\x1b]9;Tejat: Finished after 1 min 5 s\x07"]


@pytest.mark.parametrize(
    "end",
    [RunEnded(EndReason.FINISHED, seconds=4.9), RunEnded(EndReason.INTERRUPTED, seconds=60)],
    ids=["short", "stopped by the user"],
)
def test_other_turns_end_in_silence(end: RunEnded) -> None:
    desk = Desk()
    desk.notifier.end_turn(end)
    desk.notifier.end_work()
    assert desk.written == []


def test_a_turn_that_failed_is_an_end_too() -> None:
    desk = Desk()
    desk.notifier.end_turn(RunEnded(EndReason.LOOP, seconds=5.0))
    desk.notifier.end_work()
    assert desk.written == ["\a"]


def test_nothing_while_another_program_has_the_terminal() -> None:
    desk = Desk()
    desk.focus.close()
    desk.notifier.notify_question()
    assert desk.written == []


@pytest.mark.parametrize(
    ("environment", "method"),
    [
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, OSC9),
        ({"LC_TERMINAL": "iTerm2", "TERM": "xterm-256color"}, OSC9),
        ({"TERM_PROGRAM": "WezTerm"}, OSC9),
        ({"TERM_PROGRAM": "ghostty"}, OSC9),
        ({"TERM": "xterm-ghostty"}, OSC9),
        ({"TERM": "xterm-kitty"}, OSC9),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, OSC9),
        ({"TERM": "rxvt-unicode-256color"}, OSC777),
        ({"TERM": "foot", "KITTY_WINDOW_ID": "1"}, OSC777),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, OSC777),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600", "TERM_PROGRAM": "vscode"}, BELL),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600", "XTERM_VERSION": "XTerm(379)"}, BELL),
        ({"TERM": "screen-256color", "LC_TERMINAL": "iTerm2"}, BELL),
        ({"TERM": "xterm-kitty", "STY": "1.pts"}, BELL),
        ({"TERM": "linux"}, BELL),
        ({}, BELL),
    ],
)
def test_the_method_for_a_terminal(environment: Mapping[str, str], method: NotificationMethod) -> None:
    assert choose_method(AUTO, environment) is method


@pytest.mark.parametrize(
    ("method", "sequence"),
    [(OSC9, f"\x1b]9;Tejat: {QUESTION}\x07"), (OSC777, f"\x1b]777;notify;Tejat;{QUESTION}\x07"), (BELL, "\a")],
)
def test_the_setting_decides(method: NotificationMethod, sequence: str) -> None:
    desk = Desk(NotificationOptions(is_enabled=True, method=method), TERM="xterm-kitty")
    desk.notifier.notify_question()
    assert desk.written == [sequence]


@pytest.mark.parametrize(
    ("method", "tmux", "sequence"),
    [
        (AUTO, None, "\a"),
        (AUTO, TmuxClient(False, "kitty(0.35)", "xterm-kitty"), "\a"),
        (AUTO, TmuxClient(True, "", "xterm-256color"), "\a"),
        (AUTO, TmuxClient(True, "", "xterm-kitty"), f"\x1bPtmux;\x1b\x1b]9;Tejat: {QUESTION}\x07\x1b\\"),
        (AUTO, TmuxClient(True, "VTE(7600)", ""), f"\x1bPtmux;\x1b\x1b]777;notify;Tejat;{QUESTION}\x07\x1b\\"),
        (OSC9, TmuxClient(True), f"\x1bPtmux;\x1b\x1b]9;Tejat: {QUESTION}\x07\x1b\\"),
        (OSC9, TmuxClient(False), "\a"),
        (BELL, TmuxClient(True, "kitty"), "\a"),
    ],
)
def test_inside_tmux(method: NotificationMethod, tmux: TmuxClient | None, sequence: str) -> None:
    options = NotificationOptions(is_enabled=True, method=method)
    desk = Desk(options, tmux, TMUX="/tmp/tmux-0/default,1,0", TERM="tmux-256color", KITTY_WINDOW_ID="1")
    desk.notifier.notify_question()
    assert desk.written == [sequence]


def test_the_focus_may_come_back_while_tmux_is_asked() -> None:
    desk = Desk(None, TmuxClient(True, "kitty"), TMUX="x")
    desk.on_read = lambda: desk.focus.handle_report(True)
    desk.notifier.notify_question()
    assert desk.written == []
