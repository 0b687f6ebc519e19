"""The REPL runs lines in order, can always be stopped, and survives defects."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from support.prompter import FakePrompter
from tejat.core.agent.events import AgentEvent, EndReason, EventSink, Prompted, RunEnded, SessionStarted, TextStreamed
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.messages.history import user_message
from tejat.core.messages.types import Text
from tejat.core.ui.commands import (
    ClearScreenAction,
    CommandAction,
    NoAction,
    QuitAction,
    SetInputAction,
    SubmitPromptAction,
)
from tejat.core.ui.report import Paragraph, Report
from tejat.core.ui.status import ModeChange, Status
from tejat.ui.contract import UiSession
from tejat.ui.shared.repl import Repl

ENDED = RunEnded(EndReason.FINISHED)
ACTIONS: dict[str, CommandAction] = {
    "/nothing": NoAction(),
    "/ask": SubmitPromptAction("asked", "shown"),
    "/fill": SetInputAction("filled"),
    "/clear": ClearScreenAction(),
    "/quit": QuitAction(),
    "/rewind": NoAction(),
}


@dataclass
class FakeSession:
    """Answers every prompt, `wait` when `go` is set, `break` with a defect."""

    prompts: list[object] = field(default_factory=list[object])
    listeners: list[EventSink] = field(default_factory=list[EventSink])
    go: asyncio.Event = field(default_factory=asyncio.Event)
    steered: list[str] = field(default_factory=list[str])
    resumable_id: str | None = None
    survives_exit: bool = False
    has_left: bool = False
    interrupts: int = 0
    status: Status = field(default_factory=lambda: Status("m", "default", "/w"))

    @property
    def commands(self) -> "FakeSession":
        return self

    async def run(self, line: str, user: object) -> CommandAction:
        del user
        return ACTIONS[line]

    def subscribe(self, listener: EventSink) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def emit(self, event: AgentEvent) -> None:
        for listener in self.listeners:
            listener(event)

    async def prompt(self, prompt: object) -> RunEnded:
        self.prompts.append(prompt)
        if prompt == "break":
            raise KeyError(prompt)
        if prompt == "wait":
            await self.go.wait()
        self.emit(ENDED)
        return ENDED

    def leave(self) -> None:
        self.has_left = True

    def interrupt(self) -> bool:
        self.interrupts += 1
        return True

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        show("so far")
        if line == "refuse":
            raise UsageError("No.")
        if line == "wait":
            await self.go.wait()
        return f"ran {line}"

    def steer(self, text: str) -> bool:
        self.steered.append(text)
        return True

    async def next_mode(self, user: object) -> ModeChange:
        return ModeChange("plan")

    async def toggle_yolo(self, user: object) -> ModeChange:
        return ModeChange("default", "YOLO mode is disabled.")


class FakeViews:
    """Remembers the calls, each as its name and first argument."""

    def __init__(self) -> None:
        self.prompter = FakePrompter()
        self.calls: list[tuple[str, object]] = []
        self.has_input = False

    def discard_input(self) -> bool:
        had_input, self.has_input = self.has_input, False
        return had_input

    def show_report(self, report: Report) -> None:
        texts = [block.text for block in report.blocks if isinstance(block, Paragraph)]
        self.calls.append(("show_report", " ".join(texts)))

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: self.calls.append((name, args[0] if args else kwargs.get("command")))

    def of(self, *names: str) -> list[tuple[str, object]]:
        return [call for call in self.calls if call[0] in names]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ReplRun:
    session: FakeSession
    views: FakeViews
    repl: Repl
    clock: Clock

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def run(*steps: Callable[[ReplRun], object], first: str | None = None) -> tuple[int, ReplRun]:
    """The exit code after these steps, each when everything before it has settled, and an orderly exit."""

    async def main() -> tuple[int, ReplRun]:
        session, views, clock = FakeSession(), FakeViews(), Clock()
        repl = Repl(cast("UiSession", session), cast("Any", views), clock=clock)
        case = ReplRun(session, views, repl, clock)
        running = asyncio.create_task(repl.run(first))
        for step in steps:
            await case.settle()
            step(case)
        await case.settle()
        repl.exit()
        async with asyncio.timeout(60):
            code = await running
        assert session.listeners == []
        return code, case

    return asyncio.run(main())


def submit(line: str) -> Callable[[ReplRun], None]:
    return lambda case: case.repl.submit(line)


def interrupt(after: float = 0.0) -> Callable[[ReplRun], None]:
    def step(case: ReplRun) -> None:
        case.clock.now += after
        case.repl.interrupt()

    return step


def go(case: ReplRun) -> None:
    case.session.go.set()


@pytest.mark.parametrize(("line", "calls"), [
    ("hello", [("begin_run", "hello")]),
    ("/nothing", [("show_command", "/nothing")]),
    ("/ask", [("show_command", "/ask"), ("begin_run", "shown")]),
    ("/fill", [("show_command", "/fill"), ("insert_input", "filled")]),
    ("/clear", [("show_command", "/clear"), ("clear", None)]),
    ("!ls", [("begin_shell", "ls"), ("update_shell", "so far"), ("end_shell", "ran ls")]),
    ("!refuse", [("begin_shell", "refuse"), ("update_shell", "so far"), ("end_shell", "No.")]),
])  # fmt: skip
def test_lines(line: str, calls: Sequence[tuple[str, object]]) -> None:
    code, case = run(submit(line))
    assert code == EXIT_OK
    assert [call for call in case.views.calls if call[0] not in ("handle_event", "refresh")] == [
        ("begin_work", None),
        *calls,
        ("end_work", None),
    ]


def test_a_defect_is_reported_and_the_session_goes_on() -> None:
    _, case = run(submit("break"), submit("again"))
    assert case.views.of("show_report") == [("show_report", "Internal error: KeyError.")]
    assert case.session.prompts == ["break", "again"]


def test_lines_wait_in_order() -> None:
    _, case = run(submit("one"), submit("two"), go, first="wait")
    assert case.session.prompts == ["wait", "one", "two"]


def test_a_stop_gives_back_what_waits() -> None:
    _, case = run(submit("one"), submit("two"), interrupt(), submit("three"), first="wait")
    assert case.views.of("insert_input") == [("insert_input", "one\n\ntwo")]
    assert case.session.prompts == ["wait", "three"]


def test_a_stopped_shell_command_says_so() -> None:
    _, case = run(submit("!wait"), interrupt())
    assert case.views.of("end_shell") == [("end_shell", "Command was cancelled.\nso far")]


@pytest.mark.parametrize(("first", "seconds", "code"), [
    ("wait", 1.0, EXIT_INTERRUPTED),
    (None, 1.0, EXIT_OK),
])  # fmt: skip
def test_two_interrupts_exit(first: str | None, seconds: float, code: int) -> None:
    async def main() -> int:
        session, clock = FakeSession(), Clock()
        repl = Repl(cast("UiSession", session), cast("Any", FakeViews()), clock=clock)
        running = asyncio.create_task(repl.run(first))
        await asyncio.sleep(0)
        repl.interrupt()
        clock.now += seconds
        repl.interrupt()
        async with asyncio.timeout(60):
            return await running

    assert asyncio.run(main()) == code


def test_slow_interrupts_do_not() -> None:
    _, case = run(interrupt(), interrupt(after=3.0), submit("hello"))
    assert len(case.views.of("show_hint")) == 2
    assert case.session.prompts == ["hello"]


def test_an_interrupt_first_drops_the_input() -> None:
    def type_text(case: ReplRun) -> None:
        case.views.has_input = True

    _, case = run(type_text, interrupt(), interrupt(), submit("hello"))
    assert len(case.views.of("show_hint")) == 1
    assert case.session.prompts == ["hello"]


def escape(after: float = 0.1) -> Callable[[ReplRun], None]:
    def step(case: ReplRun) -> None:
        case.clock.now += after
        case.repl.escape()

    return step


def test_escape_stops_and_leaves_the_words_to_what_was_stopped() -> None:
    _, case = run(escape(), first="wait")
    assert case.views.of("show_hint") == []
    assert not case.repl.is_working


def test_an_interrupt_stops_and_says_how_to_exit() -> None:
    _, case = run(interrupt(), first="wait")
    assert case.views.of("show_hint") == [("show_hint", "Press Ctrl-C again to exit.")]


def test_escape_twice_clears_the_input() -> None:
    def type_text(case: ReplRun) -> None:
        case.views.has_input = True

    hint = ("show_hint", "Press Esc again to clear the prompt.")
    _, case = run(type_text, escape(), escape())
    assert (case.views.has_input, case.views.of("show_hint")) == (False, [hint])
    _, case = run(type_text, escape(), escape(after=5))
    assert (case.views.has_input, case.views.of("show_hint")) == (True, [hint, hint])


def test_escape_twice_rewinds_if_there_is_a_conversation() -> None:
    def save(case: ReplRun) -> None:
        case.session.resumable_id = "1"

    _, case = run(escape(), escape())
    assert case.views.of("show_hint", "show_command") == []
    _, case = run(save, escape(), escape())
    assert case.views.of("show_hint", "show_command") == [
        ("show_hint", "Press Esc again to rewind."),
        ("show_command", "/rewind"),
    ]


def test_modes() -> None:
    def wait(case: ReplRun) -> None:
        del case

    _, case = run(lambda case: case.repl.next_mode(), wait, lambda case: case.repl.toggle_yolo())
    assert case.views.of("show_hint") == [
        ("show_hint", "Read-only: nothing is changed."),
        ("show_hint", "Default mode: asks before changes. YOLO mode is disabled."),
    ]


def test_the_end_of_input() -> None:
    _, case = run(lambda case: case.repl.end_of_input(), lambda case: case.repl.end_of_input(), first="wait")
    assert [name for name, _ in case.views.of("show_hint")] == ["show_hint", "show_hint"]
    code, case = run(lambda case: case.repl.end_of_input(), submit("too late"))
    assert (code, case.session.prompts) == (EXIT_OK, [])


def test_quit() -> None:
    code, case = run(submit("/quit"), submit("too late"))
    assert (code, case.session.prompts) == (EXIT_OK, [])


def test_steering() -> None:
    _, case = run(lambda case: case.repl.steer("left"), go, lambda case: case.repl.steer("right"), first="wait")
    assert (case.session.steered, case.session.prompts) == (["left"], ["wait", "right"])


STARTED = SessionStarted("1", "m")
THEIRS = Prompted(user_message(Text("theirs")), "theirs")


def begin_elsewhere(case: ReplRun) -> None:
    for event in (STARTED, THEIRS, TextStreamed("Hi.")):
        case.session.emit(event)


def end_elsewhere(case: ReplRun) -> None:
    case.session.emit(RunEnded(EndReason.FINISHED, undelivered=("x",)))


def test_runs_of_other_front_ends_are_shown() -> None:
    _, case = run(begin_elsewhere, end_elsewhere)
    assert case.views.of("begin_work", "begin_run", "end_work", "insert_input") == [
        ("begin_work", None),
        ("begin_run", "theirs"),
        ("end_work", None),
    ]


def test_a_prompt_waits_for_the_run_of_another_front_end() -> None:
    _, case = run(begin_elsewhere, submit("mine"), lambda case: case.session.emit(TextStreamed("more")))
    assert case.session.prompts == []
    _, case = run(begin_elsewhere, submit("mine"), end_elsewhere)
    assert case.session.prompts == ["mine"]


def test_escape_and_steering_reach_the_run_of_another_front_end() -> None:
    _, case = run(begin_elsewhere, escape(), lambda case: case.repl.steer("left"))
    assert (case.session.interrupts, case.session.steered) == (1, ["left"])


def test_the_end_of_input_leaves_a_session_that_goes_on_without_this_front_end() -> None:
    def survive(case: ReplRun) -> None:
        case.session.survives_exit = True

    code, case = run(survive, begin_elsewhere, lambda case: case.repl.end_of_input(), submit("too late"))
    assert (code, case.session.has_left, case.session.prompts) == (EXIT_OK, True, [])
