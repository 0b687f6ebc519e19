"""Reasons, doubts and failures on the screen, in a language that nobody speaks: no English of ours is left."""

import json
import re
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pseudo_locale import VARIANTS, disguised, english_left, pseudo_environment
from screens import ScreenPerson, at_screen

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


def said(text: str) -> str:
    return disguised(text, VARIANTS["wide"])


@contextmanager
def speaking(words: Path) -> Generator[ScreenPerson]:
    with tempfile.TemporaryDirectory(prefix="t-") as place, tempfile.TemporaryDirectory(prefix="h-") as home:
        (Path(home) / ".gemini").mkdir()
        (Path(home) / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
        (Path(place) / "s").write_text(SCRIPT)
        with at_screen(
            *("--model", "scripted:s", "--sandbox", "off"),
            columns=100,
            rows=60,
            cwd=Path(place),
            HOME=home,
            **pseudo_environment(words, "wide"),
        ) as person:
            person.wait_until(lambda screen: 2004 in screen.modes, idle=True)
            yield person


def left_on(person: ScreenPerson) -> list[str]:
    shown = person.screen.history().replace("\n", " ")
    whole = re.sub(r"\S*…\S*", " ", shown)  # paths that were too long
    own = {str(person.cwd), person.cwd.name, str(person.home), person.home.name, "scripted:s"}
    return english_left(whole, NAMES | own)


def enter(person: ScreenPerson, line: str) -> None:
    person.type(line)
    person.press("enter")


def test_why_and_what_came_of_it(tmp_path: Path) -> None:
    with speaking(tmp_path) as person:
        enter(person, "go")
        person.wait_for(said("Allow once"), idle=True)
        assert said("is a control file:") in person.screen.history()
        assert left_on(person) == [], person.picture()
        time.sleep(0.35)  # who answers at once has not read the question
        person.press("n")
        person.wait_for(said("Every call of the model was cancelled."), idle=True)
        enter(person, "go on")
        person.wait_for(said("The script wants answer"), idle=True)
        assert said("Path not in workspace.") in person.screen.history()
        assert said("forbids it") in person.screen.history()
        assert left_on(person) == [], person.picture()


def test_what_rules_and_servers_come_to(tmp_path: Path) -> None:
    with speaking(tmp_path) as person:
        enter(person, "/policy explain run_shell_command sudo rm -rf one")
        person.wait_for(said("deletes or overwrites ("), idle=True)
        enter(person, "/mcp")
        person.wait_for(said("The server was not started: there is no program"), idle=True)
        assert left_on(person) == [], person.picture()
