"""The terminal is asked for its background, and its answer never gets in the way."""

import asyncio
import fcntl
import os
import termios
import time
from typing import Any

from prompt_toolkit.output import DummyOutput

from support.program import text_script
from support.terminal.chat import TerminalEnv, quit_program, send_prompt, terminal_env
from support.terminal.screen import ScreenUser
from tejat.ui.terminal.background import BackgroundQuery

__all__ = ["terminal_env"]

QUERY = b"\x1b]11;?\x1b\\"


SCRIPT = text_script("# Heading")


def heading_style(terminal_env: TerminalEnv, background: str = "", **environment: Any) -> str:
    with terminal_env.open_chat(SCRIPT, background=background, **environment) as user:
        send_prompt(user, "hello")
        user.wait_for("Heading", idle=True)
        assert "11;" not in user.text
        assert "rgb" not in user.text
        style = str(user.screen.style_of("Heading"))
        quit_program(user)
        assert user.modes_are_restored()
        return style


COLOURS: dict[str, Any] = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def test_the_first_screen_waits_for_the_answer(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(SCRIPT, background="#ffffff", **COLOURS) as user:
        user.wait_for("Tejat", idle=True)
        assert b"38;2;158;158;158" not in user.raw.partition(b"Tejat")[2]  # the grey of the dark theme
        quit_program(user)


def test_the_theme_follows_the_background(terminal_env: TerminalEnv) -> None:
    dark, light = (heading_style(terminal_env, background, **COLOURS) for background in ("#1e1e2e", "#ffffff"))
    assert dark != light
    assert heading_style(terminal_env, **COLOURS) == dark  # without an answer
    assert heading_style(terminal_env, "#ffffff", **COLOURS, COLORFGBG="15;0") == dark  # nobody needs to ask
    terminal_env.write_settings(ui={"theme": "dark"})
    assert heading_style(terminal_env, "#ffffff", **COLOURS) == dark


def test_an_answer_that_comes_late_does_not_reach_the_shell(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(SCRIPT, ready=None, **COLOURS) as user:
        user.wait_until(lambda _: QUERY in user.raw, wanted="the question")
        user.press("c-d")
        time.sleep(0.05)
        user.type("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
        assert user.wait_for_exit() == 0
        assert unread_bytes(user) == 0
        assert user.modes_are_restored()


def unread_bytes(user: ScreenUser) -> int:
    """What the shell would read now."""
    line = os.open(os.ttyname(user._line), os.O_RDWR | os.O_NOCTTY)  # pyright: ignore[reportPrivateUsage]
    try:
        modes = termios.tcgetattr(line)
        modes[3] &= ~termios.ICANON
        termios.tcsetattr(line, termios.TCSANOW, modes)
        count = fcntl.ioctl(line, termios.FIONREAD, bytes(4))
        modes[3] |= termios.ICANON
        termios.tcsetattr(line, termios.TCSANOW, modes)
        return int.from_bytes(count, "little")
    finally:
        os.close(line)


def test_the_end_waits_for_an_answer_on_its_way_but_only_for_a_moment() -> None:
    async def main() -> tuple[bool, bool, bool]:
        query, answers = BackgroundQuery(DummyOutput()), list[bool]()
        await query.wait_before_end()  # nothing was asked
        query.ask(answers.append)
        asyncio.get_running_loop().call_later(0.05, query.handle_report, "rgb:ff/ff/ff")
        await query.wait_before_end()
        silent = BackgroundQuery(DummyOutput())
        silent.ask(answers.append)
        begun = time.monotonic()
        await silent.wait_before_end()
        await silent.wait_before_end()  # the moment is over
        return answers == [False], query.is_pending, silent.is_pending and time.monotonic() - begun < 5

    assert asyncio.run(main()) == (True, False, True)


def test_an_end_that_comes_together_with_the_answer_is_not_lost() -> None:
    async def main() -> bool:
        query = BackgroundQuery(DummyOutput())
        query.ask(lambda _: None)
        waiting = asyncio.create_task(query.wait_before_printing())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        query.handle_report("rgb:ff/ff/ff")
        waiting.cancel()
        await asyncio.wait((waiting,))
        return waiting.cancelled()

    assert asyncio.run(main())
