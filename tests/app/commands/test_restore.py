"""`/restore`."""

from pathlib import Path

import pytest

from support.command_runner import texts
from support.file_changes import THREE_WRITES, call_ids, read_files, send_prompts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import text_script
from support.prompter import FakePrompter
from tejat.core.ui.commands import NoAction, SubmitPromptAction
from tejat.core.ui.prompter import Choice

OTHER_WAYS = (
    "/undo reverts file changes and keeps the conversation.\n"
    "/rewind returns the conversation to before a prompt, and files if you like."
)


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


NOTHING = "Nothing was changed."


def test_back_to_before_a_call(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[object, str, list[str], str]:
        await send_prompts(runner)
        _, second, _ = await call_ids(runner)
        effect, shown = await runner.run_command(f"/restore {second}", choices=[0])
        assert isinstance(effect, SubmitPromptAction)
        before = runner.texts
        await runner.interactive.prompt(effect.prompt, runner.events.append)
        return effect.display_text == f"/restore {second}", shown, before, runner.texts[-1]

    submits, shown, before, after = env.run_with(work, script=THREE_WRITES + text_script("Again."))
    assert submits
    assert shown == "Restored 2 paths.\nRestored the conversation to before this call."
    assert before == ["one", "I write a.txt.", "", "Wrote a.txt.", "two"]
    assert after == "Again."
    assert read_files(env) == {"a.txt": "1"}

    async def read_texts(runner: InteractiveRunner) -> list[str]:
        return runner.texts

    texts_then = env.run_with(read_texts, resume="latest")
    assert texts_then[:4] == before[:4]
    assert texts_then[4].startswith("two")
    assert texts_then[5:] == ["Again."]


def test_the_person_goes_on(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
        await send_prompts(runner)
        newest, _, _ = await call_ids(runner)
        return (await runner.run_command(f"/restore {newest}", choices=[1]))[0], runner.texts[-1:]

    assert env.run_with(work, script=THREE_WRITES) == (NoAction(), ["three"])


def test_the_call_and_the_files_are_shown_before(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await send_prompts(runner)
        newest, _, _ = await call_ids(runner)
        person = FakePrompter()
        await runner.interactive.commands.run(f"/restore {newest}", person)
        (choice,) = person.asked
        assert isinstance(choice, Choice)
        assert choice.report is not None
        person.show(choice.report)
        return person.output.splitlines()

    lines = env.run_with(work, script=THREE_WRITES)
    assert lines[0] == NOTHING
    assert lines[-4:] == [
        "The model had requested:",
        "[model]",
        "I write b.txt.",
        f'called write_file {{"file_path": "{env.project}/b.txt", "content": "3"}}',
    ]
    assert read_files(env) == {"a.txt": "2", "b.txt": "3"}


def test_what_cannot_be_put_back_leaves_the_conversation(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, int]:
        await send_prompts(runner)
        newest, _, _ = await call_ids(runner)
        (env.project / "b.txt").write_text("mine")
        before = len(runner.messages)
        shown = await runner.command_output(f"/restore {newest}", choices=[0])
        return shown.splitlines()[-1], len(runner.messages) - before

    assert env.run_with(work, script=THREE_WRITES) == ("The conversation was not changed.", 0)


def test_those_that_there_are(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[list[str], list[str], list[str]]:
        await send_prompts(runner)
        lines = (await runner.command_output("/restore")).splitlines()
        await runner.run_command("/undo", choices=[0])
        suggested = texts(await runner.interactive.commands.suggestions("/restore "))
        return lines, suggested, await call_ids(runner)

    lines, suggested, known = env.run_with(work, script=THREE_WRITES)
    assert lines[:2] == ["Calls you can restore to", "Id  When  Tool  About  Changes"]
    assert lines[2].endswith("  write_file  b.txt  1 created")
    assert lines[3].endswith("  write_file  a.txt  1 changed")
    assert lines[5:] == ["/restore ID returns files and conversation to before that call."]
    assert suggested == known


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "/restore",
            f"No restorable tool calls found.\n{OTHER_WAYS}",
        ),
        ("/restore nobody", "File not found: nobody.json\n/restore lists the calls you can restore to."),
    ],
)
def test_where_there_is_none(env: InteractiveEnv, line: str, told: str) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(line)

    assert env.run_with(work) == told
