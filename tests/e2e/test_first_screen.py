"""The first screen, the modes behind Shift-Tab and Ctrl-Y, and what Escape says."""

import time

import pytest

from support.program import script_answer, text_script
from support.terminal.chat import (
    NARROW,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    printed_rows,
    prompt_row,
    quit_program,
    send_prompt,
    terminal_env,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

HI = text_script("Hi.")


def head(user: ScreenUser) -> list[str]:
    """The rows above the empty prompt."""
    user.wait_idle()
    return [row for row in user.screen.lines()[: user.screen.cursor[1]] if row]


@pytest.mark.parametrize(
    ("setting", "rows"),
    [
        (
            WIDE,
            [
                "  ~/project · asks before changes · no sandbox",
                "  Shift-Tab to switch modes: ask first, auto-edit, plan",
                "  /init to describe this project for the model in GEMINI.md",
                "  Esc to stop, /undo to revert changes, /resume to continue later",
            ],
        ),
        (
            NARROW,
            [
                "  ~/project | asks before changes",
                "  no sandbox",
                "  Shift-Tab to switch modes",
                "  /init to describe this project",
                "  Esc to stop, /undo to revert",
            ],
        ),
    ],
    ids=["80", "40_ascii"],
)
def test_it_is_short_and_printed_once(terminal_env: TerminalEnv, setting: TerminalSetting, rows: list[str]) -> None:
    with terminal_env.open_chat(HI, setting=setting) as user:
        title, *rest = head(user)
        assert title.startswith("✦ Tejat " if setting.lang == "C.UTF-8" else "* Tejat ")
        assert title.endswith(setting.glyphs(" · scripted:talk.toml"))
        assert rest == rows
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        assert user.screen.history().count("Tejat ") == 1
        assert printed_rows(user)[-4:] == ["", "> hello", "", "Hi."]
        quit_program(user)


def test_the_sandbox_appears_as_soon_as_it_is_known(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_program("-m", terminal_env.script(HI)) as user:
        user.wait_until(lambda screen: " sandbox" in screen.lines()[1] or "· sandbox: " in screen.lines()[1], 30)
        assert user.screen.history().count("Tejat ") == 1


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({"hideBanner": True}, (False, True)), ({"hideTips": True}, (True, False))],
    ids=["banner", "tips"],
)
def test_settings_hide_parts_of_it(
    terminal_env: TerminalEnv, settings: dict[str, bool], shown: tuple[bool, bool]
) -> None:
    terminal_env.write_settings(ui=settings)
    with terminal_env.open_chat(HI) as user:
        text = "\n".join(head(user))
        assert ("✦ Tejat" in text, "/init to describe" in text) == shown


def test_a_resumed_session_is_named(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(HI + HI) as user:
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        quit_program(user)
        command = user.screen.history().partition("Resume this session with: tejat -r ")[2]
    session_id = command.split()[0]
    with terminal_env.open_chat(HI + HI, "-r", session_id) as user:
        rows = head(user)
        assert f"  resumed session {session_id}" in rows
        assert "Where you left off" in rows
        assert not any("/init" in row for row in rows)


def test_modes_are_switched_by_one_key(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(HI) as user:
        for label, hint in (
            ("auto-edit · ", "Edits run without asking"),
            ("plan: read-only · ", "Read-only: nothing is changed."),
        ):
            user.press("s-tab")
            user.wait_for(label)
            user.wait_for(hint, idle=True)
        user.press("s-tab")
        user.wait_for("Turn on YOLO mode?", idle=True)
        time.sleep(0.4)  # keys do not count earlier
        user.press("escape")
        user.wait_for("Default mode: asks before changes. Ctrl-Y turns YOLO on.", idle=True)
        user.press("c-y")
        user.wait_for("Turn on YOLO mode?", idle=True)
        time.sleep(0.4)
        user.press("2")
        user.wait_for("YOLO: no approvals · ", idle=True)
        user.press("c-y")
        user.wait_until_gone("YOLO: no approvals")


def test_a_mode_that_is_left_out_has_its_reason(terminal_env: TerminalEnv) -> None:
    terminal_env.write_settings(security={"disableYoloMode": True})
    with terminal_env.open_chat(HI) as user:
        user.press("s-tab")
        user.wait_for("Edits run without asking, commands still ask. YOLO mode is disabled by ")


def test_escape_says_once_what_it_did(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(script_answer(say="one two three four five six seven eight", pause=0.3)) as user:
        send_prompt(user, "hello")
        user.wait_for("one two")
        user.press("escape")
        user.wait_for("Stopped", idle=True)
        assert user.screen.history().count("Stop") == 1
        assert prompt_row(user.screen) == ">"
        user.wait_until(lambda screen: screen.lines()[screen.cursor[1] + 1].startswith("no sandbox"), wanted="no hint")
        user.type("some words")
        user.press("escape")
        user.wait_for("Press Esc again to clear the prompt.")
        user.press("escape")
        user.wait_until(lambda screen: prompt_row(screen) == ">", wanted="an empty prompt")


def put_skill(env: TerminalEnv, name: str, description: str) -> None:
    path = env.home / ".agents" / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n---\nBody\n")


def test_notices_about_skills_follow_the_first_screen(terminal_env: TerminalEnv) -> None:
    put_skill(terminal_env, "broken", "x" * 2000)
    with terminal_env.open_chat(HI) as user:
        user.wait_for("the description is", idle=True)
        rows = printed_rows(user)
        notice = next(at for at, row in enumerate(rows) if "the description is" in row)
        assert next(at for at, row in enumerate(rows) if "Esc to stop" in row) < notice
        assert user.screen.history().count("the description is") == 1
        assert user.screen.history().count("Tejat ") == 1


def test_keys_right_after_the_first_screen_find_skills(terminal_env: TerminalEnv) -> None:
    put_skill(terminal_env, "align-columns", "Aligns columns.")
    with terminal_env.open_chat(HI) as user:
        user.type("/align")
        user.wait_for("Aligns columns.", idle=True)
