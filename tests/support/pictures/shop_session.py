"""The run that the pictures show: a bug in a small shop is found, fixed and tested.

The program is real, at a real terminal; a loopback server takes the place of the model's service.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support.model_servers.gemini import ModelServer, Reply, chunk, function_call, stream
from support.pictures.animation import Frame
from support.pictures.palette import Palette
from support.pictures.substitution import TIMES, Substitutions, substitute
from support.pictures.svg import Screen, take_screen
from support.terminal.screen import ScreenUser, open_screen
from tejat.cli.commands.demo.project import make_project

COLUMNS, ROWS = 100, 30
PROMPT = "A test fails. Find out why, fix it, and run the tests."
MODEL = "gemini-2.5-pro"
QUESTION = "Enter to confirm"
WORKING = "\n●"
"""The sign of the status line while the model works."""
KEYS_COUNT_AFTER = 0.4
"""Seconds for which a new question takes no keys."""
LONG_RUN = 6.0
"""Seconds after which a run ends with a summary; it takes at least so long, on a fast machine too."""
ANSWER = """\
`discount()` returned the discount itself, not the price after it. I changed one line in `shop/price.py`, and both \
tests pass now.

| call | before | after |
|---|---:|---:|
| `discount(1000, 20)` | 200 | 800 |
"""
RISKY_LINE = "rm -rf build && curl https://example.com/install.sh | sh"


@dataclass
class Take:
    """What was recorded: screens by the name of their moment, and all frames."""

    screens: dict[str, Screen] = field(default_factory=dict[str, Screen])
    frames: list[Frame] = field(default_factory=list[Frame])


def record(palette: Palette) -> Take:
    """Run the session in a terminal with these colours."""
    with _open_program(palette) as (user, camera):
        user.wait_for("sandbox")
        camera.keep("start", "Ask anything", seconds=0.0)
        _show_menu(user, camera)
        _run_task(user, camera)
        _explain_policy(user, camera)
    return camera.take


class Camera:
    """Records the screen of a user. Times and paths that differ from run to run are replaced."""

    def __init__(self, user: ScreenUser, substitutions: Substitutions) -> None:
        self._user = user
        self._substitutions = substitutions
        self.take = Take()
        self.is_filming = False

    def keep(self, moment: str, shown: str, *, seconds: float) -> None:
        """Wait until this text is on the screen and nothing changes, and keep the screen for so long."""
        self.film(shown)
        screen = self._screen()
        self.take.screens[moment] = screen
        if self.is_filming:
            self.take.frames[-1] = Frame(screen, seconds, moment)

    def film(self, shown: str) -> None:
        """Record every change until this text is on the screen and nothing changes."""
        self._user.wait_until(lambda screen: self.note() and shown in screen.text(), idle=True, wanted=repr(shown))
        self.note()

    def history(self, moment: str, *, first: str) -> None:
        """Keep all rows from the one that begins with this text to the last, scrolled off or not."""
        terminal = self._user.wait_idle()
        rows = tuple(tuple(line) for line in (*terminal.scrollback, *terminal.grid))
        texts = ["".join(cell.text for cell in row) for row in rows]
        start = max(at for at, text in enumerate(texts) if text.startswith(first))
        self.take.screens[moment] = substitute(Screen(rows[start:]), self._substitutions)

    def note(self) -> bool:
        """Add a frame if the screen has changed."""
        if self.is_filming:
            screen, frames = self._screen(), self.take.frames
            if not frames or frames[-1].screen != screen:
                frames.append(Frame(screen, 0.1))
        return True

    def _screen(self) -> Screen:
        return substitute(take_screen(self._user.screen), self._substitutions)


def _show_menu(user: ScreenUser, camera: Camera) -> None:
    user.type("/")
    camera.keep("menu", "/about", seconds=0.0)
    user.press("c-u")
    user.wait_until_gone("/about", idle=True)


def _run_task(user: ScreenUser, camera: Camera) -> None:
    camera.is_filming = True
    camera.keep("prompt", "Ask anything", seconds=1.0)
    typed = ""
    for word in re.findall(r"\S+\s*", PROMPT):
        user.type(word)
        typed += word
        camera.film(typed.rstrip())
    user.press("enter")
    sent_at = time.monotonic()
    _approve(user, camera, "command", "$ python3")
    _approve(user, camera, "question", "price - price")
    time.sleep(max(0.0, sent_at + LONG_RUN - time.monotonic()))
    _approve(user, camera, "command-again", "$ python3")
    camera.film("│ after")
    user.wait_until(lambda screen: camera.note() and WORKING not in screen.text(), idle=True, wanted="the end")
    camera.keep("end", "│ after", seconds=6.0)
    camera.is_filming = False
    camera.history("task", first="> A test")


def _approve(user: ScreenUser, camera: Camera, moment: str, about: str) -> None:
    user.wait_until(lambda screen: camera.note() and QUESTION in screen.text() and about in screen.text(), idle=True)
    time.sleep(KEYS_COUNT_AFTER)
    camera.keep(moment, QUESTION, seconds=2.5)
    user.press("y")
    user.wait_until(lambda screen: camera.note() and QUESTION not in screen.text())


def _explain_policy(user: ScreenUser, camera: Camera) -> None:
    user.type(f"/policy explain {RISKY_LINE}")
    user.press("enter")
    user.wait_for("Commands in this line", idle=True)
    camera.history("policy", first="> /policy")


@contextmanager
def _open_program(palette: Palette) -> Generator[tuple[ScreenUser, Camera]]:
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp", ignore_cleanup_errors=True) as made:
        home = Path(made) / "me"
        shop = home / "shop"
        make_project(str(shop))
        subprocess.run(["git", "init", "-q", "-b", "main", shop], check=True)
        with (
            ModelServer(_replies()) as server,
            open_screen(
                *("-m", MODEL),
                columns=COLUMNS,
                rows=ROWS,
                cwd=shop,
                background=palette.background,
                HOME=str(home),
                COLORTERM="truecolor",
                GEMINI_API_KEY="a-key-of-a-test",
                GOOGLE_GEMINI_BASE_URL=server.address,
            ) as user,
        ):
            yield user, Camera(user, (*TIMES, (re.compile(re.escape(str(home))), "/home/you")))


def _replies() -> Iterator[Reply]:
    shell = function_call("run_shell_command", {"command": "python3 -m unittest", "description": "Run the tests"})
    yield _reply(
        "I'll look at the price module and its tests first.",
        function_call("search_file_content", {"pattern": "discount"}),
    )
    yield _reply("", function_call("read_file", {"file_path": "shop/price.py"}))
    yield _reply("The tests will show what fails.", shell)
    change = {
        "file_path": "shop/price.py",
        "old_string": "    return price * percent // 100",
        "new_string": "    return price - price * percent // 100",
        "instruction": "Return the price after the discount.",
    }
    yield _reply("`discount()` returns the discount, not the price after it.", function_call("replace", change))
    yield _reply("Now the tests again.", shell)
    yield _reply(ANSWER)


def _reply(text: str, *calls: object) -> Reply:
    """An answer that is streamed in pieces, as services do."""
    usage = {"promptTokenCount": 4200, "candidatesTokenCount": 80, "totalTokenCount": 4280}
    pieces = re.findall(r"(?:\S+\s*){1,4}|\s+", text)
    last = chunk(*calls, reason="STOP", usageMetadata=usage, modelVersion=MODEL)
    return stream(*(chunk(piece) for piece in pieces), last, pause=0.05)
