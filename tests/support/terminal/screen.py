"""A person at the interactive program: a real terminal for all that it reads and writes, and the screen that they see.

with at_screen("--model", f"scripted:{script}", columns=40) as person:
    person.wait_for("Ask anything")
    person.type("hello")
    person.press("enter")
    person.wait_for("Hi there.")
    assert person.end() == 0
    assert person.modes_are_restored()
"""

import errno
import os
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from support.terminal.emulator import TerminalEmulator

TIMEOUT_SECONDS = 60.0
IDLE_SECONDS = 0.08
"""So long nobody writes who has nothing more to write."""

# What a shell does for a program: it owns the terminal, puts the program in front, and is there when it has ended,
# so that the terminal can be looked at as the program left it. It tells the process id, and at the end the exit code.
LEADER_PROGRAM = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
report = int(sys.argv[1])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGHUP, lambda *_: os.killpg(child, signal.SIGHUP))  # as shells hand it on
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    os.set_inheritable(report, False)
    if os.environ.get("LC_CTYPE") == "C.UTF-8":
        del os.environ["LC_CTYPE"]  # Python itself puts it there in the place of plain C
    for number in (signal.SIGTTOU, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(report, b"%d\\n" % child)
_, status = os.waitpid(child, 0)
os.write(report, b"%d\\n" % os.waitstatus_to_exitcode(status))
os.close(report)
try:
    while True:
        signal.pause()
except (KeyboardInterrupt, ProcessLookupError):
    pass
"""

KEYS = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "s-tab": b"\x1b[Z",
    "space": b" ",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "c-right": b"\x1b[1;5C",
    "c-left": b"\x1b[1;5D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "c-space": b"\x00",
    "c-\\": b"\x1c",
    "c-]": b"\x1d",
    "c-_": b"\x1f",
    **{f"c-{chr(letter)}": bytes([letter & 0x1F]) for letter in range(ord("a"), ord("z") + 1)},
}


class ScreenUser:
    """A user at a program's screen. Every access to `screen` processes the output so far."""

    def __init__(
        self,
        controller: int,
        line: int,
        report: int,
        model: TerminalEmulator,
        home: Path,
        cwd: Path,
        *,
        background: str = "",
    ) -> None:
        self._controller = controller
        self._line = line
        self._report = report
        self._reported = b""
        self._model = model
        self._before = termios.tcgetattr(line)
        self._last_written = time.monotonic()
        self._background = background
        self._strings_seen = 0
        self.home = home
        self.cwd = cwd
        self.raw = b""
        """All that was written."""

    @property
    def screen(self) -> TerminalEmulator:
        self._read(0)
        return self._model

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        return self.screen.text()

    @property
    def pid(self) -> int:
        """The process of the program."""
        return int(self._reports(1)[0])

    # Typing.

    def type(self, keys: str | bytes) -> None:
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            self._read(0)  # a program that waits for its output to be taken would never read
            _, writable, _ = select.select([], [self._controller], [], 1)
            if writable:
                data = data[os.write(self._controller, data[:1024]) :]

    def press(self, *names: str) -> None:
        """Keys by name: enter, escape, c-c, m-b (with Alt), up; a single character is itself."""
        for name in names:
            before, key = (b"\x1b", name[2:]) if name.startswith("m-") else (b"", name)
            self.type(before + (KEYS[key] if key in KEYS else _single(key)))

    def paste(self, text: str) -> None:
        """As terminals paste: marked, and with the returns of a keyboard for line ends."""
        assert 2004 in self.screen.modes, f"nobody has asked for marked pastes\n{self.describe()}"
        self.type(b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self._read(0)
        self._model.resize(columns, rows)
        termios.tcsetwinsize(self._controller, (rows, columns))

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """The terminal is gone, as when its window is closed."""
        self._read(0)
        os.close(self._line)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), self._controller)
        self._line = -1

    # Seeing.

    def wait_for(self, text: str, seconds: float = TIMEOUT_SECONDS, *, idle: bool = False) -> None:
        """Wait until this text stands on the screen or above it; with `idle`, until it stands and nothing changes.

        Blanks at the end of a row cannot be seen, and are not waited for.
        """
        seen = text.rstrip(" ")
        self.wait_until(lambda screen: seen in screen.history(), seconds, idle=idle, wanted=repr(text))

    def wait_until_gone(self, text: str, seconds: float = TIMEOUT_SECONDS, *, idle: bool = False) -> None:
        """Wait until this text no longer stands on the screen; what has scrolled off does not count."""
        self.wait_until(lambda screen: text not in screen.text(), seconds, idle=idle, wanted=f"to lose {text!r}")

    def wait_until(
        self,
        holds: Callable[[TerminalEmulator], bool],
        seconds: float = TIMEOUT_SECONDS,
        *,
        idle: bool = False,
        wanted: str = "what was waited for",
    ) -> None:
        """Wait until this holds of the screen, between frames; with `idle`, until it holds and nothing changes."""
        deadline = time.monotonic() + seconds
        while True:
            if not self._model.is_in_frame and holds(self._model):
                if not idle or time.monotonic() - self._last_written >= IDLE_SECONDS:
                    return
                self._read(IDLE_SECONDS)
            else:
                ended = self.has_exited
                if not self._read(0 if ended else 0.05) and ended:
                    raise AssertionError(f"the program ended ({self._reported!r}) without {wanted}\n{self.describe()}")
            assert time.monotonic() < deadline, f"{wanted} did not come in {seconds:g} s\n{self.describe()}"

    def wait_idle(self, seconds: float = TIMEOUT_SECONDS) -> TerminalEmulator:
        """Wait until nothing more is written; the screen then."""
        self._last_written = time.monotonic()
        self.wait_until(lambda _: True, seconds, idle=True, wanted="quiet")
        return self._model

    def describe(self) -> str:
        """The screen for messages: rows between bars, the cursor's place, what was not understood."""
        model = self._model
        bar = "+" + "-" * model.columns + "+"
        rows = [f"|{line}" for line in model.lines()]
        above = [f" {line}" for line in model.history().split("\n")[: len(model.scrollback)][-30:]]
        state = f"cursor {model.cursor}{'' if model.is_cursor_visible else ' (hidden)'}, modes {sorted(model.modes)}"
        return "\n".join([*above, bar, *rows, bar, state, *(f"unknown {what!r}" for what in model.unknown)])

    # The end.

    @property
    def has_exited(self) -> bool:
        return len(self._reports(0)) > 1

    def wait_for_exit(self, seconds: float = TIMEOUT_SECONDS) -> int:
        """Wait until the program has ended; its exit code, negative for the signal that ended it."""
        deadline = time.monotonic() + seconds
        while not self.has_exited:
            self._read(0.05)
            assert time.monotonic() < deadline, f"the program did not end in {seconds:g} s\n{self.describe()}"
        while self._read(0.01):
            pass
        return int(self._reports(1)[1])

    def modes_are_restored(self) -> bool:
        """Whether the line is as it was found: termios, cursor, pastes, mouse, screen, frames, colours, scrolling."""
        model = self.screen
        return (
            termios.tcgetattr(self._line) == self._before
            and model.modes == {7, 25}
            and not model.is_alternate
            and model.style == type(model.style)()
            and model.cursor_shape == 0
        )

    def _reports(self, count: int) -> list[bytes]:
        """What the one who owns the terminal has told, at least so many lines of it."""
        while True:
            lines = self._reported.split(b"\n")[:-1]
            wait = TIMEOUT_SECONDS if len(lines) < count else 0
            if not select.select([self._report], [], [], wait)[0]:
                assert len(lines) >= count, f"nothing was started\n{self.describe()}"
                return lines
            if not (told := os.read(self._report, 1000)):
                return lines
            self._reported += told

    def _read(self, wait: float) -> bool:
        """Take in what was written, waiting so long for the first of it; whether there was anything."""
        came = False
        while self._line >= 0 and select.select([self._controller], [], [], 0 if came else wait)[0]:
            try:
                data = os.read(self._controller, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return came
            if not data:
                return came
            came = True
            self._last_written = time.monotonic()
            self.raw += data
            self._model.feed(data)
            self._answer_background()
        return came

    def _answer_background(self) -> None:
        """Answer the question for the background colour (OSC 11), as terminals do that have one."""
        asked = self._model.strings[self._strings_seen :].count(("11", "?"))
        self._strings_seen = len(self._model.strings)
        if asked and self._background:
            red, green, blue = (self._background[at : at + 2] for at in (1, 3, 5))
            os.write(self._controller, f"\x1b]11;rgb:{red * 2}/{green * 2}/{blue * 2}\x1b\\".encode() * asked)


def _single(key: str) -> bytes:
    assert len(key) == 1, f"no key has the name {key!r}"
    return key.encode()


@contextmanager
def open_screen(
    *words: str | Path,
    columns: int = 80,
    rows: int = 24,
    cwd: Path | None = None,
    lang: str = "C.UTF-8",
    program: Sequence[str] = (sys.executable, "-m", "tejat"),
    background: str = "",
    **environment: str,
) -> Generator[ScreenUser]:
    """The program at a terminal of this size, with nothing in its environment but what is given here.

    HOME and the working directory are new and empty unless they are given. Root counts as warned, so that the screens
    of every user are the same. With a `background` (`#rrggbb`) the terminal tells it to programs that ask.
    """
    controller, line = os.openpty()
    report, tells = os.pipe()
    with tempfile.TemporaryDirectory(prefix="tejat-screen-", ignore_cleanup_errors=True) as made:
        home, place = Path(made) / "home", Path(made) / "project"
        home.mkdir()
        place.mkdir()
        _mark_as_warned(Path(environment.get("HOME", home)))
        termios.tcsetwinsize(line, (rows, columns))
        leader = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LEADER_PROGRAM, str(tells), *program, *words],
            stdin=line,
            stdout=line,
            stderr=line,
            cwd=cwd or place,
            start_new_session=True,
            pass_fds=[tells],
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(home),
                "TERM": "xterm-256color",
                "LANG": lang,
                **environment,
            },
        )
        os.close(tells)
        user = ScreenUser(
            controller,
            line,
            report,
            TerminalEmulator(columns, rows),
            Path(environment.get("HOME", home)),
            cwd or place,
            background=background,
        )
        try:
            yield user
        finally:
            with leader:
                _end(user, leader)
            os.close(controller)
            os.close(report)
            if user._line >= 0:
                os.close(user._line)


def _mark_as_warned(home: Path) -> None:
    state = home / ".local" / "state" / "tejat"
    with suppress(OSError):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        (state / "root-warning").touch()


def _end(user: ScreenUser, leader: "subprocess.Popen[bytes]") -> None:
    """End the program with all that it started in its group, then the one who owns the terminal."""
    try:
        if not user.has_exited:
            with suppress(ProcessLookupError, AssertionError):
                os.killpg(user.pid, signal.SIGKILL)
    finally:
        leader.kill()
