"""Commands that may run without asking because the sandbox encloses them."""

import re
from collections.abc import Iterable

from tejat.policy.effects.project_commands import find_project_command
from tejat.policy.evaluation.coverage import LineAssessment, find_coverage_gap
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.risks import find_risks
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import word_set
from tejat.policy.tool_names import SHELL
from tejat.policy.types import Decision, Enclosure, PolicyRule, Tier

# What is left of a line after these have been removed is a command in the background, or a sign in quotes.
_NOT_BACKGROUND = re.compile(r"&&|[0-9]?>&[0-9]|&>>?")
# Programs that print the contents of files they find themselves.
_SEARCHERS = word_set("grep egrep fgrep rg")
_SEARCHES_HIDDEN = re.compile(r"-(?!-).*[u.]|--(?:hidden|no-ignore|unrestricted)")
_RECURSIVE = re.compile(r"-(?!-)[A-Za-z]*[rRd]|--(?:rec|deref|dir)")


def is_safe_in_sandbox(uncovered: Iterable[ShellCommand], call: ShellCall, assessment: LineAssessment) -> bool:
    """Return whether the commands that no rule allows only read or belong to the project, and cannot leave the sandbox.

    The sandbox is asked last, because that may start a program.
    """
    facts, line = call.facts, call.line
    is_plain = line.is_plain and bool(line.commands) and "&" not in _NOT_BACKGROUND.sub("", line.text)
    is_shell = facts.tool == SHELL and facts.server is None
    if not is_shell or not is_plain or facts.wants_network or facts.arguments.get("is_background"):
        return False
    needed = Enclosure.FILES_AND_NETWORK
    rules: list[PolicyRule] = []
    commands = list(uncovered)
    for command in commands:
        if command.wrappers:
            continue  # a rule for the whole of it has to cover this part as well
        words = _beginning(command, call)
        if words is None:
            return False
        if not call.effects[command].is_read_only:
            needed = Enclosure.EVERYTHING
        rules.append(PolicyRule(Decision.ALLOW, Tier.USER, "", SHELL, command=words))
    if not all(any(_covers(rule, command, call, assessment) for rule in rules) for command in commands):
        return False
    return not find_risks(facts, is_file=lambda _: False) and facts.enclosure() >= needed


def _beginning(command: ShellCommand, call: ShellCall) -> tuple[str, ...] | None:
    """Return the words that say what a command does, None if it does more than read, test or build."""
    if call.effects[command].is_read_only:
        return None if _may_show_secrets(command, call) else command.words[:1]
    if command.name == "cd":
        return command.words[:1]
    project = find_project_command(command.words)
    return project.prefix if project is not None and project.is_understood else None


def _covers(rule: PolicyRule, command: ShellCommand, call: ShellCall, assessment: LineAssessment) -> bool:
    return find_coverage_gap(rule, command, call, assessment, is_enclosed=True) is None


def _may_show_secrets(command: ShellCommand, call: ShellCall) -> bool:
    """Return whether a search goes through a directory with a file that usually holds secrets."""
    if command.name not in _SEARCHERS:
        return False
    searches = _SEARCHES_HIDDEN if command.name == "rg" else _RECURSIVE
    if not any(searches.match(word) for word in command.words[1:]):
        return False
    return any(call.holds_secrets(word) for word in call.effects[command].paths or (".",))
