"""`/about`."""

from pathlib import Path

from support.command_runner import HELLO, CommandEnv, CommandRunner

ROOT = Path(__file__).parents[3]


def test_about(env: CommandEnv) -> None:
    env.environment["GEMINI_API_KEY"] = "a-key-of-a-test"
    env.write_user_settings(model={"name": "a-model-that-is-not-asked"})

    async def work(runner: CommandRunner) -> tuple[list[str], list[str]]:
        return runner.about_facts(), (await runner.output_of("/about")).splitlines()

    known, lines = env.run_with(work)
    assert lines[:9] == ["About Tejat", *(fact.format("  ") for fact in known), "Configuration"]
    assert lines[9:11] == [f"model: name  {env.script(HELLO)} (current)", "model: key  none needed"]
    assert f"files: settings  {env.home / '.gemini' / 'settings.json'}" in lines
    assert "a-key-of-a-test" not in "\n".join(lines)


def test_about_the_set_up(env: CommandEnv) -> None:
    env.write_user_settings(general={"vimMode": True, "vimmode": True}, ui={"hideContextSummary": True})
    lines = env.output_of("/about setup").splitlines()
    assert lines[0] == "Your Gemini CLI setup in Tejat"
    assert "general.vimMode  true  ~/.gemini/settings.json:1" in lines
    assert "ui.hideContextSummary  No context summary is shown.  ~/.gemini/settings.json:1" in lines
    assert "general.vimmode  did you mean general.vimMode?  ~/.gemini/settings.json:1" in lines


def test_about_nothing_else(env: CommandEnv) -> None:
    assert "Usage: /about [setup]" in env.output_of("/about nonsense")
