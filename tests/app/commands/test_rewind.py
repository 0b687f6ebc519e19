"""`/rewind`: back to before a prompt, with the files or without."""

from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from support.prompter import FakePrompter
from tejat.core.ui.commands import NoAction, SetInputAction
from tejat.core.ui.prompter import Choice

BACK = "Rewound the conversation to before this prompt."

OTHER_WAYS = (
    "/undo reverts file changes and keeps the conversation.\n"
    "/restore returns files and conversation to before a tool call."
)


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def writing(name: str, content: str) -> str:
    call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
    return script_answer(say=f"I write {name}.", calls=[call]) + text_script(f"Wrote {name}.")


async def read_state(runner: InteractiveRunner) -> tuple[list[str], list[str]]:
    return runner.texts, [mark.display_text for mark in runner.session.conversation.rewind_points]


def test_the_prompt_comes_back_and_what_came_of_it_is_gone(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        for prompt in ("one", "two", "three"):
            await runner.prompt(prompt)
        assert await runner.run_command("/rewind 2") == (SetInputAction("two"), BACK)
        await runner.prompt("two, but better")
        return runner.texts

    texts_then = env.run_with(work, script=text_script("a", "b", "c", "d"))
    assert texts_then == ["one", "a", "two, but better", "d"]
    assert env.run_with(read_state, resume="latest") == (texts_then, ["one", "two, but better"])


def test_at_once_after_a_session_was_taken_up(env: InteractiveEnv) -> None:
    async def first(runner: InteractiveRunner) -> None:
        await runner.prompt("one")
        await runner.prompt("two")

    async def second(runner: InteractiveRunner) -> object:
        return await runner.run_command("/rewind 1")

    env.run_with(first, script=text_script("a", "b"))
    assert env.run_with(second, resume="latest") == (SetInputAction("one"), BACK)
    assert env.run_with(read_state, resume="latest") == ([], [])


def test_by_choice_the_newest_stands_first(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
        await runner.prompt("one\n  and a half")
        await runner.prompt("two")
        person = FakePrompter(choices=[1])
        effect = await runner.interactive.commands.run("/rewind", person)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        return effect, [option.label for option in asked.options]

    assert env.run_with(work, script=text_script("a", "b")) == (
        SetInputAction("one\n  and a half"),
        ["two", "one and a half"],
    )


@pytest.mark.parametrize("word", ["0", "3", "-1", "two", "²", "9" * 5000])
def test_a_number_that_is_none(env: InteractiveEnv, word: str) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await runner.prompt("one")
        await runner.prompt("two")
        return await runner.command_output(f"/rewind {word}"), runner.texts

    told = "Enter a prompt number from 1 (the first) to 2."
    assert env.run_with(work, script=text_script("a", "b")) == (told, ["one", "a", "two", "b"])


def test_where_nothing_was_asked(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> object:
        return await runner.run_command("/rewind")

    assert env.run_with(work) == (
        NoAction(),
        f"No prompt to rewind to in this conversation.\n{OTHER_WAYS}",
    )


def test_a_prompt_that_came_to_nothing_is_no_place_to_go_back_to(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> tuple[list[str], list[str]]:
        await runner.prompt("one")
        await runner.prompt("two")
        return await read_state(runner)

    script = text_script("a") + script_answer(fail="bad_request", detail="No.")
    assert env.run_with(work, script=script) == (["one", "a"], ["one"])
    assert env.run_with(read_state, resume="latest") == (["one", "a"], ["one"])


def test_a_line_of_the_shell_before_a_prompt_stays(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await runner.prompt("one")
        await runner.interactive.run_shell("echo hi", lambda _: None)
        await runner.prompt("two")
        await runner.run_command("/rewind 2")
        return runner.texts

    lived = env.run_with(work, script=text_script("a", "b"))
    assert lived[:2] == ["one", "a"]
    assert lived[2].startswith("I ran the following shell command:")
    assert lived[2].endswith("\n```\nhi\n```")
    assert env.run_with(read_state, resume="latest") == (lived, ["one"])


class TestFiles:
    SCRIPT = writing("a.txt", "1") + writing("a.txt", "2") + writing("b.txt", "3")

    async def asked(self, runner: InteractiveRunner) -> None:
        for prompt in ("one", "two", "three"):
            await runner.prompt(prompt)

    def contents(self, env: InteractiveEnv) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(env.project.iterdir())}

    def test_are_put_back_too(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> object:
            await self.asked(runner)
            return await runner.run_command("/rewind 2", choices=[1])

        assert env.run_with(work, script=self.SCRIPT) == (SetInputAction("two"), f"Restored 2 paths.\n{BACK}")
        assert self.contents(env) == {"a.txt": "1"}

    def test_are_shown_before(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await self.asked(runner)
            person = FakePrompter(choices=[2])
            await runner.interactive.commands.run("/rewind 2", person)
            (asked,) = person.asked
            assert isinstance(asked, Choice)
            assert asked.report is not None
            person.show(asked.report)
            assert [mark.display_text for mark in runner.session.conversation.rewind_points] == ["one", "two", "three"]
            return person.output.splitlines()

        told, title, first, remove, second, change = env.run_with(work, script=self.SCRIPT)
        assert (told, title) == ("Nothing was changed.", "Changes to undo")
        assert first.endswith(" write_file: b.txt")
        assert remove == "delete  b.txt"
        assert second.endswith(" write_file: a.txt")
        assert change == "revert  a.txt"
        assert self.contents(env) == {"a.txt": "2", "b.txt": "3"}

    def test_are_left_alone(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> object:
            await self.asked(runner)
            return await runner.run_command("/rewind 1", choices=[0])

        assert env.run_with(work, script=self.SCRIPT) == (SetInputAction("one"), BACK)
        assert self.contents(env) == {"a.txt": "2", "b.txt": "3"}

    def test_that_the_person_changed_since_are_left_alone(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await self.asked(runner)
            (env.project / "a.txt").write_text("mine")
            return (await runner.command_output("/rewind 1", choices=[1])).splitlines()

        refused, why, back = env.run_with(work, script=self.SCRIPT)
        assert refused.endswith(" was not undone. Nothing was changed, because:")
        assert why.startswith(f"{env.project}/a.txt  ")
        assert back == BACK
        assert self.contents(env) == {"a.txt": "mine"}

    def test_of_another_session_are_none_of_its_business(self, env: InteractiveEnv) -> None:
        async def first(runner: InteractiveRunner) -> None:
            await runner.prompt("one")

        async def second(runner: InteractiveRunner) -> object:
            await runner.prompt("two")
            return await runner.run_command("/rewind 1")

        env.run_with(first, script=writing("a.txt", "1"))
        assert env.run_with(second) == (SetInputAction("two"), BACK)
        assert self.contents(env) == {"a.txt": "1"}


def test_suggestions(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await runner.prompt("one")
        return texts(await runner.interactive.commands.suggestions("/rewind "))

    assert env.run_with(work) == ["1"]
