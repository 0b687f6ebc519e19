"""Commands that may run without asking because the sandbox encloses them."""

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tejat.policy.effects.project_commands import find_project_command
from tejat.policy.evaluation.command_index import CommandIndex
from tejat.policy.evaluation.coverage import LineAssessment, find_coverage_gap
from tejat.policy.evaluation.rule_index import RuleTables
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.risks import find_risks
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import word_set
from tejat.policy.tool_names import SHELL
from tejat.policy.types import Decision, Enclosure, PolicyRule, Tier

# What is left of a line after these have been removed is a command in the background, or a sign in quotes.
_NOT_BACKGROUND = re.compile(r"&&|[0-9]?>&[0-9]|&>>?")
# Programs that print the contents of files they find themselves.
_SEARCHERS = word_set("grep egrep fgrep rg diff git")
_RECURSIVE = re.compile(r"-(?!-)[A-Za-z]*[rRd]|--(?:rec|deref|dir)")
_SEARCHES_HIDDEN = re.compile(r"-(?!-).*[u.]|--(?:hidden|no-ignore|unrestricted)")
_GLOB_OPTION = re.compile(r"(?:-(?!-)[A-Za-z]*g|--i?glob(?:=|\Z))(?P<glob>.*)")
_UNTRACKED = word_set("--no-index --untracked")
# A pattern that one of these matches may match other files with secrets.
_SECRET_NAMES = (
    ".env",
    ".env.local",
    ".npmrc",
    ".netrc",
    "id_rsa",
    "x.pem",
    "x.key",
    "credentials.json",
    "secrets.yml",
)


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
    rules: dict[tuple[str, ...], PolicyRule] = {}
    commands = list(uncovered)
    for command in commands:
        if command.wrappers:
            continue  # a rule for the whole of it has to cover this part as well
        words = _beginning(command, call)
        if words is None:
            return False
        if not call.effects[command].is_read_only:
            needed = Enclosure.EVERYTHING
        rules[words] = PolicyRule(Decision.ALLOW, Tier.USER, "", SHELL, command=words)
    index = CommandIndex(RuleTables(rules.values()))
    if not all(_is_covered(command, index, call, assessment) for command in commands):
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


def _is_covered(command: ShellCommand, rules: CommandIndex, call: ShellCall, assessment: LineAssessment) -> bool:
    candidates = rules.covering_candidates(command)
    return any(find_coverage_gap(rule, command, call, assessment, is_enclosed=True) is None for _, rule in candidates)


def _may_show_secrets(command: ShellCommand, call: ShellCall) -> bool:
    """Return whether a search goes through a directory with a file that usually holds secrets."""
    if command.name not in _SEARCHERS or not _searches_all_files(command):
        return False
    return any(call.holds_secrets(word) for word in call.effects[command].paths or (".",))


def _searches_all_files(command: ShellCommand) -> bool:
    """Return whether a search finds its files itself, hidden ones and those that git ignores among them."""
    words = command.words[1:]
    if command.name == "git":
        return "grep" in words and not _UNTRACKED.isdisjoint(words)
    if command.name != "rg":
        return any(_RECURSIVE.match(word) for word in words)
    return any(_SEARCHES_HIDDEN.match(word) for word in words) or any(map(_matches_secret_name, _globs(words)))


def _globs(words: Sequence[str]) -> Iterator[str]:
    """Yield the patterns for files that rg searches even if they are hidden."""
    for word, following in pairwise((*words, "")):
        option = _GLOB_OPTION.match(word)
        if option:
            yield option["glob"] or following


def _matches_secret_name(glob: str) -> bool:
    name = glob.rpartition("/")[2].casefold()
    return not glob.startswith("!") and any(fnmatch.fnmatchcase(secret, name) for secret in _SECRET_NAMES)
