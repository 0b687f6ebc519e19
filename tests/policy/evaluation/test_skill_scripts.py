"""Rules about scripts of skills. What real files change is tested with the skills themselves."""

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.skill_scripts import (
    find_script_gap,
    find_started_script,
    is_script_interpreter,
    names_script,
)
from tejat.policy.paths import PathLookup
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, ScriptState, SkillScript, Tier

ROOT, HOME = "/w/project", "/home/me"
SKILL = f"{HOME}/.agents/skills/pdf"
RUN = f"{SKILL}/scripts/run.sh"


class Links(PathLookup):
    """One link in the workspace leads to the script, another one out."""

    def real_path(self, path: str) -> str:
        known = {f"{ROOT}/link.sh": RUN, f"{ROOT}/out": "/etc"}
        plain = super().real_path(path)
        return known.get(plain, plain)


def script(doubt: str | None = None, name: str = "user:pdf") -> SkillScript:
    return SkillScript("pdf", name, RUN, (SKILL,), ScriptState.UNCHANGED, lambda _interpreter: doubt)


def facts(text: str, *scripts: SkillScript) -> CallFacts:
    return CallFacts(
        "run_shell_command",
        Kind.EXECUTE,
        {"command": text},
        (ROOT,),
        HOME,
        line=parse_command_line(text),
        directory=ROOT,
        lookup=Links(),
        skill_scripts=scripts or (script(),),
    )


def call(text: str, *scripts: SkillScript) -> ShellCall:
    known = facts(text, *scripts)
    assert known.line is not None
    return ShellCall(known, known.line)


def rule(decision: Decision = Decision.ALLOW, skill: str = "pdf") -> PolicyRule:
    return PolicyRule(decision, Tier.USER, "mine", "run_shell_command", skill=skill)


def gaps(text: str, *scripts: SkillScript) -> list[str | None]:
    given = call(text, *scripts)
    return [find_script_gap(rule(), command, given) for command in given.line.commands]


@pytest.mark.parametrize(
    "text", [RUN, f"{RUN} a b", f"bash {RUN} a", f"sh {RUN}", f"python3.11 {RUN}", f"{RUN} {SKILL}/x"]
)
def test_covered(text: str) -> None:
    assert set(gaps(text)) == {None}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"env {RUN}", "it does not start with a script of the skill, or with an interpreter and the script"),
        (f"timeout 5 bash {RUN}", "it runs through timeout"),
        (f"bash -x {RUN}", "it does not start with a script"),
        ("./link.sh", "./link.sh is a link to a script of the skill"),
        ("./other.sh", "./other.sh may be something else than a script of the skill"),
        (f"{RUN}; rm x", "rm in the same line may change the script"),
        (f"{RUN} 'a;b'", "the argument 'a;b' contains a character that is special in a shell"),
        (f"{RUN} /etc/x", "/etc/x may be outside the workspace"),
        (f"{RUN} out/x", None),
        (f"{RUN} out", "out may be outside the workspace"),
        (f"{RUN} .ssh/config", ".ssh/config usually contains secrets"),
        (f"{RUN} .git/config", ".git/config is a control file"),
    ],
)
def test_gaps(text: str, why: str | None) -> None:
    found = gaps(text)
    assert found[0] is None if why is None else any(gap and why in gap for gap in found)


def test_the_doubt_about_the_script_comes_last() -> None:
    assert gaps(RUN, script("it changed")) == ["it changed"]
    assert gaps(f"{RUN} /etc/x", script("it changed")) == ["/etc/x may be outside the workspace"]


def test_the_doubt_gets_the_interpreter() -> None:
    asked: list[str] = []

    def note(interpreter: str) -> str | None:
        asked.append(interpreter)
        return None

    noting = SkillScript("pdf", "user:pdf", RUN, (SKILL,), ScriptState.UNCHANGED, note)
    gaps(RUN, noting)
    gaps(f"python3 {RUN}", noting)
    assert asked == ["", "python3"]


@pytest.mark.parametrize("text", [RUN, f"bash {RUN}", "./link.sh", f"cd x; {RUN}"])
def test_started_scripts(text: str) -> None:
    given = call(text)
    assert any(find_started_script(command, given) for command in given.line.commands)


@pytest.mark.parametrize("text", [f"cat {RUN}", f"python3 x.py {RUN}", "./other.sh", f"env {RUN}"])
def test_other_commands_start_none(text: str) -> None:
    given = call(text)
    assert find_started_script(given.line.commands[0], given) is None


@pytest.mark.parametrize("decision", [Decision.ASK, Decision.DENY])
@pytest.mark.parametrize(
    "text", [RUN, f"bash -x {RUN}", f"env A=1 {RUN} x", "./link.sh", f"bash < {RUN}", f"python3 a.py {RUN}"]
)
def test_stricter_rules_see_more(decision: Decision, text: str) -> None:
    given = call(text)
    assert any(names_script(rule(decision), command, given) for command in given.line.commands)
    assert PolicyEngine([rule(decision)], ApprovalMode.YOLO).decide(facts(text)).decision is decision


def test_a_stricter_rule_is_named_with_its_command() -> None:
    verdict = PolicyEngine([rule(Decision.DENY)], ApprovalMode.DEFAULT).decide(facts(f"git log; bash {RUN}"))
    expected = f"The rule `deny run_shell_command: scripts of the skill pdf` denies it (bash {RUN})."
    assert verdict.reason == expected


def test_rules_about_other_skills_do_not_count() -> None:
    assert PolicyEngine([rule(Decision.DENY, "other")], ApprovalMode.YOLO).decide(facts(RUN)).decision is Decision.ALLOW


def test_a_rule_about_a_skill_hides_no_tool() -> None:
    assert not PolicyEngine([rule(Decision.DENY)], ApprovalMode.DEFAULT).hides("run_shell_command")


@pytest.mark.parametrize("name", ["bash", "sh", "python", "python3", "python3.12", "node", "perl", "ruby", "pypy3"])
def test_interpreters(name: str) -> None:
    assert is_script_interpreter(name)


@pytest.mark.parametrize(
    "name", ["env", "bun", "deno", "uv", "php", "Rscript", "make", "pythonx", "fish", "", "node18x"]
)
def test_programs_that_obey_other_files(name: str) -> None:
    assert not is_script_interpreter(name)
