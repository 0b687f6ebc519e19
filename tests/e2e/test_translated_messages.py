"""Reasons, doubts and failures on the screen, in a language that nobody speaks: no English of ours is left."""

import json
import re
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from support.terminal.pseudo_locale import VARIANTS, find_english, pseudo_environment, pseudo_translate
from support.terminal.screen import ScreenUser, open_screen

SCRIPT = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "echo $(date) > .git/config" }

[[answer]]
[[answer.call]]
name = "read_file"
args = { path = "/nowhere" }
[[answer.call]]
name = "run_shell_command"
args = { command = "mkfs /dev/null" }

[[answer]]
fail = "authentication"
"""
SETTINGS = {
    "mcpServers": {"gone": {"command": "no-such-program"}},
    "tools": {"exclude": ["run_shell_command(mkfs)"]},
    "security": {"folderTrust": {"enabled": False}},
}
NAMES = {
    *("echo $(date) > .git/config", "echo", "date", ".git/config", "run_shell_command", "read_file", "/nowhere"),
    *("mkfs /dev/null", "mkfs", "gone", "no-such-program", "deny", "allow", "ask", "settings.json", "tools.exclude"),
    *("sudo", "rm", "stdio", "off", "one", "config", "git", "gemini", "authentication", "explain"),
}


def translated(text: str) -> str:
    return pseudo_translate(text, VARIANTS["wide"])


@contextmanager
def speaking(words: Path) -> Generator[ScreenUser]:
    with tempfile.TemporaryDirectory(prefix="t-") as place, tempfile.TemporaryDirectory(prefix="h-") as home:
        (Path(home) / ".gemini").mkdir()
        (Path(home) / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
        (Path(place) / "s").write_text(SCRIPT)
        with open_screen(
            *("--model", "scripted:s", "--sandbox", "off"),
            columns=100,
            rows=60,
            cwd=Path(place),
            HOME=home,
            **pseudo_environment(words, "wide"),
        ) as user:
            user.wait_until(lambda screen: 2004 in screen.modes, idle=True)
            yield user


def left_on(user: ScreenUser) -> list[str]:
    shown = user.screen.history().replace("\n", " ")
    whole = re.sub(r"\S*…\S*", " ", shown)  # paths that were too long
    own = {str(user.cwd), user.cwd.name, str(user.home), user.home.name, "scripted:s", "default"}  # a mode
    return find_english(whole, NAMES | own)


def enter(user: ScreenUser, line: str) -> None:
    user.type(line)
    user.press("enter")


def test_why_and_what_came_of_it(tmp_path: Path) -> None:
    with speaking(tmp_path) as user:
        enter(user, "go")
        user.wait_for(translated("Allow once"), idle=True)
        assert translated("is a control file:") in user.screen.history()
        assert left_on(user) == [], user.describe()
        time.sleep(0.35)  # who answers at once has not read the question
        user.press("n")
        user.wait_for(translated("The script makes answer"), idle=True)
        assert translated("Path not in workspace.") in user.screen.history()
        assert translated("denies it") in user.screen.history()
        assert left_on(user) == [], user.describe()


def test_what_rules_and_servers_come_to(tmp_path: Path) -> None:
    with speaking(tmp_path) as user:
        enter(user, "/policy explain run_shell_command sudo rm -rf one")
        user.wait_for(translated("deletes or overwrites data ("), idle=True)
        enter(user, "/mcp")
        user.wait_for(translated("The server did not start: no program"), idle=True)
        assert left_on(user) == [], user.describe()
