"""A talk at the real program on a real screen: a script for the model, a project, and keys that somebody presses."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.process_marks import living_pids
from support.program import script_answer, write_settings
from support.terminal.emulator import TerminalEmulator
from support.terminal.screen import ScreenUser, open_screen
from support.wait import wait_until

SHELL = "run_shell_command"
READY = "Ask something."
SLOW_FACTOR = 4.0
"""So many times longer than the half second that is promised may it take here, where other tests run beside."""

MARKDOWN = """\
# First heading

Some **bold**, *slanted* and `coded` words in a paragraph that is longer than a row of any terminal that we try here.

## Second heading

- one
- two
  - below two
- three

1. first
2. second

| 名前 | value |
|------|------:|
| 日本語 | 1 |
| plain | 22 |

> A quote of
> two lines

```python
def twice(x: int) -> int:
    return x * 2  # 二倍
```

The end.
"""


@dataclass(frozen=True)
class TerminalSetting:
    """A terminal: its size, and the locale that decides about the signs that it has."""

    columns: int
    rows: int
    lang: str

    @property
    def is_ascii(self) -> bool:
        return self.lang == "C"

    @property
    def name(self) -> str:
        return f"{self.columns}{'_ascii' if self.is_ascii else ''}"

    def glyphs(self, text: str) -> str:
        """The text with the signs that there are here."""
        return text.translate(_ASCII) if self.is_ascii else text


_ASCII = str.maketrans("✓✗⊘■◷●○•…│─┼→❯·▲", "+x-#%*o*~|-+>>|!")
WIDE, NARROW = TerminalSetting(80, 24, "C.UTF-8"), TerminalSetting(40, 20, "C")
OTHERS = TerminalSetting(40, 20, "C.UTF-8"), TerminalSetting(80, 24, "C")
both_settings = pytest.mark.parametrize("setting", [WIDE, NARROW], ids=lambda setting: setting.name)
all_settings = pytest.mark.parametrize("setting", [WIDE, NARROW, *OTHERS], ids=lambda setting: setting.name)


@dataclass
class TerminalEnv:
    """A home and a project that stay when the program is started again."""

    base: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for directory in (self.home, self.project):
            directory.mkdir(exist_ok=True)

    @property
    def home(self) -> Path:
        return self.base / "me"

    @property
    def project(self) -> Path:
        return self.home / "project"

    def write_settings(self, **settings: Any) -> None:
        """The person's own settings."""
        write_settings(self.home, settings)

    def script(self, text: str) -> str:
        (self.home / "talk.toml").write_text(text.replace("\x7f", "\\u007f"), encoding="utf-8")
        return "scripted:../talk.toml"

    @contextmanager
    def open_chat(
        self, script: str, *words: str, setting: TerminalSetting = WIDE, ready: str | None = READY, **environment: Any
    ) -> Generator[ScreenUser]:
        """The program with this script for a model, ready for the first key."""
        given = ("-m", self.script(script), "--sandbox", "off", *words) if script else words
        with self.open_program(*given, setting=setting, **environment) as user:
            if ready is not None:
                user.wait_for(ready)
            yield user

    @contextmanager
    def open_program(self, *words: str, setting: TerminalSetting = WIDE, **environment: str) -> Generator[ScreenUser]:
        """The program with just these words."""
        given = {"HOME": str(self.home), **self.environment, **environment}
        with open_screen(
            *words, columns=setting.columns, rows=setting.rows, cwd=self.project, lang=setting.lang, **given
        ) as user:
            yield user


@pytest.fixture
def terminal_env() -> Generator[TerminalEnv]:
    """In a place with a short name, so that what is shown is laid out as for most people."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp", ignore_cleanup_errors=True) as made:
        yield TerminalEnv(Path(made))


def send_prompt(user: ScreenUser, prompt: str) -> None:
    user.type(prompt)
    user.press("enter")


def quit_program(user: ScreenUser) -> None:
    """End as people do, and find the terminal as it was."""
    user.wait_idle()
    user.press("c-d")
    assert user.wait_for_exit() == 0
    assert user.modes_are_restored()
    assert user.screen.unknown == []


def call_answer(*made: tuple[str, Mapping[str, object]], **fields: object) -> str:
    return script_answer(calls=list(made), **fields)


def shell_answer(command: str, **fields: object) -> str:
    """An answer that wants to run this."""
    return script_answer(calls=[(SHELL, {"command": command})], **fields)


def printed_rows(user: ScreenUser) -> list[str]:
    """All rows down to the editor, without blank ones at the end."""
    rows = user.screen.history().split("\n")
    end = max((at for at, row in enumerate(rows) if re.match(r"[>!]( |$)", row)), default=len(rows))
    return "\n".join(rows[:end]).rstrip("\n").split("\n")


def shown_text(user: ScreenUser) -> str:
    """All that was shown, with every run of blanks and line ends as one blank."""
    return " ".join(user.screen.history().split())


def is_shown(user: ScreenUser, words: str) -> bool:
    """Whether these words stand on the screen, wherever their rows are broken."""
    text = re.sub(r"\n\|", "\n", user.text)
    return "".join(words.split()) in "".join(text.split())


def wait_for_words(user: ScreenUser, words: str, seconds: float = 10, *, idle: bool = False) -> None:
    """Wait until these words stand there, wherever they are broken."""
    wanted = " ".join(words.split())
    user.wait_until(lambda screen: wanted in " ".join(screen.history().split()), seconds, idle=idle, wanted=words)


def wait_for_file(path: Path, seconds: float = 10) -> None:
    wait_until(path.exists, seconds, str(path))


def wait_until_dead(mark: str, seconds: float = 10) -> None:
    """Wait until no process has this word in its arguments any more."""
    wait_until(lambda: not living_pids(mark), seconds, f"the end of {mark}")


def check_no_strange_output(screen: TerminalEmulator) -> bool:
    """Whether nothing strange was written and nothing was told to the terminal beside text and colours."""
    assert screen.unknown == []
    assert screen.strings == []
    assert screen.asked == []
    assert screen.bells == 0
    return True


def write_program(path: Path, *lines: str) -> str:
    """A small program for a shell, to be an editor or a pager."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def run_tejat(terminal_env: TerminalEnv, *words: str) -> str:
    """What the program says on standard output without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "tejat", *words],
        cwd=terminal_env.project,
        env={"HOME": str(terminal_env.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def list_sessions(terminal_env: TerminalEnv) -> Sequence[Any]:
    return json.loads(run_tejat(terminal_env, "sessions", "list", "--json"))
