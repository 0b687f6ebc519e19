"""`/memory`."""

from pathlib import Path

from support.approver import FakeApprover
from support.command_runner import HELLO, CommandEnv, CommandRunner
from tejat.core.approval.confirmation import ApprovalReply, EditConfirmation, Outcome

FACT = "I like tea."


def remember(folder: Path, text: str, name: str = "GEMINI.md") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


class TestShow:
    def test_all_that_the_model_is_told(self, env: CommandEnv) -> None:
        remember(env.project, "Use tabs.")
        assert env.output_of("/memory show") == (
            "Memory from 1 file:\n"
            "---\n--- Context from: GEMINI.md ---\nUse tabs.\n--- End of Context from: GEMINI.md ---\n---"
        )

    def test_nothing(self, env: CommandEnv) -> None:
        assert env.output_of("/memory show") == "Memory is currently empty."

    def test_what_the_session_has_and_not_what_was_written_since(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> str:
            remember(env.project, "Later.")
            return await runner.output_of("/memory show")

        assert env.run_with(work) == "Memory is currently empty."


class TestList:
    def test_paths(self, env: CommandEnv) -> None:
        own = remember(env.home / ".gemini", "Mine.")
        project = remember(env.project, "Use tabs.")
        assert env.output_of("/memory list") == f"2 context files in use:\n- {own}\n- {project}"

    def test_none(self, env: CommandEnv) -> None:
        assert env.output_of("/memory list") == "No context files are in use."


class TestRefresh:
    def test_the_model_is_told_from_the_next_request_on(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> tuple[str, str, str]:
            before = runner.parts.session.conversation.template.system
            remember(env.project, "Use tabs.")
            shown = await runner.output_of("/memory refresh")
            return before, shown, runner.parts.session.conversation.template.current_system()

        before, shown, after = env.run_with(work)
        text = "--- Context from: GEMINI.md ---\nUse tabs.\n--- End of Context from: GEMINI.md ---"
        assert shown == f"Memory refreshed successfully. Loaded {len(text)} characters from 1 file."
        assert text not in before
        assert after.endswith(text)
        assert after.startswith(before)

    def test_nothing(self, env: CommandEnv) -> None:
        assert env.output_of("/memory refresh") == "Memory refreshed successfully. No memory content found."

    def test_what_cannot_be_used_is_told(self, env: CommandEnv) -> None:
        remember(env.project, "Use tabs.")
        (env.project / "AGENTS.md").symlink_to("/etc/hostname")
        shown = env.output_of("/memory refresh").splitlines()
        assert shown[1:] == [f"Skipped {env.project / 'AGENTS.md'}: it points outside the project."]


class TestAdd:
    def test_own_words_are_saved_without_a_question(self, env: CommandEnv) -> None:
        approver = FakeApprover(ApprovalReply(Outcome.CANCEL))

        async def work(runner: CommandRunner) -> tuple[str, str]:
            shown = await runner.output_of(f"/memory add  {FACT} ")
            return shown, runner.parts.session.conversation.template.system

        shown, system = env.run_with(work, approver=approver)
        assert shown == f"Added to ~/.gemini/GEMINI.md: {FACT}\nThe model sees it from the next prompt on."
        assert approver.questions == []
        written = (env.home / ".gemini" / "GEMINI.md").read_text()
        assert written == f"## Gemini Added Memories\n- {FACT}\n"
        assert f"- {FACT}" in system

    def test_the_model_still_asks(self, env: CommandEnv) -> None:
        approver = FakeApprover(ApprovalReply(Outcome.CANCEL))
        script = '[[answer]]\ncall = [{ name = "save_memory", args = { fact = "Mine." } }]\n' + HELLO

        async def work(runner: CommandRunner) -> None:
            await runner.prompt("Remember that.")

        env.run_with(work, approver=approver, script=script)
        (question,) = approver.questions
        assert isinstance(question.confirmation, EditConfirmation)
        assert not (env.home / ".gemini" / "GEMINI.md").exists()

    def test_in_plan_mode_too(self, env: CommandEnv) -> None:
        assert env.output_of(f"/memory add {FACT}", mode="plan").startswith("Added to ")

    def test_hidden_characters_are_refused(self, env: CommandEnv) -> None:
        shown = env.output_of("/memory add a\u200bb")
        assert "<U+200B>" in shown
        assert not (env.home / ".gemini" / "GEMINI.md").exists()

    def test_a_file_that_cannot_be_written(self, env: CommandEnv) -> None:
        (env.home / ".gemini" / "GEMINI.md").mkdir(parents=True)
        assert env.output_of(f"/memory add {FACT}").startswith("Error saving memory: ")

    def test_it_is_no_part_of_the_conversation(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> tuple[int, int]:
            before = len(runner.parts.session.conversation.history.messages)
            await runner.run(f"/memory add {FACT}")
            return before, len(runner.parts.session.conversation.history.messages)

        before, after = env.run_with(work, script=HELLO)
        assert before == after

    def test_nothing_to_remember(self, env: CommandEnv) -> None:
        assert env.output_of("/memory add") == "Usage: /memory add <text to remember>"


def test_no_word(env: CommandEnv) -> None:
    assert env.output_of("/memory") == "Missing command\nUsage: /memory show | add TEXT | refresh | list"


def test_any_other_word(env: CommandEnv) -> None:
    assert env.output_of("/memory drop it") == "Unknown /memory command: drop. Available: show, add, refresh, list"
