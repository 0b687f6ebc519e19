"""Earlier parts of a conversation can be fetched after summaries, resumes and rewinds."""

from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.errors import ToolFailure
from tejat.core.messages.tool_names import RECALL
from tejat.core.tools.recall import RecalledPart, RecallQuery
from tejat.engine.sessions.recall import MAX_CHARACTERS

LONG = " ".join(map(str, range(3000)))
SNAPSHOT = script_answer(say="<state_snapshot>short</state_snapshot>", purpose="compression")


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def recall(runner: InteractiveRunner, **query: object) -> RecalledPart:
    services = runner.interactive.command_context.toolset.services
    return services.recall()(RecallQuery(**query))  # type: ignore[arg-type]


def is_declared(runner: InteractiveRunner) -> bool:
    return RECALL in [declared.name for declared in runner.session.conversation.template.declarations()]


async def talk(runner: InteractiveRunner) -> list[str]:
    """Three prompts, a summary, two more, and another summary. Returns what can be read before each summary."""
    read: list[str] = []
    for prompts in (("Use the port 4711.", "two", "three"), ("four", "five")):
        for prompt in prompts:
            await runner.prompt(prompt)
        read.append(recall(runner, messages=(1, 2)).text)
        await runner.run_command("/compress")
    return read


SCRIPT = text_script(f"Noted: Zanzibar. {LONG}", LONG, "c", f"four: {LONG}", LONG, "six") + SNAPSHOT + SNAPSHOT


class TestSummaries:
    def test_everything_is_there_by_the_same_numbers(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[list[str], list[str], str]:
            assert not is_declared(runner)
            before = await talk(runner)
            assert is_declared(runner)
            after = [recall(runner, messages=(1, 2)).text, recall(runner).text]
            return before, after, runner.texts[0]

        (first, second), (again, overview), summary = env.run_with(work, script=SCRIPT)
        assert first == second == again
        assert first.startswith("--- message 1, turn 1 ---\n[user]\nUse the port 4711.\n\n--- message 2, turn 1 ---\n")
        assert "characters left out" in first
        assert overview.splitlines()[0] == "turn 1, messages 1-2: Use the port 4711."
        assert overview.splitlines()[-1] == "turn 5, messages 9-10: five"
        assert "Messages 1 to 9 of the conversation are no longer shown. Call `recall`" in summary

    def test_by_text(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[RecalledPart]:
            await talk(runner)
            queries = ({"text": "ZANZIBAR"}, {"text": "port use"}, {"text": "2998 2999"}, {"text": "nowhere"})
            return [recall(runner, **query) for query in queries] + [recall(runner, text="2999", turns=(2, 3))]

        whole, words, several, none, within = env.run_with(work, script=SCRIPT)
        assert whole.count == words.count == within.count == 1
        assert whole.text.startswith("1 messages contain 'ZANZIBAR', the latest first:\n\n--- message 2, turn 1 ---\n")
        assert "Noted: Zanzibar. 0 1 2" in whole.text
        assert len(whole.text) < 500
        assert "--- message 1, turn 1 ---\n[user]\nUse the port 4711." in words.text
        assert several.count == 4
        assert several.text.index("message 10,") < several.text.index("message 2,")
        assert none.text.startswith("No message contains 'nowhere'.")
        assert "--- message 4, turn 2 ---" in within.text

    def test_a_result_is_bounded(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[str, str]:
            await talk(runner)
            return recall(runner, messages=(1, 10)).text, recall(runner, messages=(2, 2)).text

        several, one = env.run_with(work, script=SCRIPT)
        assert len(several) < MAX_CHARACTERS + 1000
        assert len(one) > 13_900

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ({"messages": (11, 20)}, "Nothing found: there are messages 1 to 10."),
            ({"turns": (6, 6)}, "Nothing found: there are turns 1 to 5."),
        ],
    )
    def test_numbers_that_do_not_exist(self, env: InteractiveEnv, query: dict[str, object], message: str) -> None:
        async def work(runner: InteractiveRunner) -> None:
            await talk(runner)
            recall(runner, **query)

        with pytest.raises(ToolFailure) as raised:
            env.run_with(work, script=SCRIPT)
        assert str(raised.value) == message


def test_after_a_resume_and_a_rewind(env: InteractiveEnv) -> None:
    async def first(runner: InteractiveRunner) -> str:
        await talk(runner)
        return recall(runner).text

    async def second(runner: InteractiveRunner) -> tuple[bool, str, str]:
        declared, overview = is_declared(runner), recall(runner).text
        await runner.prompt("six")
        with_six = recall(runner, text="six").text
        conversation = runner.session.conversation
        point = list(conversation.rewind_points)[-1]
        conversation.rewind(point.length, len(conversation.rewind_points) - 1)
        assert recall(runner).text == overview
        return declared, overview, with_six

    before = env.run_with(first, script=SCRIPT)
    script = text_script("a", "b")
    declared, after, with_six = env.run_with(second, script=script, resume="latest")
    assert declared
    assert after == before
    assert "--- message 11, turn 6 ---" in with_six
    assert env.run_with(_overview, script=script, resume="latest") == before


async def _overview(runner: InteractiveRunner) -> str:
    return recall(runner).text


def test_a_session_that_is_not_saved(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await talk(runner)
        return recall(runner, text="Zanzibar").text

    text = env.run_with(work, script=SCRIPT, keeps_session=False)
    assert "Noted: Zanzibar." in text
    assert text.endswith("This session is not saved: nothing from before this run is kept.")


def test_secrets_are_masked_as_in_the_journal(env: InteractiveEnv) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6

    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt(f"The key is {key}")
        return recall(runner, messages=(1, 2)).text

    assert key not in env.run_with(work, script=text_script("a"))


def test_what_was_recalled_is_not_found_again(env: InteractiveEnv) -> None:
    asked = script_answer(calls=[("recall", {"text": "Zanzibar"})])
    script = text_script(f"Zanzibar. {LONG}", LONG, "c") + SNAPSHOT + asked + script_answer(say="Found it.")

    async def work(runner: InteractiveRunner) -> tuple[RecalledPart, str]:
        for prompt in ("one", "two", "three"):
            await runner.prompt(prompt)
        await runner.run_command("/compress")
        await runner.prompt("What was the place?")
        (response,) = (one for message in runner.messages for one in message.responses)
        return recall(runner, text="Zanzibar"), str(response.response["output"])

    found, output = env.run_with(work, script=script)
    assert found.count == 1
    assert output == found.text
