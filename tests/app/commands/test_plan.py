"""`/plan`."""

from support.command_runner import CommandEnv, CommandRunner

HINT = "Ask for a plan. To carry it out, press Shift-Tab or type /policy mode default."


def test_the_mode_changes(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[str, str, str]:
        return await runner.output_of("/plan"), runner.parts.mode, await runner.output_of("/plan")

    assert env.run_with(work) == (f"Approval mode: plan\n{HINT}", "plan", HINT)


def test_arguments_are_refused(env: CommandEnv) -> None:
    assert env.output_of("/plan copy") == "Usage: /plan"
