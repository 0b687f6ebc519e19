"""`/permissions`."""

import pytest

from support.approver import FakeApprover
from support.command_runner import HELLO, CommandEnv, CommandRunner
from support.prompter import FakePrompter
from tejat.core.approval.confirmation import ApprovalReply, Outcome, Scope
from tejat.core.ui.prompter import Choice

TOUCH = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "touch a" }
"""
RULE = "allow run_shell_command: touch"


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.PROJECT, Scope.USER])
def test_an_answer_is_listed_with_where_it_is_kept_and_taken_back_at_once(env: CommandEnv, scope: Scope) -> None:
    approver = FakeApprover(ApprovalReply(Outcome.PROCEED_ALWAYS, scope=scope))
    name = ".config/tejat/policies/saved.toml"

    async def work(runner: CommandRunner) -> tuple[list[str], str, str, int]:
        await runner.prompt("go")
        listed = (await runner.output_of("/permissions")).splitlines()
        taken = await runner.output_of("/permissions revoke 1")
        after = await runner.output_of("/permissions list")
        await runner.prompt("go")
        return listed, taken, after, len(approver.questions)

    listed, taken, after, asked = env.run_with(work, approver=approver, script=(TOUCH + HELLO) * 2)
    _, number, (rule, kept) = listed[1], listed[3].split("  ")[0], listed[3].split("  ")[1:]
    assert listed[:3] == ["Permissions", "Saved approvals", "No.  Rule  Stored in"]
    assert number == "1"
    assert rule.startswith(RULE)
    assert kept == "your answer (session)" if scope is Scope.SESSION else kept.startswith(f"~/{name}:")
    assert taken == f"Revoked: {rule}"
    assert "None yet. Answering a question with 'always' saves one." in after
    assert asked == 2
    assert scope is Scope.SESSION or (env.home / name).exists()


def test_a_rule_of_an_earlier_session(env: CommandEnv) -> None:
    async def allow(runner: CommandRunner) -> None:
        await runner.prompt("go")

    env.run_with(
        allow, approver=FakeApprover(ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.USER)), script=TOUCH + HELLO
    )
    approver = FakeApprover()

    async def revoke(runner: CommandRunner) -> str:
        await runner.prompt("go")
        assert approver.questions == []
        shown = await runner.output_of("/permissions revoke")
        await runner.prompt("go")
        return shown

    person = FakePrompter(choices=[0])
    shown = env.run_with(revoke, prompter=person, approver=approver, script=(TOUCH + HELLO) * 2)
    assert shown.startswith(f"Revoked: {RULE}")
    assert len(approver.questions) == 1
    (choice,) = person.asked
    assert isinstance(choice, Choice)
    assert [option.label for option in choice.options] == [shown.removeprefix("Revoked: ")]


def test_nothing_to_take_back(env: CommandEnv) -> None:
    assert env.output_of("/permissions revoke") == "No saved approvals to revoke."


@pytest.mark.parametrize("word", ["0", "1", "x", "-1", "²"])
def test_no_such_number(env: CommandEnv, word: str) -> None:
    told = f"No approval {word}. /permissions list shows the numbers."
    assert env.output_of(f"/permissions revoke {word}") == told


def test_any_other_word(env: CommandEnv) -> None:
    assert env.output_of("/permissions drop") == "Usage: /permissions [list | revoke N | trust]"


class TestTrust:
    def test_is_told(self, env: CommandEnv) -> None:
        env.write_project_settings(tools={"discoveryCommand": "list-tools"})
        lines = env.output_of("/permissions", trusts_folder=False).splitlines()
        assert lines[-4:] == [
            "Folder",
            f"{env.project} is not trusted: not decided yet.",
            "Use /permissions trust to review its configuration and decide.",
            "/policy list shows all rules.",
        ]

    def test_is_not_needed_without_configuration(self, env: CommandEnv) -> None:
        lines = env.output_of("/permissions", trusts_folder=False).splitlines()
        assert lines[-3:] == [
            "Folder",
            f"{env.project} has no configuration that needs trust.",
            "/policy list shows all rules.",
        ]

    def test_a_yes_counts_for_what_was_shown(self, env: CommandEnv) -> None:
        env.write_project_settings(tools={"discoveryCommand": "list-tools"})
        person = FakePrompter(choices=[0])
        shown = env.output_of("/permissions trust", prompter=person, trusts_folder=False)
        told = f"{env.project} is trusted as it was when this session started.\nTakes effect at the next start."
        assert shown == told
        (choice,) = person.asked
        assert isinstance(choice, Choice)
        assert choice.initial == 2
        assert choice.report is not None
        assert ".gemini/settings.json" in str(choice.report)
        assert f"{env.project} is trusted: you trusted it." in env.output_of("/permissions", trusts_folder=False)

    def test_never(self, env: CommandEnv) -> None:
        shown = env.output_of("/permissions trust", prompter=FakePrompter(choices=[1]), trusts_folder=False)
        assert shown.startswith(f"{env.project} and its subfolders are never trusted.\n")
        assert f"is not trusted: you chose not to trust {env.project}." in env.output_of(
            "/permissions", trusts_folder=False
        )

    @pytest.mark.parametrize("taken", [2, None])
    def test_left_as_it_is(self, env: CommandEnv, taken: int | None) -> None:
        env.write_project_settings(tools={"discoveryCommand": "list-tools"})
        assert env.output_of("/permissions trust", prompter=FakePrompter(choices=[taken]), trusts_folder=False) == ""
        assert "not decided yet" in env.output_of("/permissions", trusts_folder=False)
