"""Options of permission requests: our own choices, each with the rule it would add."""

from typing import cast

import pytest

from support.acp_updates import Json
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    ExecConfirmation,
    ModelChangeConfirmation,
    Outcome,
    PlanConfirmation,
    Risk,
    Scope,
    TrialConfirmation,
)
from tejat.core.frozen import replace
from tejat.ui.acp.permissions.options import cut_rules, offered_choices, options_to_json, permission_options

SHELL = ApprovalRequest(
    ExecConfirmation("T", "npm test", "/w", ("npm",)),
    "run_shell_command",
    always="allow run_shell_command(npm test)",
    scopes=(Scope.SESSION, Scope.PROJECT, Scope.USER),
)
PLAN = ApprovalRequest(PlanConfirmation("T", "/p/plan.md", "# Plan"), "exit_plan_mode")


def shown(request: ApprovalRequest, *, has_forms: bool = False) -> list[tuple[str, str, str]]:
    options = permission_options(offered_choices(request, has_forms=has_forms), "t")
    listed = cast("list[Json]", options_to_json(options))
    return [(each["optionId"], each["name"], each["kind"]) for each in listed]


def test_a_command() -> None:
    assert shown(SHELL) == [
        ("t:yes", "Allow once", "allow_once"),
        ("t:session", "Allow for this session: allow run_shell_command(npm test)", "allow_always"),
        ("t:project", "Always allow in this project: allow run_shell_command(npm test)", "allow_always"),
        ("t:user", "Always allow everywhere: allow run_shell_command(npm test)", "allow_always"),
        ("t:no", "No, continue", "reject_once"),
        ("t:stop", "No, and stop", "reject_once"),
    ]


def test_a_message_needs_forms_and_an_editor_is_never_offered() -> None:
    edit = ApprovalRequest(EditConfirmation("T", "a", "/w/a", "+x", None, "x"), "write_file", can_modify=True)
    assert [each[0] for each in shown(edit)] == ["t:yes", "t:no", "t:stop"]
    assert [each[0] for each in shown(edit, has_forms=True)] == ["t:yes", "t:no", "t:tell", "t:stop"]


def test_risky_calls_offer_no_first() -> None:
    assert shown(replace(SHELL, risks=(Risk.DELETES,)))[0] == ("t:no", "No, continue", "reject_once")


def test_every_yes_that_lasts_is_an_always() -> None:
    request = replace(SHELL, can_allow_sandboxed=True, can_try=True, agent="a#1", scopes=tuple(Scope))
    kinds = {option: kind for option, _, kind in shown(request)}
    assert kinds == {
        "t:yes": "allow_once",
        "t:run": "allow_always",
        "t:session": "allow_always",
        "t:project": "allow_always",
        "t:user": "allow_always",
        "t:sandboxed": "allow_always",
        "t:copy": "allow_once",
        "t:no": "reject_once",
        "t:agent": "reject_once",
        "t:stop": "reject_once",
    }


def test_a_trial() -> None:
    trial = TrialConfirmation("T", "make", "/w", (), "", "", 0)
    assert [each[::2] for each in shown(ApprovalRequest(trial, "run_shell_command"))] == [
        ("t:yes", "allow_once"),
        ("t:real", "allow_once"),
        ("t:no", "reject_once"),
        ("t:stop", "reject_once"),
    ]


def test_another_model() -> None:
    change = ModelChangeConfirmation("T", "a", "b", "Busy.")
    assert shown(ApprovalRequest(change, "")) == [
        ("t:yes", "Switch to b for this session", "allow_once"),
        ("t:retry", "Retry a", "allow_once"),
        ("t:stop", "Stop", "reject_once"),
    ]


@pytest.mark.parametrize(
    ("has_forms", "no"),
    [(False, ("t:no", "No, continue", "reject_once")), (True, ("t:no", "No, and say what to change", "reject_once"))],
)
def test_a_plan(has_forms: bool, no: tuple[str, str, str]) -> None:
    assert shown(PLAN, has_forms=has_forms) == [
        ("t:auto", "Yes, and apply edits without asking", "allow_always"),
        ("t:yes", "Yes, and ask before each change", "allow_once"),
        no,
        ("t:stop", "No, and stop", "reject_once"),
    ]


def test_the_plain_no_to_a_plan_lets_the_turn_continue() -> None:
    choices = {choice.keyword: choice for choice in offered_choices(PLAN, has_forms=False)}
    assert choices["no"].outcome == ApprovalReply(Outcome.CANCEL)


def test_a_rule_that_is_too_long_for_a_name_is_cut_and_listed_apart() -> None:
    rule = "allow " + "x" * 300
    choices = offered_choices(replace(SHELL, always=rule), has_forms=False)
    listed = cast("list[Json]", options_to_json(permission_options(choices, "t")))
    assert listed[1]["name"] == f"Allow for this session: {rule[:200]}..."
    assert cut_rules(choices) == [rule]
    assert cut_rules(offered_choices(SHELL, has_forms=False)) == []
