"""`/compress`."""

from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.ui.commands import NoAction


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


LONG = " ".join(map(str, range(3000)))


def test_the_counts_are_told(env: InteractiveEnv) -> None:
    script = text_script(LONG, LONG[::-1], "c") + script_answer(
        say="<state_snapshot>short</state_snapshot>", purpose="compression"
    )

    async def work(runner: InteractiveRunner) -> tuple[list[str], int, int]:
        for prompt in ("one", "two", "three"):
            await runner.prompt(prompt)
        before = runner.session.conversation.tokens
        effect, shown = await runner.run_command("/compress")
        assert effect == NoAction()
        return shown.split(), before, runner.session.conversation.tokens

    words, before, after = env.run_with(work, script=script)
    assert words == ["Chat", "history", "compressed", "from", str(before), "to", str(after), "tokens."]
    assert after < before


def test_where_there_is_nothing(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output("/compress")

    assert env.run_with(work) == "Nothing to compress."


def test_where_the_model_fails(env: InteractiveEnv) -> None:
    script = text_script(LONG, "b") + script_answer(fail="bad_request", detail="No such luck.", purpose="compression")

    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await runner.prompt("one")
        await runner.prompt("two")
        return await runner.command_output("/compress"), runner.texts

    shown, texts = env.run_with(work, script=script)
    assert shown == "Could not compress chat history: No such luck."
    assert texts == ["one", LONG, "two", "b"]


def test_what_it_costs_counts(env: InteractiveEnv) -> None:
    usage = {"prompt": 10, "output": 5}
    script = text_script(LONG, "b") + script_answer(say="short", purpose="compression", usage=usage)

    async def work(runner: InteractiveRunner) -> int:
        await runner.prompt("one")
        await runner.prompt("two")
        await runner.run_command("/compress")
        return runner.interactive.command_context.statistics.usage.total

    assert env.run_with(work, script=script) == 15
