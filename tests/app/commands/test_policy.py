"""`/policy`."""

from pathlib import Path

import pytest

from support.approver import FakeApprover
from support.command_runner import HELLO, CommandEnv, CommandRunner
from support.prompter import FakePrompter

USAGE = "Usage: /policy [list | explain CALL | mode MODE]"


def rules(env: CommandEnv, text: str) -> Path:
    path = env.home / ".gemini" / "policies" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_rules_and_where_they_stand(env: CommandEnv) -> None:
    path = rules(env, '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
    lines = env.output_of("/policy").splitlines()
    assert lines[:4] == [
        "Rules, highest precedence first",
        "Mode: default",
        "Tier  Rule  Source",
        f"user  deny glob  {path}:1",
    ]
    assert env.output_of("/policy list").splitlines() == lines


@pytest.mark.parametrize(
    "call",
    [
        "rm -rf build",
        "run_shell_command rm -rf build",
        'run_shell_command {"command": "rm -rf build"}',
        "run_shell_command command='rm -rf build'",
    ],
)
def test_what_would_be_decided_about_a_line(env: CommandEnv, call: str) -> None:
    lines = env.output_of(f"/policy explain {call}").splitlines()
    assert lines[0] == call
    assert lines[1].startswith("ask: ")
    assert lines[2].startswith("Rule  ")
    assert lines[3].startswith("Source  ")
    assert lines[4:6] == ["Mode  default", "Commands in this line"]
    assert lines[6].startswith("  rm -rf build")


def test_what_would_be_decided_about_a_tool(env: CommandEnv) -> None:
    path = rules(env, '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
    lines = env.output_of('/policy explain glob pattern=* path=["a"]').splitlines()
    assert lines[0] == 'glob pattern=* path=["a"]'
    assert lines[1].startswith("deny: ")
    assert lines[2:] == ["Rule  deny glob", f"Source  {path}:1", "Mode  default"]
    assert env.output_of("/policy explain glob").splitlines()[1:] == lines[1:]


@pytest.mark.parametrize("call", ['glob {"pattern": ', "glob 'open", "glob pattern", "glob =x"])
def test_arguments_that_cannot_be_read(env: CommandEnv, call: str) -> None:
    shown = env.output_of(f"/policy explain {call}")
    assert shown.startswith(("Could not parse the arguments: ", "Use one JSON object"))


class TestMode:
    def test_is_told_and_changed(self, env: CommandEnv) -> None:
        assert env.output_of("/policy mode") == "Mode: default"
        assert env.output_of("/policy mode plan") == "Approval mode: plan"
        assert env.output_of("/policy mode plan", "/policy mode") == "Mode: plan (chosen in this session)"

    def test_its_source_is_shown(self, env: CommandEnv) -> None:
        path = env.write_user_settings(general={"defaultApprovalMode": "plan"})
        assert env.output_of("/policy mode") == f"Mode: plan ({path}:1)"
        assert env.output_of("/policy list").splitlines()[1] == f"Mode: plan ({path}:1)"
        assert env.output_of("/policy explain glob").splitlines()[-1] == f"Mode  plan ({path}:1)"

    def test_counts_for_calls(self, env: CommandEnv) -> None:
        script = '[[answer]]\n[[answer.call]]\nname = "write_file"\nargs = { file_path = "a", content = "x" }\n' + HELLO
        approver = FakeApprover()

        async def work(runner: CommandRunner) -> None:
            await runner.run("/policy mode auto_edit")
            await runner.prompt("go")

        env.run_with(work, script=script, approver=approver)
        assert approver.questions == []
        assert (env.project / "a").read_text() == "x"

    @pytest.mark.parametrize(
        ("taken", "after"), [(0, "default"), (None, "default"), (1, "yolo (chosen in this session)")]
    )
    def test_everything_is_asked_about_first(self, env: CommandEnv, taken: int | None, after: str) -> None:
        person = FakePrompter(choices=[taken])
        assert env.output_of("/policy mode yolo", "/policy mode", prompter=person) == f"Mode: {after}"

    def test_that_is_switched_off(self, env: CommandEnv) -> None:
        path = env.write_user_settings(security={"disableYoloMode": True})
        told = f"YOLO mode is disabled by {path}:1."
        assert env.output_of("/policy mode yolo", prompter=FakePrompter(choices=[1])) == told

    def test_that_there_is_not(self, env: CommandEnv) -> None:
        told = "The mode must be one of default, auto_edit, yolo, plan, not 'bold'."
        assert env.output_of("/policy mode bold") == told

    def test_stays_in_a_folder_that_is_not_trusted(self, env: CommandEnv) -> None:
        (env.project / "GEMINI.md").write_text("Be brief.")
        told = "Auto-edit and YOLO need a trusted folder: /permissions trust."
        assert env.output_of("/policy mode auto_edit", trusts_folder=False) == told
        for mode in ("default", "plan"):
            told = f"Approval mode: {mode}"
            assert env.output_of(f"/policy mode {mode}", trusts_folder=False) == told


@pytest.mark.parametrize("line", ["/policy explain", "/policy drop", "/policy list all"])
def test_any_other_words(env: CommandEnv, line: str) -> None:
    assert env.output_of(line) == USAGE
