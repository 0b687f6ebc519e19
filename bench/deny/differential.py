"""Compares what a rule against `touch` decides in yolo mode with what bash does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.deny.bash import find_lines_that_run
from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

_SHELL = "run_shell_command"
_ROOT = "/w/project"
_ENGINE = PolicyEngine(
    [PolicyRule(Decision.DENY, Tier.USER, "the rule", _SHELL, command=("touch",))], ApprovalMode.YOLO
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many lines there were, which ones ran the program, and which of those the rule let pass."""

    count: int
    ran: frozenset[str]
    passed: tuple[str, ...]


def decide(line: str) -> Decision:
    """Return what the rule says about a line in yolo mode."""
    facts = CallFacts(
        _SHELL, Kind.EXECUTE, {"command": line}, (_ROOT,), "/h", line=parse_command_line(line), directory=_ROOT
    )
    return _ENGINE.decide(facts).decision


def compare(lines: Iterable[str], place: Path, *, files: Mapping[str, str] | None = None) -> Comparison:
    """Run the lines and judge them. `files` are there before."""
    given = list(lines)
    ran = find_lines_that_run("touch", given, place, files=files or {})
    return Comparison(
        len(given), frozenset(ran), tuple(line for line in given if line in ran and decide(line) is Decision.ALLOW)
    )
