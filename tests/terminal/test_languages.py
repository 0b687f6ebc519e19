"""Other languages: no word of ours is left in English, and wide or right-to-left letters keep to their rows."""

import json
import re
import time

import pytest
from wcwidth import wcswidth

from program_checks import said
from pseudo_locale import VARIANTS, english_left, pseudo_environment
from screens import ScreenPerson
from talks import House, Setting, calls, house, is_tidy, send

__all__ = ["house"]

SIZES = [Setting(80, 24, "C.UTF-8"), Setting(40, 20, "C.UTF-8")]
both_sizes = pytest.mark.parametrize("setting", SIZES, ids=["80", "40"])
every_letter = pytest.mark.parametrize("variant", VARIANTS)
# What is nobody's to translate: names of keys, of services, of tools and files, and what a model says.
NAMES = {
    *("scripted", "talk.toml", "project", "Hi", "there", "hello", "home", "tmp", "sandbox", "mcp", "yolo"),
    *("Arrows", "Tab", "Enter", "Esc", "Ctrl", "Shift", "Alt", "Ctrl-C", "Ctrl-D", "Ctrl-O", "Ctrl-R", "Ctrl-S"),
    *("Gemini", "Anthropic", "OpenAI", "Tejat", "MCP", "GEMINI.md", "vi", "emacs", "URL", "TOML", "Python"),
    *("run_shell_command", "write_file", "new.txt", "one", "two", "touch", "made", "git", "allow"),
}


def fits(person: ScreenPerson) -> bool:
    """Nothing is wider than the screen, and the caret is behind what was typed."""
    screen = person.settle()
    assert is_tidy(screen)
    for row in screen.lines():
        assert wcswidth(row) <= screen.columns
    return True


def english_in(text: str, house: House) -> list[str]:
    for known in (str(house.project), str(house.base), "scripted:../talk.toml", "~/project"):
        text = text.replace(known, " ")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", " ", text)
    text = re.sub(r"\w+…", " ", text)
    # A row may go on in the next one in the middle of a word or between two.
    apart = english_left(text.replace("\n| ", " "), NAMES)
    return [word for word in english_left(text.replace("\n| ", ""), NAMES) if word in apart]


@every_letter
@both_sizes
def test_prompt_question_and_status(house: House, setting: Setting, variant: str) -> None:
    words = pseudo_environment(house.base / "words", variant)
    write = ("write_file", {"file_path": "${root}/new.txt", "content": "one\ntwo\n"})
    script = calls(write) + calls(("run_shell_command", {"command": "touch made; git"})) + said("Hi.")
    with house.talk(script, setting=setting, ready="scripted", **words) as person:
        person.wait_for("/help", idle=True)
        assert english_in(person.text, house) == []
        person.type("hello")
        person.wait_for("> hello", idle=True)
        assert person.screen.cursor[0] == 7
        person.press("enter")
        person.wait_for("+one", idle=True)
        time.sleep(0.35)
        assert fits(person)
        assert english_in(person.text, house) == []
        person.press("y")
        person.wait_for("touch made", idle=True)
        time.sleep(0.35)
        assert fits(person)
        assert english_in(person.text, house) == []
        person.press("t")
        person.settle()
        person.type("hello")
        person.wait_for("> hello")
        assert person.settle().cursor[0] == 7


@both_sizes
def test_help(house: House, setting: Setting) -> None:
    words = pseudo_environment(house.base / "words")
    with house.talk(said("Hi."), setting=setting, ready="scripted", **words) as person:
        person.wait_for("/help", idle=True)
        for line in ("/help", "/stats", "/context", "/undo", "/hooks", "/permissions"):
            send(person, line)
            person.settle()
        assert fits(person)
        assert english_in(person.screen.history(), house) == []


@pytest.mark.parametrize("variant", ["accented", "wide"])
@both_sizes
def test_first_start(house: House, setting: Setting, variant: str) -> None:
    words = pseudo_environment(house.base / "words", variant)
    (house.project / ".gemini").mkdir()
    (house.project / ".gemini" / "settings.json").write_text(json.dumps({"tools": {"autoAccept": True}}))
    with house.start(setting=setting, OLLAMA_HOST="127.0.0.1:9", **words) as person:
        person.wait_for(".gemini", idle=True)
        allowed = person.text.replace(".gemini/settings.json", "").replace("tools.autoAccept", "").replace("true", "")
        assert english_in(allowed.replace("tools", ""), house) == []
        assert fits(person)
        time.sleep(0.35)
        person.press("2")
        person.wait_for("❯ 1", idle=True)
        assert fits(person)
