"""Interactive sessions in plain lines at a real terminal."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv, script_answer, text_script, write_settings
from support.terminal.pty_program import PtyProgram, run_at_terminal


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@contextmanager
def open_session(machine: ProgramEnv, script: str, *words: str, **environment: str) -> Generator[PtyProgram]:
    model = machine.script(script)
    given: dict[str, Any] = {"HOME": str(machine.home), "GEMINI_API_KEY": "", "TERM": "dumb", **environment}
    with run_at_terminal("-W", "error", "-m", "tejat", "-m", model, *words, cwd=machine.project, **given) as terminal:
        terminal.wait_for("Ctrl-D to exit.\n")
        yield terminal


def type_line(terminal: PtyProgram, line: str, mark: str = "> ") -> None:
    terminal.wait_for(mark)
    terminal.type(f"{line}\n".encode())


def leave(terminal: PtyProgram, mark: str = "> ") -> tuple[int, str]:
    terminal.wait_for(mark)
    terminal.type(b"\x04")
    return terminal.wait_for_exit()


def test_a_prompt_of_several_lines(machine: ProgramEnv) -> None:
    with open_session(machine, script_answer(when="one\ntwo", say="Both.")) as terminal:
        type_line(terminal, "one\\")
        type_line(terminal, "two", mark="... ")
        assert leave(terminal) == (0, "Both.\n")
    assert "\x1b" not in terminal.shown


def test_the_session_ends_with_its_figures(machine: ProgramEnv) -> None:
    with open_session(machine, text_script("Hi.", usage={"prompt": 1000, "output": 200})) as terminal:
        type_line(terminal, "hello")
        leave(terminal)
    assert "\nThis session: 1 prompt, 0 tool calls, 1,200 tokens, " in terminal.shown


class TestShellMode:
    def test_one_command(self, machine: ProgramEnv) -> None:
        with open_session(machine, script_answer(when="what was it?", say="It was hi.")) as terminal:
            type_line(terminal, "!echo hi; exit 4")
            terminal.wait_for("Command exited with code 4.\nhi\n")
            type_line(terminal, "what was it?")
            assert leave(terminal) == (0, "It was hi.\n")

    def test_a_lone_mark_switches_it_on_and_off(self, machine: ProgramEnv) -> None:
        with open_session(machine, text_script("Hello.")) as terminal:
            type_line(terminal, "!")
            terminal.wait_for("Shell mode on: lines run as commands. Type ! to turn it off.\n")
            type_line(terminal, "echo /usr", mark="! ")
            terminal.wait_for("\n/usr\n")
            type_line(terminal, "!", mark="! ")
            terminal.wait_for("Shell mode off.\n")
            type_line(terminal, "hi")
            assert leave(terminal) == (0, "Hello.\n")

    def test_an_interrupt_ends_the_command(self, machine: ProgramEnv) -> None:
        with open_session(machine, text_script("Fine.")) as terminal:
            type_line(terminal, "!touch begun; sleep 300")
            wait_for_file(machine.project / "begun")
            terminal.type(b"\x03")
            terminal.wait_for("Command was cancelled.\n")
            type_line(terminal, "go on")
            assert leave(terminal) == (0, "Fine.\n")


class TestCommands:
    def test_are_shown_in_lines(self, machine: ProgramEnv) -> None:
        with open_session(machine, text_script("Hi.")) as terminal:
            type_line(terminal, "/tools")
            terminal.wait_for("ReadFile")
            type_line(terminal, "/nonesuch")
            terminal.wait_for("nonesuch")
            type_line(terminal, "/quit")
            assert terminal.wait_for_exit() == (0, "")

    def test_choices_are_numbered(self, machine: ProgramEnv) -> None:
        with open_session(machine, text_script("Hi.")) as terminal:
            type_line(terminal, "/theme")
            terminal.wait_for("  1 ")
            terminal.wait_for("Your choice, 1 to ")
            terminal.type(b"0\n")
            assert leave(terminal) == (0, "")


class TestQuestions:
    def test_what_was_typed_before_is_no_answer_and_comes_later(self, machine: ProgramEnv) -> None:
        write = {"file_path": "${root}/a.txt", "content": "x\n"}
        script = (
            script_answer(
                calls=[("run_shell_command", {"command": "touch begun; until test -e go; do sleep 0.05; done"})]
            )
            + script_answer(calls=[("write_file", write)])
            + text_script("Written.")
            + script_answer(when="y", say="Yes?")
        )
        words = ("--sandbox", "off", "--allowed-tools", "run_shell_command", "-i", "write it")
        with open_session(machine, script, *words) as terminal:
            terminal.wait_for("Your answer (")
            terminal.type(b"y\n")
            wait_for_file(machine.project / "begun")
            terminal.type(b"y\n")
            terminal.wait_for("y\n")
            (machine.project / "go").touch()
            terminal.wait_for("Apply this change?")
            terminal.wait_for("Your answer (")
            time.sleep(0.2)
            assert not (machine.project / "a.txt").exists()
            terminal.type(b"n\n")
            terminal.wait_for("Create a.txt +1 (not run: you said no)")
            terminal.wait_for("\n> y\n")  # before more is typed, whose echo would come in between
            type_line(terminal, "write it after all")
            leave(terminal)
        assert "This session: 3 prompts, 2 tool calls" in terminal.shown


class TestInterrupts:
    def test_a_second_one_ends_the_conversation(self, machine: ProgramEnv) -> None:
        script = script_answer(say="one two three four five six seven eight", pause=0.3)
        with open_session(machine, script, "-i", "count") as terminal:
            time.sleep(0.5)
            terminal.type(b"\x03")
            terminal.wait_for("Stopped. The answer is incomplete.\n")
            terminal.type(b"\x03")
            code, _ = terminal.wait_for_exit()
        assert code == 130
        assert "Traceback" not in terminal.shown


def test_a_bell_where_it_is_wanted(machine: ProgramEnv) -> None:
    with open_session(machine, text_script("Hi.", "Ho."), TEJAT_BELL="1") as terminal:
        type_line(terminal, "hello")
        terminal.wait_for("\a")
        leave(terminal)
    with open_session(machine, text_script("Hi.", "Ho.")) as terminal:
        type_line(terminal, "hello")
        leave(terminal)
    assert "\a" not in terminal.shown


def test_a_bell_for_notifications(machine: ProgramEnv) -> None:
    write_settings(machine.home, {"general": {"enableNotifications": True}})
    with open_session(machine, text_script("Hi.", "Ho.")) as terminal:
        type_line(terminal, "hello")
        terminal.wait_for("\a")
        leave(terminal)


def test_long_work_is_told_of(machine: ProgramEnv) -> None:
    command = {"command": "seq 1 60; sleep 2.3; exit 3"}
    with open_session(
        machine, script_answer(calls=[("run_shell_command", command)]) + text_script("Done."), "-y", "-i", "go"
    ) as terminal:
        terminal.wait_for(f"Running {command['command']}\n")
        terminal.wait_for(f"Ran {command['command']} (exit 3, 2.")
        terminal.wait_for("[40 more lines; enter + to show all]\n")
        type_line(terminal, "+")
        terminal.wait_for("\n20\n21\n22\n")
        assert leave(terminal) == (0, "Done.\n")


def test_a_hostile_answer(machine: ProgramEnv) -> None:
    with open_session(machine, text_script("a\x1b]0;x\x07b\u202e")) as terminal:
        type_line(terminal, "hello")
        code, printed = leave(terminal)
    assert (code, printed) == (0, "a<U+001B>]0;x<U+0007>b<U+202E>\n")


def test_it_can_be_asked_for_where_the_terminal_could_draw(machine: ProgramEnv) -> None:
    with open_session(machine, text_script("Hi."), "--screen-reader", TERM="xterm-256color") as terminal:
        type_line(terminal, "hello")
        assert leave(terminal) == (0, "Hi.\n")


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
