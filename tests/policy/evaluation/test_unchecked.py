"""Lines that may run a forbidden program, where nobody can tell: they ask in every mode."""

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.tool_lists import rules_from_allowed_tools
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, Tier

SHELL = "run_shell_command"
NO_TOUCH = PolicyRule(Decision.DENY, Tier.USER, "rules:1", SHELL, command=("touch",))
NO_PUSH = PolicyRule(Decision.DENY, Tier.USER, "rules:2", SHELL, command=("git", "push"))


def judged(text: str, *rules: PolicyRule, mode: ApprovalMode = ApprovalMode.YOLO) -> PolicyVerdict:
    line = parse_command_line(text)
    facts = CallFacts(SHELL, Kind.EXECUTE, {"command": text}, ("/w",), "/home/me", line=line, directory="/w")
    return PolicyEngine(rules, mode).decide(facts)


ASKS = """
python -c 'print(1)'
echo x | python
frob touch M
frob -c 'touch M'
tmux new 'touch M'
socat - EXEC:'touch M'
coreutils --coreutils-prog=touch M
cp /usr/bin/touch x
ln -s $(which touch) x
cat /usr/bin/touch > x
echo x > s; sh s
echo x > s; . ./s
echo x | tee s.py; python s.py
echo x > $f; ./y
printf x > Makefile; make
start-stop-daemon -S -x touch M
rlwrap -a touch M
entr -r touch M
git frob
docker run -v x:/x image touch /x
podman exec -it c touch M
make -f - < x
cat x | make -f - 2>&1
cat x | sed -f - 2>&1
"""
ALLOWED = """
python x.py
ls -l /usr/bin/touch
grep touch f
timeout 5 grep touch f
git commit -m 'touch it'
echo touch
mkdir touch
echo x > s; ls s
npm test > out.txt
make test > log
sed -i s/a/b/ f
frob toucher M
docker touch x
sudo -n grep touch f
poetry run pytest -k touch
"""


@pytest.mark.parametrize("text", ASKS.strip().splitlines())
def test_what_may_run_it_asks_even_in_yolo_mode(text: str) -> None:
    verdict = judged(text, NO_TOUCH)
    assert (verdict.decision, verdict.always_ask, verdict.rule) == (Decision.ASK, True, NO_TOUCH)
    assert judged(text).decision is Decision.ALLOW


@pytest.mark.parametrize("text", ALLOWED.strip().splitlines())
def test_what_does_not_run_it_is_allowed(text: str) -> None:
    assert judged(text, NO_TOUCH).decision is Decision.ALLOW


def test_the_operands_of_a_rule_count_too() -> None:
    assert judged("frob git status", NO_PUSH).decision is Decision.ALLOW
    assert judged("frob git -v push", NO_PUSH).decision is Decision.ASK


def test_the_reason_names_the_rule() -> None:
    reason = (
        "python runs code from its arguments or its input, "
        "so the rule `deny run_shell_command: touch` cannot be checked."
    )
    assert judged("python -c x", NO_TOUCH).reason == reason


def test_a_rule_that_allows_does_not_help() -> None:
    allowed = rules_from_allowed_tools(["run_shell_command(python -c)"])
    assert judged("python -c x", *allowed, mode=ApprovalMode.DEFAULT).decision is Decision.ALLOW
    verdict = judged("python -c x", *allowed, NO_TOUCH, mode=ApprovalMode.DEFAULT)
    assert (verdict.decision, verdict.suggested_rules) == (Decision.ASK, ())
