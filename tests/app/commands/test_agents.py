"""`/agents`."""

import json
from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter


def put(directory: Path, name: str, more: str = "") -> Path:
    path = directory / ".gemini" / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\nWork hard.\n")
    return path


def test_all_of_them(env: CommandEnv) -> None:
    put(env.home, "mine", "tools: [read_file]\nmax_turns: 3\n")
    broken = put(env.home, "broken", "max_turns: 0\n")
    lines = env.output_of("/agents").splitlines()
    assert lines[:2] == ["Sub-agents", "Name  From  State  Model  Tools  Limits  Tokens"]
    assert any(line.startswith("codebase_investigator  built-in  available") for line in lines)
    mine = next(line for line in lines if line.startswith("mine"))
    assert mine.startswith("mine  user  available  inherit  1 (0 change things)  3 turns, 10 min  ")
    assert lines[-1] == f"Skipped the agent in {broken}: max_turns must be an integer from 1 to 200."
    assert env.output_of("/agent list").splitlines() == lines


def test_one_definition(env: CommandEnv) -> None:
    path = put(env.home, "mine")
    shown = env.output_of("/agents show mine")
    assert shown.startswith("user:mine\nDoes mine.\n")
    assert str(path) in shown
    assert shown.endswith("Work hard.")
    assert env.output_of("/agents show user:mine") == shown


@pytest.mark.parametrize("action", ["show", "enable", "disable", "config"])
def test_one_that_there_is_not(env: CommandEnv, action: str) -> None:
    assert env.output_of(f"/agents {action} nobody") == "Agent 'nobody' not found."


def test_switching_off_and_on(env: CommandEnv) -> None:
    assert env.output_of("/agents enable generalist") == "Agent 'generalist' is already enabled."
    assert env.output_of("/agents disable generalist") == f"Agent 'generalist' disabled.\nSaved in {env.own_file}."
    assert json.loads(env.own_file.read_text()) == {"agents": {"overrides": {"generalist": {"enabled": False}}}}
    assert env.output_of("/agents disable generalist") == "Agent 'generalist' is already disabled."
    assert env.output_of("/agents enable generalist").startswith("Agent 'generalist' enabled.\n")


def test_a_switch_counts_in_the_next_request(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[list[bool], list[object]]:
        offered, enums = list[bool](), list[object]()
        for line in ("/agents", "/agents disable generalist", "/agents enable generalist"):
            await runner.run(line)
            template = runner.parts.conversation.template
            offered.append("<name>generalist</name>" in template.system)
            invoke = next(each for each in template.declarations() if each.name == "invoke_agent")
            enums.append("generalist" in json.dumps(invoke.to_json()))
        return offered, enums

    assert env.run_with(work) == ([True, False, True], [True, False, True])


def test_an_agent_that_is_kept_off(env: CommandEnv) -> None:
    env.write_user_settings(tools={"exclude": ["generalist"]})
    assert env.output_of("/agents enable generalist") == (
        "Agent 'generalist' is still disabled: it is excluded like a tool."
    )


def test_configuring(env: CommandEnv) -> None:
    prompter = FakePrompter(choices=[2], entries=["7"])
    assert env.output_of("/agents config generalist", prompter=prompter) == f"Saved in {env.own_file}."
    assert json.loads(env.own_file.read_text()) == {
        "agents": {"overrides": {"generalist": {"runConfig": {"maxTurns": 7}}}}
    }
    assert "7 turns, 10 min" in env.output_of("/agents")


def test_a_wrong_value_is_told(env: CommandEnv) -> None:
    prompter = FakePrompter(choices=[2], entries=["7000"])
    shown = env.output_of("/agents config generalist", prompter=prompter)
    assert shown.endswith("agents.overrides.generalist.runConfig.maxTurns must be a number from 1 to 200.")
    assert "20 turns" in env.output_of("/agents")
    prompter = FakePrompter(choices=[2], entries=["many"])
    assert env.output_of("/agents config generalist", prompter=prompter) == "Turns at most must be a number."


def test_reloading(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> str:
        await runner.run("/agents")
        put(env.home, "late")
        return await runner.output_of("/agents reload")

    count = 3
    assert env.run_with(work) == f"Agents reloaded: {count + 1} in all, 1 added, 0 removed."


def test_nothing_to_stop(env: CommandEnv) -> None:
    assert env.output_of("/agents stop x#1") == "No agent x#1 is running. Running: none."


def test_wrong_words(env: CommandEnv) -> None:
    assert env.output_of("/agents stop").startswith("Usage: /agents [list | show NAME|ID")


def test_completion(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> list[list[str]]:
        typed = ("/agents en", "/agents show code", "/agents stop ", "/agents reload ")
        return [[item.text for item in await runner.registry.suggestions(line)] for line in typed]

    assert env.run_with(work) == [["enable"], ["codebase_investigator"], [], []]


def test_tokens_in_the_context(env: CommandEnv) -> None:
    row = next(line for line in env.output_of("/context").splitlines() if line.startswith("Sub-agents"))
    assert 150 < int(row.split("  ")[1].replace(",", "")) < 350


def test_no_statistics_yet(env: CommandEnv) -> None:
    assert env.output_of("/stats agents") == "Sub-agents\nNo sub-agents were started yet."


RUN = """
[[answer]]
[[answer.call]]
name = "invoke_agent"
args = { agent_name = "mine", prompt = "Write a note.\\nQuickly." }

[[answer]]
purpose = "agent:mine"
usage = { prompt = 900, output = 40 }
[[answer.call]]
name = "write_file"
args = { file_path = "${root}/note.txt", content = "hello\\n" }

[[answer]]
purpose = "agent:mine"
[[answer.call]]
name = "complete_task"
args = { result = "Written." }

[[answer]]
say = "Done."
"""


def test_a_run_can_be_read_reviewed_and_counted(env: CommandEnv) -> None:
    put(env.home, "mine")

    async def work(runner: CommandRunner) -> list[str]:
        await runner.prompt("go")
        lines = ("/agents show mine#1", "/agents review mine#1", "/stats agents", "/agents review mine#2")
        return [await runner.output_of(line) for line in lines]

    shown, review, stats, nothing = env.run_with(work, script=RUN, mode="yolo", keeps_session=True)
    assert shown.startswith("mine#1\n")
    assert "End  GOAL" in shown
    assert "Write a note.\nQuickly." in shown
    assert "called write_file" in shown
    assert review.startswith("Changes of mine#1\nCall  Files\n")
    assert "note.txt" in review
    assert "+hello" in review
    assert "takes all of it back." in review
    assert stats.splitlines()[1] == "Agent  Runs  Turns  Calls  Tokens  Cost  Time  Ends"
    assert stats.splitlines()[2].startswith("mine  1  2  2  940  ")
    assert stats.endswith("GOAL 1")
    assert nothing == "mine#2 changed no files, or its changes were undone."
