"""A conversation at a real terminal, one prompt after the other."""

import re
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server, rude_server
from support.program import ProgramEnv, script_answer, text_script
from support.terminal.pty_program import PtyProgram, run_at_terminal

ASKS: dict[str, object] = {
    "method": "elicitation/create",
    "params": {
        "message": "Who are you?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
"""What a tool of a server is called with that asks this."""


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@contextmanager
def conversation(machine: ProgramEnv, script: str, *words: str) -> Generator[PtyProgram]:
    """The program with this script, ready for the first prompt or with one already."""
    model = machine.script(script)
    environment: dict[str, Any] = {"HOME": str(machine.home), "GEMINI_API_KEY": ""}
    with run_at_terminal(
        "-W", "error", "-m", "tejat", "-m", model, *words, cwd=machine.project, **environment
    ) as terminal:
        terminal.wait_for("Ask anything. /help for commands, Ctrl-C to stop an answer, Ctrl-D to exit.")
        yield terminal


def ask(terminal: PtyProgram, prompt: str) -> None:
    terminal.wait_for("> ")
    terminal.type(f"{prompt}\n".encode())


def test_prompts_are_answered_until_there_are_no_more(machine: ProgramEnv) -> None:
    script = script_answer(when="hello", say="Hi.") + script_answer(when="and now", say="Still here.\x1b[2J")
    with conversation(machine, script) as terminal:
        ask(terminal, "hello")
        ask(terminal, "  ")
        ask(terminal, "and now?")
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "Hi.\nStill here.<U+001B>[2J\n")


def test_one_may_be_given_along(machine: ProgramEnv) -> None:
    with conversation(machine, script_answer(when="hello", say="Hi."), "-i", "hello") as terminal:
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "Hi.\n")


def test_what_is_done_is_asked_about_and_shown(machine: ProgramEnv) -> None:
    (machine.project / "a.txt").write_text("old\n")
    change = {"file_path": "${root}/a.txt", "old_string": "old", "new_string": "new"}
    script = (
        script_answer(calls=[("read_file", {"path": "a.txt"})])
        + script_answer(calls=[("replace", change)])
        + text_script("Done.")
    )
    with conversation(machine, script, "-i", "change it") as terminal:
        terminal.wait_for("Read a.txt")
        terminal.wait_for("Your answer (")
        terminal.type(b"y\n")
        terminal.wait_for("Edited a.txt +1 -1")
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "Done.\n")
    assert (machine.project / "a.txt").read_text() == "new\n"


def test_what_is_long_does_not_fill_the_screen(machine: ProgramEnv) -> None:
    command = {"command": "seq 1 5000; printf %05000d 7"}
    script = script_answer(calls=[("run_shell_command", command)]) + text_script("Done.")
    with conversation(machine, script, "-y", "--sandbox", "off", "-i", "go") as terminal:
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "Done.\n")
    told = [str(number) for number in range(1, 21)]
    told += [
        "[4,961 more lines; enter + to show all]",
        *(str(number) for number in range(4982, 5001)),
        f"{'0' * 2000} [...]",
    ]
    assert re.search("Ran seq 1 5000; printf %05000d 7(?: \\([0-9.]+ s\\))?\n", terminal.shown)
    assert "\n".join(told) in terminal.shown


def test_a_no_is_for_one_call_and_the_model_goes_on(machine: ProgramEnv) -> None:
    script = script_answer(calls=[("write_file", {"file_path": "a.txt", "content": "x"})]) + text_script("I see.")
    with conversation(machine, script, "-i", "write it") as terminal:
        terminal.wait_for("Your answer (")
        terminal.type(b"n\n")
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "I see.\n")
    assert not (machine.project / "a.txt").exists()


def test_an_interrupt_ends_the_answer_and_not_the_conversation(machine: ProgramEnv) -> None:
    script = script_answer(say="one two three four five six seven eight", pause=0.3) + text_script("Fine.")
    with conversation(machine, script, "-i", "count") as terminal:
        time.sleep(0.8)
        terminal.type(b"\x03")
        terminal.wait_for("Stopped.")
        ask(terminal, "go on")
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        code, printed = terminal.wait_for_exit()
    assert code == 0
    assert printed.startswith("one ")
    assert "eight" not in printed
    assert printed.endswith("\nFine.\n")


