"""`/copy`."""

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter


async def after_a_run(runner: CommandRunner) -> str:
    await runner.prompt("go")
    return await runner.output_of("/copy")


def test_the_last_answer(env: CommandEnv) -> None:
    person = FakePrompter()
    assert env.run_with(after_a_run, prompter=person) == "Copied the last answer: clipboard"
    assert person.copied == ["Hello there."]


def test_what_the_model_did_not_say_is_not_copied(env: CommandEnv) -> None:
    assert env.output_of("/copy") == "No answer to copy yet."


def test_no_clipboard(env: CommandEnv) -> None:
    assert env.run_with(after_a_run, prompter=FakePrompter(can_copy=False)) == "There is no clipboard here."
