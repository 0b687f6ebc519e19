"""`/diff`."""

from pathlib import Path

import pytest

from support.file_changes import THREE_WRITES, call_ids, send_prompts, write_script
from support.interactive import InteractiveEnv, InteractiveRunner
from support.prompter import FakePrompter, report_text
from tejat.core.ui.report import DiffBlock, Report

NONE = "No file changes.\nOnly changes by tool calls are shown; for everything else run !git diff."


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


async def changed_lines(runner: InteractiveRunner, line: str) -> tuple[str, list[str]]:
    """The title of the report, and the added and removed lines of its diffs."""
    person = FakePrompter()
    await runner.interactive.commands.run(line, person)
    (report,) = person.reports
    diffs = [block.text for block in report.blocks if isinstance(block, DiffBlock)]
    lines = [line for diff in diffs for line in diff.splitlines() if line[:1] in "+-"]
    return report.title, [line for line in lines if not line.startswith(("+++ ", "--- "))]


def test_all_changes_of_the_session_as_one_per_file(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await send_prompts(runner)
        return await changed_lines(runner, "/diff")

    assert env.run_with(work, script=THREE_WRITES) == ("Changes in this session", ["+2", "+3"])


def test_since_the_last_prompt(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await send_prompts(runner)
        return await changed_lines(runner, "/diff last")

    assert env.run_with(work, script=THREE_WRITES) == ("Changes since your last prompt", ["+3"])


def test_some_calls_and_one_call(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[tuple[str, list[str]]]:
        await send_prompts(runner)
        second = (await call_ids(runner))[1]
        return [await changed_lines(runner, line) for line in ("/diff 2", f"/diff {second}")]

    some, one = env.run_with(work, script=THREE_WRITES)
    assert some == ("Changes made by the last 2 calls", ["-1", "+2", "+3"])
    assert one[0].endswith(" write_file: a.txt")
    assert one[1] == ["-1", "+2"]


def test_undone_changes_are_gone(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await send_prompts(runner)
        await runner.command_output("/undo 3", choices=[0])
        return await runner.command_output("/diff")

    assert env.run_with(work, script=THREE_WRITES) == NONE


def test_very_many_lines(env: InteractiveEnv) -> None:
    script = write_script("a.txt", "x\n" * 300) + write_script("b.txt", "y\n" * 300) + write_script("c.txt", "z\n")

    async def work(runner: InteractiveRunner) -> Report:
        await send_prompts(runner)
        person = FakePrompter()
        await runner.interactive.commands.run("/diff", person)
        return person.reports[0]

    report = env.run_with(work, script=script)
    assert [block.max_rows for block in report.blocks if isinstance(block, DiffBlock)] == [133, 133, 133]
    assert report_text(report).endswith("\n/diff ID shows one call, !git diff shows everything.")


def test_none_yet(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        return [await runner.command_output(line) for line in ("/diff", "/diff last", "/diff 3", "/diff nobody")]

    unknown = "No call nobody in this session. /undo list shows the calls.\nUsage: /diff [last | N | ID]"
    assert env.run_with(work) == [NONE, NONE, NONE, unknown]
