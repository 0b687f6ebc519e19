"""Colours: as many as are wanted, and nothing that only they tell."""

import re

import pytest

from support.program import text_script
from support.terminal.chat import (
    WIDE,
    TerminalEnv,
    TerminalSetting,
    both_settings,
    call_answer,
    printed_rows,
    send_prompt,
    shell_answer,
    terminal_env,
)

__all__ = ["terminal_env"]

SCRIPT = (
    call_answer(
        ("list_directory", {"path": "${root}"}),
        ("read_file", {"path": "${root}/none"}),
        ("write_file", {"file_path": "${root}/new.py", "content": "def f():\n    return 'x'\n"}),
        say="# Heading\n\nText with `code`, **strong** and a [link](https://example.com).\n\n```python\nx = 1\n```\n",
    )
    + text_script("That is all.")
    + shell_answer("rm -rf x")
)
LOOKS: dict[str, dict[str, str]] = {
    "usual": {},
    "none": {"NO_COLOR": "1"},
    "forced off": {"FORCE_COLOR": "0"},
    "few": {"TERM": "xterm"},
    "all": {"COLORTERM": "truecolor"},
    "light": {"COLORFGBG": "0;15"},
}


def seen(terminal_env: TerminalEnv, setting: TerminalSetting, **environment: str) -> tuple[str, str, bytes]:
    """What was printed in the end, what a question looked like, and all that was written."""
    with terminal_env.open_chat(SCRIPT, "--approval-mode", "auto_edit", setting=setting, **environment) as user:
        send_prompt(user, "go")
        user.wait_for("\nThat is all.", idle=True)
        rows = printed_rows(user)
        (terminal_env.project / "new.py").unlink()
        send_prompt(user, "risk it")
        user.wait_for("rm -rf x")
        user.wait_for("Enter to confirm", idle=True)  # the keys below a question
        return without_times("\n".join(rows)), without_times(user.text), user.raw


def without_times(text: str) -> str:
    """Where there is little room, names give way to times."""
    time = r"(?:under 0\.1 s|\d+\.\d s)"
    return re.sub(rf"(list_directory|read_file|write_file) \S+ (.*?){time}|{time}", r"\1 \2", text)


def without_code_marks(text: str) -> str:
    """Without the backticks and rules that tell code apart where there are no colours."""
    return re.sub(r"(?m)^(?:──|--)(?: python)?\n", "", text).replace("`", "")


@both_settings
def test_the_words_are_the_same_in_all_colours(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    names = LOOKS if setting == WIDE else ("usual", "none", "few", "forced off")
    looks = {name: seen(terminal_env, setting, **LOOKS[name]) for name in names}
    assert len({without_code_marks(printed) for printed, _, _ in looks.values()}) == 1
    assert len({question for _, question, _ in looks.values()}) == 1
    for name in ("none", "forced off"):
        codes = set(re.findall(rb"\x1b\[([0-9;]*)m", looks[name][2]))
        used = {int(code) for each in codes for code in each.split(b";") if code}
        assert used <= {0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29, 39, 49}, used
    assert b"38;2;" not in looks["few"][2]
    assert b"38;5;" not in looks["few"][2]


@pytest.mark.parametrize("theme", ["dark", "light", "plain"])
def test_themes(terminal_env: TerminalEnv, theme: str) -> None:
    terminal_env.write_settings(ui={"theme": theme})
    with terminal_env.open_chat(text_script("# Heading")) as user:
        send_prompt(user, "hello")
        user.wait_for("\nHeading", idle=True)
        style = user.screen.style_of("Heading")
        assert style.bold
        assert (style.fg == "") == (theme == "plain")
