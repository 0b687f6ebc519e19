"""`/plan`."""

from support.command_runner import CommandEnv, CommandRunner
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import Plan
from tejat.core.ui.commands import SubmitPromptAction
from tejat.engine.plans.approved import remember_plan

HINT = "Ask for a plan, or type /plan GOAL. Shift-Tab to leave plan mode."
NONE = "No plan in this session yet. Type /plan GOAL to begin one."


def write_plan(runner: CommandRunner, name: str, text: str) -> str:
    directory = runner.parts.manager.plan_mode.open()
    assert directory is not None
    path = f"{directory.path}/{name}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def test_the_mode_changes(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[str, str, str]:
        return await runner.output_of("/plan"), runner.parts.mode, await runner.output_of("/plan")

    assert env.run_with(work) == (f"Approval mode: plan\n{HINT}", "plan", HINT)


def test_a_goal_is_sent(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[object, str]:
        action = await runner.run("/plan add a parser")
        return action, runner.parts.mode

    assert env.run_with(work) == (SubmitPromptAction("add a parser", "add a parser"), "plan")


def test_without_plans(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> list[str]:
        return [await runner.output_of(f"/plan {word}") for word in ("show", "copy", "list")]

    assert env.run_with(work) == [NONE, NONE, NONE]


def test_the_plans_of_the_session(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[str, str, str, str]:
        first = write_plan(runner, "first.md", "# The first\n\nSteps.\n")
        before = await runner.output_of("/plan show")
        state = runner.parts.session.state
        remember_plan(state, Plan(first, "# The first\n\nSteps.\n"), ApprovalMode.DEFAULT)
        write_plan(runner, "second.md", "\n# The second\n")
        shown = await runner.output_of("/plan show")
        return first, before, shown, await runner.output_of("/plan list")

    first, before, shown, listed = env.run_with(work)
    assert before == shown
    assert "The first" in shown
    assert first in shown
    rows = [line.split() for line in listed.splitlines()]
    assert ["second.md", "The", "second"] in rows
    assert ["first.md", "The", "first", "approved"] in rows


def test_a_plan_whose_file_is_gone_is_shown_as_approved(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> str:
        remember_plan(runner.parts.session.state, Plan("/gone/plan.md", "# Gone\n"), ApprovalMode.DEFAULT)
        return await runner.output_of("/plan show")

    assert "Gone" in env.run_with(work)


def test_plan_mode_that_is_disabled(env: CommandEnv) -> None:
    env.write_user_settings(general={"plan": {"enabled": False}})
    assert env.output_of("/plan").startswith("Plan mode is disabled by ")
