"""Lines that are typed while work goes on: they wait in sight, can be had back, and go in their order."""

import pytest

from support.program import script_answer, text_script
from support.terminal.chat import (
    TerminalEnv,
    TerminalSetting,
    both_settings,
    call_answer,
    printed_rows,
    quit_program,
    send_prompt,
    shell_answer,
    terminal_env,
    wait_for_file,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

UNTIL_GO = "touch begun; until test -e go; do sleep 0.02; done"


def gone_on(terminal_env: TerminalEnv) -> None:
    (terminal_env.project / "go").touch()


def prompts(user: ScreenUser) -> list[str]:
    return [row for row in printed_rows(user) if row.startswith("> ")]


@both_settings
def test_they_wait_and_go_in_order(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    script = (
        shell_answer(UNTIL_GO)
        + text_script("First.")
        + script_answer(when="second", say="2.")
        + script_answer(when="third", say="Third.")
    )
    with terminal_env.open_chat(script, "-y", setting=setting) as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        send_prompt(user, "second")
        send_prompt(user, "third")
        user.wait_for(setting.glyphs("queued · second\nqueued · third\n"))
        assert "\n2." not in user.screen.history()
        user.type("not sent")
        gone_on(terminal_env)
        user.wait_for("\nThird.", idle=True)
        assert prompts(user) == ["> first", "> second", "> third"]
        assert "queued" not in user.text
        assert user.screen.lines()[user.screen.cursor[1]] == "> not sent"
        user.press("c-c")
        quit_program(user)


@both_settings
def test_the_last_can_be_had_back(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    script = (
        shell_answer(UNTIL_GO)
        + text_script("First.")
        + script_answer(when="second", say="Second.")
        + script_answer(when="3rd!", say="Third.")
    )
    with terminal_env.open_chat(script, "-y", setting=setting) as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        send_prompt(user, "second")
        send_prompt(user, "3rd")
        user.wait_for(setting.glyphs("queued · 3rd"))
        user.press("up")
        user.wait_for("> 3rd")
        user.wait_until_gone(setting.glyphs("queued · 3rd"))
        send_prompt(user, "!")
        user.wait_for(setting.glyphs("queued · 3rd!"))
        gone_on(terminal_env)
        user.wait_for("\nThird.", idle=True)
        assert prompts(user) == ["> first", "> second", "> 3rd!"]


@pytest.mark.parametrize("key", ["escape", "c-c"])
@both_settings
def test_after_a_stop_they_are_in_the_editor_and_nothing_was_sent(
    terminal_env: TerminalEnv, key: str, setting: TerminalSetting
) -> None:
    script = shell_answer(UNTIL_GO) + script_answer(when="second\n\nthird\n\nhalf", say="All of it.")
    with terminal_env.open_chat(script, "-y", setting=setting) as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        send_prompt(user, "second")
        send_prompt(user, "third")
        user.type("half")
        user.wait_for("> half")
        user.press(key)
        user.wait_for("> second\n\n  third\n\n  half", idle=True)
        assert "queued" not in user.text
        assert prompts(user) == ["> first"]
        user.press("enter")
        user.wait_for("\nAll of it.", idle=True)


def test_shell_lines_and_commands_wait_too(terminal_env: TerminalEnv) -> None:
    script = shell_answer(UNTIL_GO) + text_script("First.") + script_answer(when="what was it", say="Last.")
    with terminal_env.open_chat(script, "-y") as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        send_prompt(user, "!echo from the shell")
        send_prompt(user, "/about")
        send_prompt(user, "what was it")
        user.wait_for("queued · !echo from the shell\nqueued · /about\nqueued · what was it")
        gone_on(terminal_env)
        user.wait_for("\nLast.", idle=True)
        history = user.screen.history()
        places = [history.index(words) for words in ("First.", "! echo from the shell", "About Tejat", "> what was it")]
        assert places == sorted(places)


def test_a_word_between_two_calls(terminal_env: TerminalEnv) -> None:
    """Ctrl-S hands it to the run that goes on."""
    script = shell_answer(UNTIL_GO) + script_answer(when="only the first", say="As you like.")
    with terminal_env.open_chat(script, "-y") as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        user.type("only the first")
        user.press("c-s")
        user.wait_for("Will be sent after the current tool call.")
        gone_on(terminal_env)
        user.wait_for("\nAs you like.", idle=True)


@pytest.mark.parametrize("delay", range(4))
def test_lines_that_come_just_when_the_work_ends(terminal_env: TerminalEnv, delay: int) -> None:
    """However it falls, each is sent once and in order."""
    script = text_script("Zero.", pause=0.03 * delay) + "".join(
        script_answer(when=f"line {number}", say=f"Answer {number}.", pause=0.01 * delay) for number in range(6)
    )
    with terminal_env.open_chat(script) as user:
        send_prompt(user, "begin")
        for number in range(6):
            send_prompt(user, f"line {number}")
        user.wait_for("\nAnswer 5.", idle=True)
        assert prompts(user) == ["> begin", *(f"> line {number}" for number in range(6))]


def test_many_lines_do_not_fill_the_screen(terminal_env: TerminalEnv) -> None:
    script = call_answer(("run_shell_command", {"command": UNTIL_GO})) + text_script(
        *(f"A{number}." for number in range(31))
    )
    with terminal_env.open_chat(script, "-y") as user:
        send_prompt(user, "first")
        wait_for_file(terminal_env.project / "begun")
        for number in range(30):
            send_prompt(user, f"line {number}")
        user.wait_for("more queued", idle=True)
        assert user.text.count("queued") < 12
        gone_on(terminal_env)
        user.wait_for("\nA30.", 30, idle=True)
        assert len(prompts(user)) == 31