@pytest.mark.parametrize("prompts", [[], ["hello"]])
def test_an_interrupt_at_the_prompt_ends_it(machine: ProgramEnv, prompts: list[str]) -> None:
    with conversation(machine, text_script("Hi.")) as terminal:
        for prompt in prompts:
            ask(terminal, prompt)
        terminal.wait_for("> ")
        terminal.type(b"\x03")
        code, _ = terminal.wait_for_exit()
    assert code == 130
    assert "Traceback" not in terminal.shown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_what_it_runs(machine: ProgramEnv, number: signal.Signals) -> None:
    command = {"command": "echo $$ > pid; sleep 300"}
    script = script_answer(calls=[("run_shell_command", command)])
    with conversation(machine, script, "-y", "--sandbox", "off", "-i", "run it") as terminal:
        running = machine.project / "pid"
        deadline = time.monotonic() + 30
        while not (running.exists() and running.read_text().strip()):
            assert time.monotonic() < deadline, terminal.shown
            time.sleep(0.05)
        terminal.process.send_signal(number)
        code, _ = terminal.wait_for_exit()
    assert code == 128 + number
    assert "Traceback" not in terminal.shown
    deadline = time.monotonic() + 60
    while is_running(int(running.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        return b"sleep 300" in Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return False


class TestServers:
    """What servers ask at the same terminal."""

    @pytest.fixture
    def machine(self, tmp_path: Path) -> ProgramEnv:
        return ExternalToolsEnv(tmp_path)

    def test_is_answered_there(self, machine: ExternalToolsEnv) -> None:
        machine.write_user_settings(mcpServers={"bad": hostile_server(trust=True)})
        script = script_answer(calls=[("bad__ask", ASKS)]) + text_script("Done.")
        with conversation(machine, script, "--trust", "-i", "go") as terminal:
            terminal.wait_for("> Who are you?")
            terminal.wait_for("(y/n) ")
            terminal.type(b"y\n")
            terminal.wait_for("= ")
            terminal.type(b"Ada\n")
            terminal.wait_for("(y/n) ")
            terminal.type(b"y\n")
            terminal.wait_for('{"action": "accept", "content": {"name": "Ada"}}')
            terminal.wait_for("> ")
            terminal.type(b"\x04")
            assert terminal.wait_for_exit() == (0, "Done.\n")

    def test_is_taken_back_by_an_interrupt_and_the_next_question_can_be_answered(
        self, machine: ExternalToolsEnv
    ) -> None:
        machine.write_user_settings(mcpServers={"bad": hostile_server()})
        machine.write_policy('[[rule]]\ntool = "ask"\nserver = "bad"\ndecision = "allow"\n')
        script = (
            script_answer(calls=[("bad__ask", ASKS)])
            + script_answer(calls=[("bad__echo", {"text": "hi"})])
            + text_script("Done.")
        )
        with conversation(machine, script, "--trust", "-i", "go") as terminal:
            terminal.wait_for("> Who are you?")
            terminal.wait_for("(y/n) ")
            terminal.type(b"\x03")
            terminal.wait_for("Stopped.")
            ask(terminal, "go on")
            terminal.wait_for("Your answer (")
            terminal.type(b"y\n")
            terminal.wait_for('{"text": "hi"}')
            terminal.wait_for("> ")
            terminal.type(b"\x04")
            assert terminal.wait_for_exit() == (0, "Done.\n")

    def test_is_not_asked_while_somebody_types(self, machine: ExternalToolsEnv) -> None:
        answered = machine.base / "answered"
        machine.write_user_settings(mcpServers={"rude": rude_server("elicitation/create", answered)})
        with conversation(machine, text_script("Hi."), "--trust") as terminal:
            terminal.wait_for("> ")
            deadline = time.monotonic() + 30
            while not answered.exists():
                assert time.monotonic() < deadline, terminal.shown
                time.sleep(0.02)
            terminal.type(b"hello\n")
            terminal.wait_for("> ")
            terminal.type(b"\x04")
            assert terminal.wait_for_exit() == (0, "Hi.\n")
        assert "Who are you?" not in terminal.shown


def test_without_a_model_one_is_looked_for(machine: ProgramEnv) -> None:
    environment: dict[str, Any] = {"HOME": str(machine.home), "GEMINI_API_KEY": "", "GOOGLE_API_KEY": ""}
    with run_at_terminal("-m", "tejat", cwd=machine.project, **environment) as terminal:
        terminal.wait_for("No model configured yet.")
        terminal.wait_for("Your choice, 1 to ")
        terminal.type(b"0\n")
        assert terminal.wait_for_exit() == (0, "")


def test_what_cannot_be_begun_is_said(machine: ProgramEnv) -> None:
    with run_at_terminal("-m", "tejat", "-m", "scripted:none", cwd=machine.project, HOME=str(machine.home)) as terminal:
        code, printed = terminal.wait_for_exit()
    assert (code, printed) == (42, "")
    assert "could not read the script" in terminal.shown


def test_it_can_be_resumed_later(machine: ProgramEnv) -> None:
    with conversation(machine, text_script("Hi."), "-i", "my name is Ada") as terminal:
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        terminal.wait_for_exit()
    assert "1. my name is Ada (" in machine.run("--list-sessions").stdout
    with conversation(machine, text_script("Ada."), "-r", "-i", "who am I?") as terminal:
        terminal.wait_for("> ")
        terminal.type(b"\x04")
        assert terminal.wait_for_exit() == (0, "Ada.\n")
    assert "(1):" in machine.run("--list-sessions").stdout
