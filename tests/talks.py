"""A talk at the real program on a real screen: a script for the model, a project, and keys that somebody presses."""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcp_house import put
from process_marks import living
from program_checks import answer
from screen_model import ScreenModel
from screens import ScreenPerson, at_screen

SHELL = "run_shell_command"
READY = "Ask something."
SLOW = 4.0
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
class Setting:
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

    def signs(self, text: str) -> str:
        """The text with the signs that there are here."""
        return text.translate(_ASCII) if self.is_ascii else text


_ASCII = str.maketrans("✓✗⊘■◷●○•…│─┼→❯·▲", "+x-#%*o*~|-+>>|!")
WIDE, NARROW = Setting(80, 24, "C.UTF-8"), Setting(40, 20, "C")
OTHERS = Setting(40, 20, "C.UTF-8"), Setting(80, 24, "C")
both_settings = pytest.mark.parametrize("setting", [WIDE, NARROW], ids=lambda setting: setting.name)
all_settings = pytest.mark.parametrize("setting", [WIDE, NARROW, *OTHERS], ids=lambda setting: setting.name)


@dataclass
class House:
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

    def settings(self, **settings: Any) -> None:
        """The person's own settings."""
        put(self.home / ".gemini" / "settings.json", settings)

    def script(self, text: str) -> str:
        (self.home / "talk.toml").write_text(text.replace("\x7f", "\\u007f"), encoding="utf-8")
        return "scripted:../talk.toml"

    @contextmanager
    def talk(
        self, script: str, *words: str, setting: Setting = WIDE, ready: str | None = READY, **environment: str
    ) -> Generator[ScreenPerson]:
        """The program with this script for a model, ready for the first key."""
        given = ("-m", self.script(script), "--sandbox", "off", *words) if script else words
        with self.start(*given, setting=setting, **environment) as person:
            if ready is not None:
                person.wait_for(ready)
            yield person

    @contextmanager
    def start(self, *words: str, setting: Setting = WIDE, **environment: str) -> Generator[ScreenPerson]:
        """The program with just these words."""
        given = {"HOME": str(self.home), **self.environment, **environment}
        with at_screen(
            *words, columns=setting.columns, rows=setting.rows, cwd=self.project, lang=setting.lang, **given
        ) as person:
            yield person


@pytest.fixture
def house() -> Generator[House]:
    """In a place with a short name, so that what is shown is laid out as for most people."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp", ignore_cleanup_errors=True) as made:
        yield House(Path(made))


def send(person: ScreenPerson, prompt: str) -> None:
    person.type(prompt)
    person.press("enter")


def leave(person: ScreenPerson) -> None:
    """End as people do, and find the terminal as it was."""
    person.settle()
    person.press("c-d")
    assert person.end() == 0
    assert person.modes_are_restored()
    assert person.screen.unknown == []


def calls(*made: tuple[str, dict[str, object]], **fields: object) -> str:
    return answer(calls=list(made), **fields)


def shell(command: str, **fields: object) -> str:
    """An answer that wants to run this."""
    return answer(calls=[(SHELL, {"command": command})], **fields)


def printed(person: ScreenPerson) -> list[str]:
    """All rows down to the editor, without blank ones at the end."""
    rows = person.screen.history().split("\n")
    end = max((at for at, row in enumerate(rows) if re.match(r"[>!]( |$)", row)), default=len(rows))
    return "\n".join(rows[:end]).rstrip("\n").split("\n")


def one_text(person: ScreenPerson) -> str:
    """All that was shown, with every run of blanks and line ends as one blank."""
    return " ".join(person.screen.history().split())


def shows(person: ScreenPerson, words: str) -> bool:
    """Whether these words stand on the screen, wherever their rows are broken."""
    text = re.sub(r"\n\|", "\n", person.text)
    return "".join(words.split()) in "".join(text.split())


def wait_for_words(person: ScreenPerson, words: str, seconds: float = 10, *, idle: bool = False) -> None:
    """Wait until these words stand there, wherever they are broken."""
    wanted = " ".join(words.split())
    person.wait_until(lambda screen: wanted in " ".join(screen.history().split()), seconds, idle=idle, wanted=words)


def wait_for_file(path: Path, seconds: float = 10) -> None:
    wait_until(path.exists, seconds, str(path))


def wait_until(holds: Callable[[], object], seconds: float, wanted: str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{wanted} did not come"
        time.sleep(0.01)


def wait_until_dead(mark: str, seconds: float = 10) -> None:
    """Wait until no process has this word in its arguments any more."""
    wait_until(lambda: not living(mark), seconds, f"the end of {mark}")


def is_tidy(screen: ScreenModel) -> bool:
    """Whether nothing strange was written and nothing was told to the terminal beside text and colours."""
    assert screen.unknown == []
    assert screen.strings == []
    assert screen.asked == []
    assert screen.bells == 0
    return True


def program(path: Path, *lines: str) -> str:
    """A small program for a shell, to be an editor or a pager."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def tejat(house: House, *words: str) -> str:
    """What the program says on standard output without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "tejat", *words],
        cwd=house.project,
        env={"HOME": str(house.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sessions(house: House) -> Sequence[Any]:
    return json.loads(tejat(house, "sessions", "list", "--json"))
