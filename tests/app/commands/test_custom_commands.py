"""`/commands`."""

from pathlib import Path

from support.command_runner import CommandEnv, CommandRunner
from tejat.core.ui.commands import SubmitPromptAction


def write_command(folder: Path, name: str, text: str = 'prompt = "Do it."\ndescription = "Does it"') -> Path:
    path = folder / ".gemini" / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_list_with_files(env: CommandEnv) -> None:
    write_command(env.home, "mine")
    path = write_command(env.project, "git/fix")
    assert (
        env.output_of("/commands")
        == env.output_of("/commands list")
        == (
            f"Custom commands\nCommand  Description  File\n/git:fix  Does it  {path}\n"
            "/mine  Does it  ~/.gemini/commands/mine.toml"
        )
    )


def test_none(env: CommandEnv) -> None:
    assert env.output_of("/commands").splitlines()[1] == (
        "No custom commands. Put a file such as review.toml into ~/.gemini/commands or .gemini/commands."
    )


def test_reload_finds_new_and_changed_ones(env: CommandEnv) -> None:
    write_command(env.home, "mine")

    async def work(runner: CommandRunner) -> tuple[list[str], list[str], str]:
        await runner.run("/commands")
        write_command(env.home, "other")
        before = [summary.name for summary in runner.registry.summaries() if summary.source]
        shown = await runner.output_of("/commands reload")
        after = [summary.name for summary in runner.registry.summaries() if summary.source]
        assert await runner.run("/other") == SubmitPromptAction("/other", "/other")
        await runner.prompt("/other")
        last = runner.parts.conversation.history.messages[-2]
        assert last.text == "Do it."
        return before, after, shown

    assert env.run_with(work) == (["mine"], ["mine", "other"], "Reloaded 2 custom commands.")


def test_files_that_cannot_be_used(env: CommandEnv) -> None:
    path = write_command(env.home, "help")
    broken = write_command(env.home, "broken", "prompt = 1")
    shown = env.output_of("/commands reload").splitlines()
    assert shown[0] == "Reloaded 1 custom command."
    assert shown[1] == f"{path} is not used: /help is a built-in command. Rename the file."
    assert str(broken) in shown[2]


def test_a_folder_that_is_not_trusted(env: CommandEnv) -> None:
    write_command(env.project, "theirs")
    shown = env.output_of("/commands", trusts_folder=False)
    assert "1 project command is not used: " in shown
    assert shown.endswith("Use /permissions trust to decide.")


def test_another_word(env: CommandEnv) -> None:
    assert env.output_of("/commands drop") == "Usage: /commands [list | reload]"
