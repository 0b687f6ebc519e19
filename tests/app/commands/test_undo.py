"""`/undo` and `/restore`: what calls did to files, and the way back."""

from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from support.prompter import FakePrompter
from tejat.core.ui.commands import NoAction, SubmitPromptAction
from tejat.core.ui.prompter import Choice


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def writing(name: str, content: str) -> str:
    call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
    return script_answer(say=f"I write {name}.", calls=[call]) + text_script(f"Wrote {name}.")


SCRIPT = writing("a.txt", "1") + writing("a.txt", "2") + writing("b.txt", "3")
NOTHING = "Nothing was touched."


async def asked(runner: InteractiveRunner) -> None:
    for prompt in ("one", "two", "three"):
        await runner.prompt(prompt)


async def ids(runner: InteractiveRunner) -> list[str]:
    """Those of all calls, the newest first."""
    return [line.split()[0] for line in (await runner.command_output("/undo list")).splitlines()[2:]]


def contents(env: InteractiveEnv) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(env.project.iterdir())}


class TestUndo:
    def test_the_last_call(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
            await asked(runner)
            return await runner.run_command("/undo", choices=[1]), runner.texts[-1:]

        effect, told = env.run_with(work, script=SCRIPT)
        assert effect == (NoAction(), "Put back 1 path.")
        assert contents(env) == {"a.txt": "2"}
        assert told == [
            f"I have taken back what your calls changed. These are as they were before:\n  - {env.project}/b.txt"
        ]

    def test_some_calls(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            await asked(runner)
            return await runner.command_output("/undo 2", choices=[1])

        assert env.run_with(work, script=SCRIPT) == "Put back 2 paths."
        assert contents(env) == {"a.txt": "1"}

    def test_one_call_among_others(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await asked(runner)
            newest, second, _ = await ids(runner)
            shown = await runner.command_output(f"/undo {second}", choices=[1])
            assert newest in await ids(runner)
            return [shown, *(await ids(runner))[1:2]]

        told, left = env.run_with(work, script=SCRIPT)
        assert told == "Put back 1 path."
        assert contents(env) == {"a.txt": "1", "b.txt": "3"}
        assert left

    def test_not_without_a_yes(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await asked(runner)
            return [await runner.command_output("/undo"), await runner.command_output("/undo 3", choices=[0])]

        assert env.run_with(work, script=SCRIPT) == [NOTHING, NOTHING]
        assert contents(env) == {"a.txt": "2", "b.txt": "3"}

    def test_what_the_person_changed_since_is_left_alone(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await asked(runner)
            (env.project / "b.txt").write_text("mine")
            return (await runner.command_output("/undo", choices=[1])).splitlines()

        refused, why = env.run_with(work, script=SCRIPT)
        assert refused.endswith(" was not put back. Nothing of it was touched, because:")
        assert why.startswith(f"{env.project}/b.txt  ")
        assert contents(env) == {"a.txt": "2", "b.txt": "mine"}

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("/undo", "Nothing to undo."),
            ("/undo 5", "Nothing to undo."),
            ("/undo list", "No restorable tool calls found."),
            ("/undo 0", "Usage: /undo [N | list | ID]"),
            ("/undo zzz", "There is no call zzz that could be undone. /undo list shows them."),
            ("/undo 123456", "There is no call 123456 that could be undone. /undo list shows them."),
        ],
    )
    def test_what_cannot_be_meant(self, env: InteractiveEnv, line: str, told: str) -> None:
        async def work(runner: InteractiveRunner) -> str:
            return await runner.command_output(line)

        assert env.run_with(work) == told

    def test_suggestions(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[list[str], list[str]]:
            await asked(runner)
            return texts(await runner.interactive.commands.suggestions("/undo ")), await ids(runner)

        suggested, known = env.run_with(work, script=SCRIPT)
        assert suggested == ["list", *known]


class TestRestore:
    def test_back_to_before_a_call(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[object, str, list[str], str]:
            await asked(runner)
            _, second, _ = await ids(runner)
            effect, shown = await runner.run_command(f"/restore {second}", choices=[0])
            assert isinstance(effect, SubmitPromptAction)
            before = runner.texts
            await runner.interactive.prompt(effect.prompt, runner.events.append)
            return effect.display_text == f"/restore {second}", shown, before, runner.texts[-1]

        submits, shown, before, after = env.run_with(work, script=SCRIPT + text_script("Again."))
        assert submits
        assert shown == "Put back 2 paths.\nThe conversation is where it was before this call."
        assert before == ["one", "I write a.txt.", "", "Wrote a.txt.", "two"]
        assert after == "Again."
        assert contents(env) == {"a.txt": "1"}

        async def look(runner: InteractiveRunner) -> list[str]:
            return runner.texts

        texts_then = env.run_with(look, resume="latest")
        assert texts_then[:4] == before[:4]
        assert texts_then[4].startswith("two")
        assert texts_then[5:] == ["Again."]

    def test_the_person_goes_on(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
            await asked(runner)
            newest, _, _ = await ids(runner)
            return (await runner.run_command(f"/restore {newest}", choices=[1]))[0], runner.texts[-1:]

        assert env.run_with(work, script=SCRIPT) == (NoAction(), ["three"])

    def test_the_call_and_the_files_are_shown_before(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> list[str]:
            await asked(runner)
            newest, _, _ = await ids(runner)
            person = FakePrompter()
            await runner.interactive.commands.run(f"/restore {newest}", person)
            (choice,) = person.asked
            assert isinstance(choice, Choice)
            assert choice.report is not None
            person.show(choice.report)
            return person.output.splitlines()

        lines = env.run_with(work, script=SCRIPT)
        assert lines[0] == NOTHING
        assert lines[-4:] == [
            "The model had asked for:",
            "[model]",
            "I write b.txt.",
            f'called write_file {{"file_path": "{env.project}/b.txt", "content": "3"}}',
        ]
        assert contents(env) == {"a.txt": "2", "b.txt": "3"}

    def test_what_cannot_be_put_back_leaves_the_conversation(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[str, int]:
            await asked(runner)
            newest, _, _ = await ids(runner)
            (env.project / "b.txt").write_text("mine")
            before = len(runner.messages)
            shown = await runner.command_output(f"/restore {newest}", choices=[0])
            return shown.splitlines()[-1], len(runner.messages) - before

        assert env.run_with(work, script=SCRIPT) == ("The conversation stays as it is.", 0)

    def test_those_that_there_are(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> tuple[list[str], list[str], list[str]]:
            await asked(runner)
            lines = (await runner.command_output("/restore")).splitlines()
            await runner.run_command("/undo", choices=[1])
            suggested = texts(await runner.interactive.commands.suggestions("/restore "))
            return lines, suggested, await ids(runner)

        lines, suggested, known = env.run_with(work, script=SCRIPT)
        assert lines[:2] == ["Calls that can be gone back to", "Id  When  Tool  About  Changes"]
        assert lines[2].endswith(f"  write_file  {env.project}/b.txt  1 created")
        assert lines[3].endswith(f"  write_file  {env.project}/a.txt  1 changed")
        assert len(lines) == 5
        assert suggested == known

    @pytest.mark.parametrize(
        ("line", "told"),
        [("/restore", "No restorable tool calls found."), ("/restore nobody", "File not found: nobody.json")],
    )
    def test_where_there_is_none(self, env: InteractiveEnv, line: str, told: str) -> None:
        async def work(runner: InteractiveRunner) -> str:
            return await runner.command_output(line)

        assert env.run_with(work) == told
