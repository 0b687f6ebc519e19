"""Extensions of Gemini CLI are listed, none is loaded."""

import os
import re
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def install(directory: Path, name: str) -> str:
    path = directory / ".gemini" / "extensions" / name
    path.mkdir(parents=True)
    (path / "gemini-extension.json").write_text("{}")
    return os.fspath(path)


@pytest.mark.parametrize("words", [["-l"], ["--list-extensions"], ["extensions", "list"], ["extension", "list"]])
def test_none(machine: ProgramEnv, words: list[str]) -> None:
    assert machine.run(*words) == ProgramResult(0, "No extensions found.\n", "")


def test_those_of_the_user_and_of_the_project(machine: ProgramEnv) -> None:
    own = install(machine.home, "lint\x1b[2J")
    projects = install(machine.project, "docs")
    (machine.project / ".gemini" / "extensions" / "no-manifest").mkdir()
    done = machine.run("extensions", "list")
    assert (done.code, done.stderr) == (0, "")
    assert [re.split("  +", line) for line in done.stdout.splitlines()] == [
        ["NAME", "STATE", "DIRECTORY"],
        ["lint<U+001B>[2J", "found, not loaded", own.replace("\x1b", "<U+001B>")],
        ["docs", "found, not loaded", projects],
    ]


def test_none_is_fine(machine: ProgramEnv) -> None:
    install(machine.home, "lint")
    model = machine.script('[[answer]]\nsay = "Hello."\n')
    assert machine.run("-e", "none", "-p", "hi", "-m", model) == ProgramResult(0, "Hello.\n", "")
