"""Errors of calls that may not run name what would allow them."""

from typing import Any

import pytest

from support.note_tool import NoteTool, edit_confirmation
from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.engine.calls.approval.refusals import RejectedByUser, denied_error, non_interactive_error
from tejat.policy.engine import PolicyEngine
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, Enclosure, PolicyRule, SandboxedCommands, Tier

SHELL = "run_shell_command"
ROOT = "/w"
TOLD = 'Tool execution for "Note" requires user confirmation, which is not supported in non-interactive mode.'


def shell(text: str, **fields: Any) -> CallFacts:
    return CallFacts(
        SHELL, Kind.EXECUTE, {"command": text}, (ROOT,), "/h", line=parse_command_line(text), directory=ROOT, **fields
    )


def advice(
    facts: CallFacts, *rules: PolicyRule, sandboxed: SandboxedCommands | None = None, names_arguments: bool = False
) -> str:
    policy = PolicyEngine(rules, ApprovalMode.DEFAULT, sandboxed=sandboxed or SandboxedCommands())
    verdict = policy.decide(facts)
    error = non_interactive_error(NoteTool(), facts, verdict, policy, "", names_arguments=names_arguments)
    assert (error.message, error.error_type) == (TOLD, ErrorType.POLICY_VIOLATION)
    return str(error.display).removeprefix(TOLD).strip()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            shell("pytest -q"),
            "No rule allows this (pytest -q). Use --allowed-tools 'run_shell_command(pytest)' or --approval-mode yolo.",
        ),
        (
            shell("ls && wc a"),
            (
                "No rule allows this (ls). Use "
                "--allowed-tools 'run_shell_command(ls),run_shell_command(wc)' or --approval-mode yolo."
            ),
        ),
        (shell("rm x"), "No rule allows this (rm x). Use --approval-mode yolo."),
        (
            CallFacts("write_file", Kind.EDIT, {}, (ROOT,), "/h", paths=("/w/a",)),
            "No rule allows this. Use --allowed-tools write_file or --approval-mode auto_edit.",
        ),
        (
            CallFacts("search", Kind.OTHER, {}, (ROOT,), "/h", server="github"),
            "No rule allows this. Use --allowed-tools github__search or --approval-mode yolo.",
        ),
        (
            CallFacts("write_file", Kind.EDIT, {}, (ROOT,), "/h", paths=("/w/.git/config",)),
            (
                "/w/.git/config is a control file: version control runs or trusts its contents. "
                "Only a user at a terminal can allow this call."
            ),
        ),
        (
            shell("ls", wants_network=True),
            (
                "No rule allows this (ls). "
                "Use the rule `allow run_shell_command: ls, with network access` or --approval-mode yolo."
            ),
        ),
    ],
)
def test_what_would_allow_it(facts: CallFacts, words: str) -> None:
    assert advice(facts) == words


def test_the_setting_for_sandboxed_commands() -> None:
    facts = shell("ls", enclosure=lambda: Enclosure.EVERYTHING)
    words = advice(facts, sandboxed=SandboxedCommands(can_offer=True))
    assert words.endswith(" or --approval-mode yolo or the setting tools.shell.autoAllowSandboxed: true.")


def test_a_rule_that_asks_is_named() -> None:
    rule = PolicyRule(Decision.ASK, Tier.USER, "mine.toml:3", SHELL)
    words = "The rule `ask run_shell_command` asks about it (ls). (mine.toml:3)"
    assert advice(shell("ls"), rule) == f"{words} Only a user at a terminal can allow this call."


def test_an_objection_is_the_whole_reason() -> None:
    facts, policy = shell("ls"), PolicyEngine((), ApprovalMode.DEFAULT)
    error = non_interactive_error(NoteTool(), facts, policy.decide(facts), policy, "The hook objects.")
    assert str(error.message) == f"{TOLD} The hook objects."


def test_a_denial_names_its_rule() -> None:
    policy = PolicyEngine([PolicyRule(Decision.DENY, Tier.USER, "mine.toml:3", SHELL)], ApprovalMode.DEFAULT)
    error = denied_error(policy.decide(shell("ls")))
    text = "Tool execution denied by policy. The rule `deny run_shell_command` denies it (ls)."
    assert (error.message, str(error.display)) == (text, f"{text} (mine.toml:3)")


def test_what_the_user_said_goes_to_the_model() -> None:
    error = RejectedByUser(edit_confirmation("a"), feedback="use b", ends_turn=True)
    assert error.message == "[Operation Cancelled] Reason: User did not allow tool call. They said: use b"
    assert (error.error_type, error.ends_turn) == (ErrorType.CANCELLED, True)
    assert error.rejected_change is not None


def test_a_rejected_change_of_a_large_file_is_no_new_file() -> None:
    large = EditConfirmation("T", "a", "/w/a", "@@ -7,1 +7,1 @@\n-a\n+b\n", None, None)
    change = RejectedByUser(large).rejected_change
    assert change is not None
    assert not change.is_new_file


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("pytest -q", "an approver or allowed_tools='run_shell_command(pytest)' or mode='yolo'"),
        ("rm x", "an approver or mode='yolo'"),
    ],
)
def test_a_program_is_advised_in_its_own_words(text: str, ways: str) -> None:
    assert advice(shell(text), names_arguments=True).endswith(f"Use {ways}.")
