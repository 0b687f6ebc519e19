"""The question about a word that is nearly a command."""

import pytest

from support.program import ProgramEnv, text_script
from support.terminal.pty_program import run_at_terminal


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> ProgramEnv:
    return ProgramEnv(tmp_path_factory.mktemp("near"))


def answer(machine: ProgramEnv, keys: bytes, *words: str) -> tuple[int, str, str]:
    """Type an answer to the question; return the exit code, standard output and the question."""
    with run_at_terminal("-m", "tejat", *words, cwd=machine.project, HOME=str(machine.home)) as program:
        program.wait_for("Your choice, 1 to ")
        program.type(keys)
        code, printed = program.wait_for_exit()
    return code, printed, program.shown


def test_the_command_runs_by_default_if_there_is_only_one(machine: ProgramEnv) -> None:
    code, printed, shown = answer(machine, b"\n", "sesions", "list")
    assert (code, printed) == (0, "No sessions yet.\n")
    assert shown.startswith(
        '"sesions" looks like a command.\n'
        "  1 run: tejat sessions list\n  2 send it as a prompt\n  3 quit\nYour choice, 1 to 3 [1]: "
    )


def test_it_can_be_sent(machine: ProgramEnv) -> None:
    model = machine.script(text_script("Hello."))
    code, printed, _ = answer(machine, b"2\n", "-m", model, "doctr")
    assert (code, printed) == (0, "Hello.\n")


@pytest.mark.parametrize("keys", [b"3\n", b"\x04"])
def test_it_can_be_left(machine: ProgramEnv, keys: bytes) -> None:
    assert answer(machine, keys, "doctr")[:2] == (42, "")


def test_an_unclear_word_has_no_default(machine: ProgramEnv) -> None:
    code, _, shown = answer(machine, b"\n9\n4\n", "extention")
    assert code == 42
    assert "  1 run: tejat extension\n  2 run: tejat extensions\n" in shown
    assert "Your choice, 1 to 4: " in shown
    assert shown.count("Type a number from 1 to 4.") == 2


def test_an_unknown_second_word_has_no_default(machine: ProgramEnv) -> None:
    assert "Your choice, 1 to 3: " in answer(machine, b"3\n", "doctr", "now")[2]
