"""Two front ends attached to one session: both show the run, either may answer, and the first answer counts."""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from support.program import script_answer, text_script
from support.terminal.chat import TerminalEnv, quit_program, send_prompt, terminal_env
from support.terminal.screen import ScreenUser, open_screen
from support.wait import wait_until
from tejat.ui.terminal.dialogs.key_guard import GRACE_SECONDS

__all__ = ["terminal_env"]

PROGRAM = (sys.executable, str(Path(__file__).with_name("two_front_ends_program.py")))
EDIT = {"file_path": "${root}/a.txt", "old_string": "one", "new_string": "two"}
READ = {"path": "${root}/a.txt"}


@contextmanager
def asked(env: TerminalEnv) -> Generator[ScreenUser]:
    """The terminal of the first front end, which shows the approval dialog."""
    (env.project / "a.txt").write_text("one\n")
    script = (
        script_answer(calls=[("read_file", READ)]) + script_answer(calls=[("replace", EDIT)]) + text_script("Done.")
    )
    words = (env.script(script), str(env.base / "log"))
    with open_screen(*words, program=PROGRAM, cwd=env.project, HOME=str(env.home)) as user:
        user.wait_for("Ask anything.")
        send_prompt(user, "edit it")
        user.wait_for("Apply this change?")
        yield user


def log(env: TerminalEnv) -> str:
    return (env.base / "log").read_text()


def test_the_second_front_end_answers(terminal_env: TerminalEnv) -> None:
    with asked(terminal_env) as user:
        wait_until(lambda: "asked about replace" in log(terminal_env), 60, "the question in the second front end")
        (terminal_env.project / "allow").touch()
        user.wait_for("Answered elsewhere.")
        user.wait_until_gone("Apply this change?")
        user.wait_for("Done.", idle=True)
        assert (terminal_env.project / "a.txt").read_text() == "two\n"
        assert "answered proceed_once, a second answer counts: False\n" in log(terminal_env)
        assert log(terminal_env).rstrip().endswith("Done.")
        quit_program(user)


def test_the_first_front_end_answers(terminal_env: TerminalEnv) -> None:
    with asked(terminal_env) as user:
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("n")
        user.wait_for("(not run: you said no)", idle=True)
        assert (terminal_env.project / "a.txt").read_text() == "one\n"
        assert "Answered elsewhere.\n" in log(terminal_env)
        assert "answered cancel, a second answer counts: False\n" in log(terminal_env)
        assert "Answered elsewhere." not in user.text
        quit_program(user)


def test_an_interrupt_withdraws_the_question_everywhere(terminal_env: TerminalEnv) -> None:
    with asked(terminal_env) as user:
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("c-c")
        user.wait_until_gone("Apply this change?", idle=True)
        (terminal_env.project / "allow").touch()
        user.wait_idle()
        assert (terminal_env.project / "a.txt").read_text() == "one\n"
        quit_program(user)
