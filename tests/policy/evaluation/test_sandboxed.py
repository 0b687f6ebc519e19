"""Which commands run without asking because the sandbox encloses them, and which ones never do."""

from pathlib import Path
from typing import Any

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.paths import PathLookup
from tejat.policy.rules.tool_lists import ToolLists, rules_from_settings
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import (
    CallFacts,
    Decision,
    Enclosure,
    PolicyRule,
    PolicyVerdict,
    SandboxedCommands,
    Tier,
)

ROOT = "/w/project"
SHELL = "run_shell_command"
ON = SandboxedCommands("settings.json:3 (tools.shell.autoAllowSandboxed)")
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
DEFAULT, AUTO_EDIT, YOLO, PLAN = ApprovalMode


def lines(name: str) -> list[str]:
    text = (Path(__file__).parent.parent / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("##")]


def shell(text: str, enclosure: Enclosure = Enclosure.EVERYTHING, **fields: Any) -> CallFacts:
    facts = CallFacts(
        SHELL,
        Kind.EXECUTE,
        {"command": text},
        (ROOT,),
        "/home/me",
        line=parse_command_line(text),
        directory=ROOT,
        enclosure=lambda: enclosure,
    )
    return replace(facts, **fields)


def decide(
    facts: CallFacts, *rules: PolicyRule, mode: ApprovalMode = DEFAULT, setting: SandboxedCommands = ON
) -> PolicyVerdict:
    return PolicyEngine(rules, mode, sandboxed=setting).decide(facts)


def test_lines_that_still_ask() -> None:
    asking = lines("sandboxed_asks.txt")
    assert len(asking) >= 150
    for mode in (DEFAULT, AUTO_EDIT):
        assert [line for line in asking if decide(shell(line), mode=mode).decision is ALLOW] == []


def test_lines_that_run() -> None:
    passing = lines("sandboxed_passes.txt")
    assert len(passing) >= 70
    assert [line for line in passing if decide(shell(line)).decision is not ALLOW] == []
    assert [line for line in passing if decide(shell(line), setting=SandboxedCommands()).decision is not ASK] == []


def test_the_setting_is_named_as_the_reason() -> None:
    verdict = decide(shell("pytest -q"))
    assert verdict.reason == "It runs in the sandbox, and tools.shell.autoAllowSandboxed allows such commands."
    assert verdict.source == ON.source


@pytest.mark.parametrize(
    ("text", "enclosure", "decision"),
    [
        ("ls", Enclosure.FILES_AND_NETWORK, ALLOW),
        ("pytest", Enclosure.FILES_AND_NETWORK, ASK),
        ("ls && pytest", Enclosure.FILES_AND_NETWORK, ASK),
        ("ls", Enclosure.NONE, ASK),
        ("pytest", Enclosure.NONE, ASK),
    ],
)
def test_code_of_the_project_needs_more_of_the_sandbox(text: str, enclosure: Enclosure, decision: Decision) -> None:
    assert decide(shell(text, enclosure)).decision is decision


def test_the_sandbox_is_not_asked_for_other_commands() -> None:
    def never() -> Enclosure:
        raise AssertionError

    for text in ("curl x", "rm x", "pytest -p x", "pytest > x"):
        verdict = decide(replace(shell(text), enclosure=never))
        assert (verdict.decision, "could not judge" in verdict.reason) == (ASK, False)


def test_what_asks_for_more_is_asked() -> None:
    assert decide(shell("pytest", wants_network=True)).decision is ASK
    assert decide(shell("pytest", arguments={"command": "pytest", "is_background": True})).decision is ASK
    assert decide(shell("pytest", server="theirs")).decision is ASK


@pytest.mark.parametrize(
    "rule",
    [
        PolicyRule(ASK, Tier.USER, "r", SHELL),
        PolicyRule(ASK, Tier.WORKSPACE, "r", SHELL, command=("pytest",)),
        PolicyRule(ASK, Tier.ADMIN, "r", "*", spares_reading=True),
        *rules_from_settings(ToolLists(confirmed=(SHELL,)), tier=Tier.USER, source="s"),
    ],
)
def test_rules_that_ask_win(rule: PolicyRule) -> None:
    assert decide(shell("pytest -q"), rule).decision is ASK


