"""Words and flags of Gemini CLI's command line: none that looks like a command reaches a model."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv, ProgramResult
from tejat import __version__


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.fixture
def server(machine: ProgramEnv) -> Generator[ModelServer]:
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        yield server


@pytest.mark.parametrize("words", [["-m", "x", "--version"], ["-v"], ["-yv"], ["tools", "-v"]])
def test_the_version_is_printed_before_any_file_is_read(machine: ProgramEnv, words: list[str]) -> None:
    machine.write_user_settings(general="broken")
    assert machine.run(*words) == ProgramResult(0, f"tejat {__version__}\n", "")


def test_the_help_of_a_command(machine: ProgramEnv) -> None:
    done = machine.run("tools", "--help")
    assert (done.code, done.stdout.partition("\n")[0]) == (0, "usage: tejat tools list [--all] [--json]")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("extensions list", 0, "No extensions installed."),
        ("skills list", 0, "No skills discovered."),
        ("hooks list", 0, "No hooks are configured."),
        ("gemma status", 42, "tejat -m ollama:NAME"),
        ("doctr", 42, '"doctr" is close to the command "doctor". To send it to the model: tejat -p "doctr"'),
        ("sesions", 42, 'To send it to the model: tejat -p "sesions"'),
        (
            "help doctr",
            2,
            "Unknown command 'doctr'. Did you mean doctor? To send it to the model: tejat -p \"help doctr\"",
        ),
        ("help nosuch", 2, "Unknown command 'nosuch'. `tejat help` lists the commands. To send it to the model: "),
        ("version x", 2, 'version takes no arguments. To send it to the model: tejat -p "version x"'),
        ("-m x doctor", 42, 'To send it to the model: tejat -p "doctor"'),
    ],
)
def test_commands_and_near_misses_are_not_sent(
    machine: ProgramEnv, server: ModelServer, words: str, code: int, told: str
) -> None:
    done = machine.run(*words.split())
    assert done.code == code
    assert told in done.stdout + done.stderr
    assert server.requests == []


@pytest.mark.parametrize(
    "words", [["-p", "doctr"], ["doctr now please"], ["fix", "it"], ["--", "doctr"], ["help", "me", "now"]]
)
def test_prompts_are_sent(machine: ProgramEnv, server: ModelServer, words: list[str]) -> None:
    done = machine.run(*words)
    assert (done.code, done.stdout) == (0, "Hello.\n")
    assert len(server.requests) == 1
