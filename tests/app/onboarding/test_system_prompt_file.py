"""The built-in system prompt in a file, for somebody who wants to write their own."""

import asyncio
from pathlib import Path

import pytest

from support.program import ProgramEnv, text_script
from support.prompter import FakePrompter
from tejat.app.onboarding.system_prompt_file import offer_system_prompt, write_system_prompt
from tejat.app.run_config import RunConfig, load_run_config
from tejat.core.errors import UsageError

YES, NO = 0, 1


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def config_of(machine: ProgramEnv, value: str) -> RunConfig:
    environment = {**machine.environment, "GEMINI_WRITE_SYSTEM_MD": value}
    return load_run_config([str(machine.project)], environment=environment)


def offer(machine: ProgramEnv, value: str, *choices: int | None, text: str = "You are new.") -> FakePrompter:
    user = FakePrompter(choices=choices)
    asyncio.run(offer_system_prompt(config_of(machine, value), lambda: text, user))
    return user


@pytest.mark.parametrize("value", ["", "0", "False"])
def test_nothing_is_written_unless_it_is_wanted(machine: ProgramEnv, value: str) -> None:
    write_system_prompt(config_of(machine, value), lambda: "You are new.")
    assert offer(machine, value).asked == []
    assert list(machine.project.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "name"), [("true", ".gemini/system.md"), ("1", ".gemini/system.md"), ("own/prompt.md", "own/prompt.md")]
)
def test_where_it_is_written(machine: ProgramEnv, value: str, name: str) -> None:
    path = machine.project / name
    write_system_prompt(config_of(machine, value), lambda: "You are new.")
    assert path.read_text() == "You are new.\n"
    write_system_prompt(config_of(machine, value), lambda: "You are new.")  # the same again is fine
    with pytest.raises(UsageError, match="which already exists"):
        write_system_prompt(config_of(machine, value), lambda: "You are newer.")
    assert path.read_text() == "You are new.\n"


def test_a_person_is_asked_before_a_file_is_replaced(machine: ProgramEnv) -> None:
    path = machine.project / "own.md"
    user = offer(machine, "own.md")
    assert (user.asked, path.read_text()) == ([], "You are new.\n")
    path.write_text("mine")
    for choice in (NO, None):
        assert len(offer(machine, "own.md", choice).asked) == 1
        assert path.read_text() == "mine"
    offer(machine, "own.md", YES)
    assert path.read_text() == "You are new.\n"


def test_a_link_does_not_lead_out_of_the_project(machine: ProgramEnv) -> None:
    (machine.base / "elsewhere").mkdir()
    (machine.project / ".gemini").symlink_to(machine.base / "elsewhere")
    with pytest.raises(UsageError, match="links to a file outside"):
        write_system_prompt(config_of(machine, "true"), lambda: "You are new.")
    assert list((machine.base / "elsewhere").iterdir()) == []


def test_a_headless_run(machine: ProgramEnv) -> None:
    model = machine.script(text_script("Hi."))
    path = machine.project / "prompt.md"
    done = machine.run("-m", model, "-p", "hi", GEMINI_WRITE_SYSTEM_MD="prompt.md")
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert path.read_text().startswith("You are an agent")
    path.write_text("mine")
    done = machine.run("-m", model, "-p", "hi", GEMINI_WRITE_SYSTEM_MD="prompt.md")
    assert (done.code, done.stdout, path.read_text()) == (42, "", "mine")
    assert "which already exists. Remove it, or choose another file." in done.stderr
