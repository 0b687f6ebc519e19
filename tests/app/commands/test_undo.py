"""`/undo`."""

from pathlib import Path

import pytest

from support.command_runner import texts
from support.file_changes import THREE_WRITES, call_ids, read_files, send_prompts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.prompter import FakePrompter, report_text
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallFinished
from tejat.core.ui.commands import NoAction
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import DiffBlock


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


NOTHING = "Nothing was changed."
OTHER_WAYS = (
    "/restore returns files and conversation to before a tool call.\n"
    "/rewind returns the conversation to before a prompt, and files if you like."
)


def test_the_last_call(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
        await send_prompts(runner)
        return await runner.run_command("/undo", choices=[0]), runner.texts[-1:]

    effect, told = env.run_with(work, script=THREE_WRITES)
    assert effect == (NoAction(), "Restored 1 path.")
    assert read_files(env) == {"a.txt": "2"}
    assert told == [
        f"I have taken back what your calls changed. These are as they were before:\n  - {env.project}/b.txt"
    ]


def test_some_calls(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await send_prompts(runner)
        return await runner.command_output("/undo 2", choices=[0])

    assert env.run_with(work, script=THREE_WRITES) == "Restored 2 paths."
    assert read_files(env) == {"a.txt": "1"}


def test_one_call_among_others(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await send_prompts(runner)
        newest, second, _ = await call_ids(runner)
        shown = await runner.command_output(f"/undo {second}", choices=[0])
        assert newest in await call_ids(runner)
        return [shown, *(await call_ids(runner))[1:2]]

    told, left = env.run_with(work, script=THREE_WRITES)
    assert told == "Restored 1 path."
    assert read_files(env) == {"a.txt": "1", "b.txt": "3"}
    assert left


def test_a_call_of_this_session_by_the_id_that_the_model_gave_it(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await send_prompts(runner)
        calls = [event.call.id for event in runner.events if isinstance(event, CallFinished)]
        return await runner.command_output(f"/undo {calls[1]}", choices=[0])

    assert env.run_with(work, script=THREE_WRITES) == "Restored 1 path."
    assert read_files(env) == {"a.txt": "1", "b.txt": "3"}


def test_not_without_a_yes(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await send_prompts(runner)
        return [await runner.command_output("/undo"), await runner.command_output("/undo 3", choices=[1])]

    assert env.run_with(work, script=THREE_WRITES) == [NOTHING, NOTHING]
    assert read_files(env) == {"a.txt": "2", "b.txt": "3"}


def test_what_the_person_changed_since_is_left_alone(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await send_prompts(runner)
        (env.project / "b.txt").write_text("mine")
        return (await runner.command_output("/undo", choices=[0])).splitlines()

    refused, why = env.run_with(work, script=THREE_WRITES)
    assert refused.endswith(" was not undone. Nothing was changed, because:")
    assert why.startswith(f"{env.project}/b.txt  ")
    assert read_files(env) == {"a.txt": "2", "b.txt": "mine"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/undo", f"Nothing to undo: no tool call has changed files here.\n{OTHER_WAYS}"),
        ("/undo 5", f"Nothing to undo: no tool call has changed files here.\n{OTHER_WAYS}"),
        ("/undo list", f"No restorable tool calls found.\n{OTHER_WAYS}"),
        ("/undo 0", "Usage: /undo [N | list | ID]"),
        ("/undo zzz", "No call zzz to undo. /undo list shows the calls."),
        ("/undo 123456", "No call 123456 to undo. /undo list shows the calls."),
    ],
)
def test_what_cannot_be_meant(env: InteractiveEnv, line: str, told: str) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(line)

    assert env.run_with(work) == told


def test_suggestions(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[list[str], list[str]]:
        await send_prompts(runner)
        return texts(await runner.interactive.commands.suggestions("/undo ")), await call_ids(runner)

    suggested, known = env.run_with(work, script=THREE_WRITES)
    assert suggested == ["list", *known]


async def ask_undo(runner: InteractiveRunner, *choices: int) -> tuple[Choice, str]:
    """The question of /undo, and what it says after these answers."""
    user = FakePrompter(choices=choices)
    await runner.interactive.commands.run("/undo", user)
    (question,) = user.asked
    assert isinstance(question, Choice)
    return question, user.output


def test_an_earlier_session_is_named(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await send_prompts(runner)
        question, _ = await ask_undo(runner)
        assert question.report is not None
        return report_text(question.report)

    assert "another session" not in env.run_with(work, script=THREE_WRITES)

    async def work_later(runner: InteractiveRunner) -> str:
        question, _ = await ask_undo(runner)
        assert question.report is not None
        return report_text(question.report)

    assert "This call was made in another session (" in env.run_with(work_later)


def test_what_others_may_have_changed_is_a_choice_of_its_own(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        undo = runner.interactive.command_context.manager.toolset.services.undo

        async def beside() -> ToolResult:
            (env.project / "theirs").write_text("x")
            return ToolResult("")

        async def command() -> ToolResult:
            (env.project / "own").write_text("x")
            await undo.record(FunctionCall("write_file", {}), Kind.EDIT, ["theirs"], beside, whole_tree=False)
            return ToolResult("")

        call = FunctionCall("run_shell_command", {"command": "make"})
        await undo.record(call, Kind.EXECUTE, [], command, whole_tree=True)
        question, shown = await ask_undo(runner, 0)
        assert [str(option.label) for option in question.options] == [
            "Yes, except what other programs may have changed",
            "Yes, everything",
            "No",
        ]
        return shown.splitlines()

    told, left, why = env.run_with(work)
    assert (told, left) == ("Restored 1 path.", "Not undone, because other programs may have changed it:")
    assert why.startswith(f"{env.project}/theirs  changed by ")
    assert read_files(env) == {"theirs": "x"}


def test_the_changes_are_shown_before(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> Choice:
        await send_prompts(runner)
        question, _ = await ask_undo(runner, 1)
        return question

    report = env.run_with(work, script=THREE_WRITES).report
    assert report is not None
    (diff,) = (block for block in report.blocks if isinstance(block, DiffBlock))
    assert diff.text.startswith("Index: b.txt\n")
    assert diff.max_rows == 12