def test_rules_that_deny_win() -> None:
    rule = PolicyRule(DENY, Tier.USER, "r", SHELL, command=("pytest",))
    for text in ("pytest", "uv run pytest", "ls; pytest", ".venv/bin/pytest"):
        assert decide(shell(text), rule).decision is DENY


def test_a_rule_that_cannot_be_checked_asks() -> None:
    rule = PolicyRule(DENY, Tier.USER, "r", SHELL, command=("rm",))
    assert decide(shell("git frob"), rule).decision is ASK
    assert decide(shell("pytest -q"), rule).decision is ALLOW


def test_a_rule_covers_one_part_and_the_setting_the_other() -> None:
    rule = PolicyRule(ALLOW, Tier.USER, "r", SHELL, command=("deploy",))
    assert decide(shell("pytest -q && deploy"), rule).decision is ALLOW
    assert decide(shell("pytest -q && other"), rule).decision is ASK


def test_plan_mode_still_asks() -> None:
    assert decide(shell("ls"), mode=PLAN).decision is ASK
    assert decide(shell("pytest"), mode=PLAN).decision is DENY
    assert decide(shell("curl x"), mode=YOLO).decision is ALLOW


class _Secrets(PathLookup):
    def holds_secrets(self, directory: str) -> bool:
        return True

    def links_outside(self, directory: str, roots: object) -> bool:
        return directory.endswith("/linked")


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("grep -rn x .", ASK),
        ("grep -Rn x", ASK),
        ("grep --recursive x src", ASK),
        ("rg --hidden x", ASK),
        ("rg -uu x", ASK),
        ("rg -g .env x", ASK),
        ("rg --glob='*env*' x", ASK),
        ("rg -ig '*.key' x", ASK),
        ("rg -g '*' x", ASK),
        ("rg -g '*.py' x", ALLOW),
        ("rg -g '!*.lock' x", ALLOW),
        ("git grep --no-index x", ASK),
        ("git grep x", ALLOW),
        ("diff -r a b", ASK),
        ("diff a b", ALLOW),
        ("rg x", ALLOW),
        ("grep x a.txt", ALLOW),
        ("grep -R x linked", ASK),
    ],
)
def test_searches_that_would_show_secrets_ask(text: str, decision: Decision) -> None:
    assert decide(shell(text, lookup=_Secrets())).decision is decision


def test_tools_installed_in_the_project_may_run_in_the_sandbox() -> None:
    programs = {"pytest": f"{ROOT}/.venv/bin/pytest", "ruff": f"{ROOT}/.venv/bin/ruff"}
    assert decide(shell("ruff check . && pytest", programs=programs)).decision is ALLOW


class TestOffer:
    def offers(self, facts: CallFacts, *rules: PolicyRule, mode: ApprovalMode = DEFAULT) -> bool:
        return PolicyEngine(rules, mode, sandboxed=SandboxedCommands(can_offer=True)).can_offer_sandboxed(facts)

    def test_where_only_the_setting_is_missing(self) -> None:
        assert self.offers(shell("pytest -q"))
        assert self.offers(shell("ls"), mode=AUTO_EDIT)

    @pytest.mark.parametrize("text", ["rm x", "curl x", "cat .env", "pytest > x", "touch x"])
    def test_not_for_other_commands(self, text: str) -> None:
        assert not self.offers(shell(text))

    def test_not_where_it_would_not_help(self) -> None:
        assert not self.offers(shell("pytest", Enclosure.NONE))
        assert not self.offers(shell("pytest"), PolicyRule(ASK, Tier.USER, "r", SHELL))
        assert not self.offers(shell("ls"), mode=PLAN)
        assert not PolicyEngine((), DEFAULT).can_offer_sandboxed(shell("ls"))
        assert not PolicyEngine((), DEFAULT, sandboxed=ON).can_offer_sandboxed(shell("ls"))
