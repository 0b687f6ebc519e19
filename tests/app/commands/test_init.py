"""`/init`."""

import os

import pytest

from support.command_runner import CommandEnv, CommandRunner
from tejat.core.ui.commands import CommandAction, NoAction, SubmitPromptAction
from tejat.engine.prompt.templates import load_template


async def init(runner: CommandRunner) -> tuple[CommandAction, str]:
    return await runner.run("/init"), runner.prompter.output


def test_an_empty_file_and_a_prompt(env: CommandEnv) -> None:
    done = (
        SubmitPromptAction(load_template("init"), "/init"),
        "Created an empty GEMINI.md. Asking the model to fill it.",
    )
    assert env.run_with(init) == done
    assert (env.project / "GEMINI.md").read_bytes() == b""


def test_in_a_folder_that_is_not_trusted(env: CommandEnv) -> None:
    done, shown = env.run_with(init, trusts_folder=False)
    assert isinstance(done, SubmitPromptAction)
    assert shown == (
        "Created an empty GEMINI.md. Asking the model to fill it.\n"
        "This folder is not trusted, so later sessions will not read GEMINI.md. See /permissions trust."
    )


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_there_stays(env: CommandEnv, kind: str) -> None:
    path = env.project / "GEMINI.md"
    if kind == "file":
        path.write_text("Mine.")
    else:
        path.symlink_to(env.base / "elsewhere")
    told = (
        "A GEMINI.md file already exists in this directory. No changes were made.\n"
        "To improve it, ask the model: Update GEMINI.md for this project."
    )
    assert env.run_with(init) == (NoAction(), told)
    assert kind == "link" or path.read_text() == "Mine."
    assert not os.path.exists(env.base / "elsewhere")


def test_nothing_is_written_in_plan_mode(env: CommandEnv) -> None:
    text = (
        "Plan mode is read-only, so GEMINI.md was not created.\n"
        "Press Shift-Tab or type /policy mode default, then /init again."
    )
    assert env.run_with(init, mode="plan") == (NoAction(), text)
    assert not (env.project / "GEMINI.md").exists()
