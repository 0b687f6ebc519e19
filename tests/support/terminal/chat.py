"""The real program on a real screen: a scripted model, a project, and key presses."""

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
READY = "Ask anything."
SLOW_FACTOR = 4.0
"""How much longer than the promised half second things may take beside other tests."""

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
    """Terminal size, and the locale that decides about glyphs."""

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


_TITLE = r"(?:[◇✦✋] )?[^\x00-\x1f\x7f-\x9f]{1,100}\)"
_BACKGROUND_QUESTION = ("11", "?")
_ASCII = str.maketrans("✓✗⊘■◷●○•…│─┼→❯·▲", "+x-#%*o*~|-+>>|!")
WIDE, NARROW = TerminalSetting(80, 24, "C.UTF-8"), TerminalSetting(40, 20, "C")
OTHERS = TerminalSetting(40, 20, "C.UTF-8"), TerminalSetting(80, 24, "C")
both_settings = pytest.mark.parametrize("setting", [WIDE, NARROW], ids=lambda setting: setting.name)
all_settings = pytest.mark.parametrize("setting", [WIDE, NARROW, *OTHERS], ids=lambda setting: setting.name)


@dataclass
class TerminalEnv:
    """A home and a project that stay when the program restarts."""

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
    """In a directory with a short name, so that the layout is as for most users."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp", ignore_cleanup_errors=True) as made:
        yield TerminalEnv(Path(made))


def send_prompt(user: ScreenUser, prompt: str) -> None:
    user.type(prompt)
    user.press("enter")


def quit_program(user: ScreenUser) -> None:
    """Quit as users do, and check that the terminal is restored."""
    user.wait_idle()
    user.press("c-d")
    assert user.wait_for_exit() == 0
    assert user.modes_are_restored()
    assert user.screen.unknown == []


def call_answer(*made: tuple[str, Mapping[str, object]], **fields: object) -> str:
    return script_answer(calls=list(made), **fields)


def shell_answer(command: str, **fields: object) -> str:
    """An answer that runs this command."""
    return script_answer(calls=[(SHELL, {"command": command})], **fields)


def prompt_row(screen: TerminalEmulator) -> str:
    """The row of the caret, without the placeholder of an empty prompt."""
    row = screen.lines()[screen.cursor[1]]
    return ">" if row.startswith(("> Ask anything.", "> Enter to queue")) else row


def wait_for_servers(user: ScreenUser) -> None:
    """Wait until all MCP servers are ready, on a screen that is wide enough to show those that are not."""
    user.wait_until(lambda screen: "MCP server" not in screen.text(), wanted="the servers", idle=True)


def printed_rows(user: ScreenUser) -> list[str]:
    """All rows above the editor, without trailing blank ones."""
    rows = user.screen.history().split("\n")
    end = max((at for at, row in enumerate(rows) if re.match(r"[>!]( |$)", row)), default=len(rows))
    return "\n".join(rows[:end]).rstrip("\n").split("\n")


def shown_text(user: ScreenUser) -> str:
    """All that was shown, with every run of blanks and line ends as one blank."""
    return " ".join(user.screen.history().split())


def is_shown(user: ScreenUser, words: str) -> bool:
    """Whether these words are on the screen, ignoring line breaks."""
    text = re.sub(r"\n[|\\↪]", "\n", user.text)
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
    """Whether nothing strange was written: text, colours, titles of ours, and the question for the background."""
    assert screen.unknown == []
    strings = [each for each in screen.strings if each != _BACKGROUND_QUESTION]
    assert [text for kind, text in strings if kind != "2" or not re.fullmatch(_TITLE, text)] == []
    assert screen.asked == []
    assert screen.bells == 0
    return True


def write_program(path: Path, *lines: str) -> str:
    """Write a shell script, to be used as an editor or pager."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def run_tejat(terminal_env: TerminalEnv, *words: str) -> str:
    """The standard output of the program without a terminal."""
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
