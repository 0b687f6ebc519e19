"""Other languages: no word of ours is left in English, and wide or right-to-left letters keep to their rows."""

import json
import re
import time

import pytest
from wcwidth import wcswidth

from support.program import text_script
from support.terminal.chat import (
    TerminalEnv,
    TerminalSetting,
    call_answer,
    check_no_strange_output,
    send_prompt,
    terminal_env,
)
from support.terminal.pseudo_locale import VARIANTS, find_english, pseudo_environment
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

SIZES = [TerminalSetting(80, 24, "C.UTF-8"), TerminalSetting(40, 20, "C.UTF-8")]
both_sizes = pytest.mark.parametrize("setting", SIZES, ids=["80", "40"])
every_letter = pytest.mark.parametrize("variant", VARIANTS)
# What is nobody's to translate: names of keys, of services, of tools and files, and what a model says.
NAMES = {
    *("scripted", "talk.toml", "project", "Hi", "there", "hello", "home", "tmp", "sandbox", "mcp", "yolo"),
    *("Arrows", "Tab", "Enter", "Esc", "Ctrl", "Shift", "Alt", "Ctrl-C", "Ctrl-D", "Ctrl-O", "Ctrl-R", "Ctrl-S"),
    *("Gemini", "Anthropic", "OpenAI", "Tejat", "MCP", "GEMINI.md", "vi", "emacs", "URL", "TOML", "Python"),
    *("run_shell_command", "write_file", "new.txt", "one", "two", "touch", "made", "git", "allow", "setup"),
}


def fits(user: ScreenUser) -> bool:
    """Nothing is wider than the screen, and the caret is behind what was typed."""
    screen = user.wait_idle()
    assert check_no_strange_output(screen)
    for row in screen.lines():
        assert wcswidth(row) <= screen.columns
    return True


def english_in(text: str, terminal_env: TerminalEnv) -> list[str]:
    for known in (str(terminal_env.project), str(terminal_env.base), "scripted:../talk.toml", "~/project"):
        text = text.replace(known, " ")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", " ", text)
    text = re.sub(r"\w+…", " ", text)
    # A row may go on in the next one in the middle of a word or between two.
    apart = find_english(text.replace("\n↪ ", " "), NAMES)
    return [word for word in find_english(text.replace("\n↪ ", ""), NAMES) if word in apart]


@every_letter
@both_sizes
def test_prompt_question_and_status(terminal_env: TerminalEnv, setting: TerminalSetting, variant: str) -> None:
    words = pseudo_environment(terminal_env.base / "words", variant)
    write = ("write_file", {"file_path": "${root}/new.txt", "content": "one\ntwo\n"})
    script = (
        call_answer(write) + call_answer(("run_shell_command", {"command": "touch made; git"})) + text_script("Hi.")
    )
    with terminal_env.open_chat(script, setting=setting, ready="/help", **words) as user:
        user.wait_idle()
        assert english_in(user.text, terminal_env) == []
        user.type("hello")
        user.wait_for("> hello", idle=True)
        assert user.screen.cursor[0] == 7
        user.press("enter")
        user.wait_for("one", idle=True)
        time.sleep(0.35)
        assert fits(user)
        assert english_in(user.text, terminal_env) == []
        user.press("y")
        user.wait_for("touch made", idle=True)
        time.sleep(0.35)
        assert fits(user)
        assert english_in(user.text, terminal_env) == []
        user.press("t")
        user.wait_idle()
        user.type("hello")
        user.wait_for("> hello")
        assert user.wait_idle().cursor[0] == 7


@both_sizes
def test_help(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    words = pseudo_environment(terminal_env.base / "words")
    with terminal_env.open_chat(text_script("Hi."), setting=setting, ready="scripted", **words) as user:
        user.wait_for("/help", idle=True)
        for line in ("/help", "/stats", "/context", "/undo", "/hooks", "/permissions"):
            send_prompt(user, line)
            user.wait_idle()
        assert fits(user)
        assert english_in(user.screen.history(), terminal_env) == []


@pytest.mark.parametrize("variant", ["accented", "wide"])
@both_sizes
def test_first_start(terminal_env: TerminalEnv, setting: TerminalSetting, variant: str) -> None:
    words = pseudo_environment(terminal_env.base / "words", variant)
    (terminal_env.project / ".gemini").mkdir()
    (terminal_env.project / ".gemini" / "settings.json").write_text(json.dumps({"tools": {"autoAccept": True}}))
    with terminal_env.open_program(setting=setting, OLLAMA_HOST="127.0.0.1:9", **words) as user:
        user.wait_for(".gemini", idle=True)
        allowed = user.text.replace(".gemini/settings.json", "").replace("tools.autoAccept", "").replace("true", "")
        assert english_in(allowed.replace("tools", ""), terminal_env) == []
        assert fits(user)
        time.sleep(0.35)
        user.press("2")
        user.wait_for("❯ 1", idle=True)
        assert fits(user)
