"""Shell lines that may run what a rule forbids, where this cannot be told from the line."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from tejat.core.i18n import lazy
from tejat.policy.effects.foreign_code import find_foreign_code
from tejat.policy.effects.git import is_git_subcommand
from tejat.policy.effects.tables import (
    CODE_RUNNERS,
    DESTRUCTIVE_PROGRAMS,
    DESTRUCTIVE_SUBCOMMANDS,
    PATTERN_PROGRAMS,
    READ_ONLY_PROGRAMS,
    SQL_CLIENTS,
    TEXT_PROGRAMS,
    WRITING_PROGRAMS,
)
from tejat.policy.evaluation.rule_index import RuleEntry, RuleTables
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.plain import RESERVED, STATE_BUILTINS
from tejat.policy.shell.words import word_set
from tejat.policy.shell.wrapper_options import SHELLS, WRAPPERS
from tejat.policy.shell.wrappers import base_name, is_wrapper
from tejat.policy.types import PolicyRule

# Programs of the tables that run commands among their words.
_RUNS_OPERANDS = word_set("expect gdb invoke lldb nc ncat netcat screen socat tmux")
KNOWN_PROGRAMS = (
    READ_ONLY_PROGRAMS
    | WRITING_PROGRAMS
    | DESTRUCTIVE_PROGRAMS
    | DESTRUCTIVE_SUBCOMMANDS.keys()
    | TEXT_PROGRAMS
    | PATTERN_PROGRAMS
    | SQL_CLIENTS
    | CODE_RUNNERS
    | STATE_BUILTINS
    | RESERVED
    | word_set("cd clear cmp eslint gcc git grep man mypy prettier printenv ruff svn tldr tsc whatis yes")
) - _RUNS_OPERANDS
"""Programs whose operands are known not to be run."""
# Where their command begins depends on the values of many options.
_CONTAINER_PROGRAMS = word_set("docker docker-compose kubectl nerdctl oc podman")
_CONTAINER_VERBS = word_set("create exec run")
_TOKEN = re.compile(r"[\w.+/@-]+")
_COMPUTED = re.compile(r"[$`]")
_RUNS_FILE = SHELLS | word_set("source .")
# Files that programs obey without being told.
_OBEYED_FILES = word_set(
    "Makefile makefile GNUmakefile package.json conftest.py setup.py build.rs justfile Rakefile Gemfile build.gradle"
)


def find_unchecked(call: ShellCall, rules: RuleTables) -> tuple[PolicyRule, str] | None:
    """Return a rule that forbids some commands and why it cannot be checked, None if all can be."""
    if rules.first is None:
        return None
    reason = next(_hidden_code(call), None)
    return next(_possible_runs(call, rules), None) if reason is None else (rules.first, reason)


def _hidden_code(call: ShellCall) -> Iterator[str]:
    for command in call.effects:
        reason = find_foreign_code(command.words, is_plain=command.is_plain)
        if reason is not None:
            yield reason
        if base_name(command.name) == "git" and not is_git_subcommand(command.words):
            yield lazy("{command} is a git alias or an external git program", command=" ".join(command.words[:2]))
    yield from find_written_and_run(call)


def find_written_and_run(call: ShellCall) -> Iterator[str]:
    """Yield a reason for each file that the line both writes and runs."""
    run = dict.fromkeys(_run_files(call))
    written = set(_written_names(call)) if run else set[str | None]()
    for name in run if written else ():
        if name in written or None in written:
            yield lazy("the command runs {name}, which it writes itself", name=name)


def _written_names(call: ShellCall) -> Iterator[str | None]:
    """Yield the base names of the files that the line writes, None for one whose name is computed."""
    for redirection in call.line.redirections:
        if redirection.writes and not redirection.is_harmless:
            yield None if redirection.target is None else base_name(redirection.target)
    for command, effects in call.effects.items():
        if effects.writes and base_name(command.name) != "git":
            yield from map(base_name, effects.paths)


def _run_files(call: ShellCall) -> Iterator[str]:
    """Yield the base names of files that the line runs, and those that its programs obey."""
    for command in call.line.commands:
        name = base_name(command.name)
        if "/" in command.name or (command.wrappers and command.wrappers[-1] in _RUNS_FILE):
            yield name
        if name in CODE_RUNNERS:
            yield from map(base_name, command.words[1:])
            yield from _OBEYED_FILES


def _possible_runs(call: ShellCall, rules: RuleTables) -> Iterator[tuple[PolicyRule, str]]:
    writes_files = any(each.writes and not each.is_harmless for each in call.line.redirections)
    by_program = rules.table(_group_by_program)
    words = (word for command in call.effects for word in command.words[1:])
    if not by_program or by_program.keys().isdisjoint(_possible_names(words)):
        return
    for command, effects in call.effects.items():
        program = base_name(command.name)
        is_known = (program in KNOWN_PROGRAMS or is_wrapper(program)) and not runs_in_container(command)
        for rule in _rules_naming(command.words[1:], by_program):
            forbidden = base_name(rule.command[0] if rule.command else "")
            options = _wrapper_options(command, call)
            if any(base_name(word) == forbidden for word in options) or (
                not is_known and _mentions(command.words[1:], rule.command or ())
            ):
                yield rule, lazy("{program} may run {forbidden}", program=program, forbidden=forbidden)
            if (effects.writes or writes_files) and _names_program(command, forbidden):
                yield rule, lazy("{program} may copy or rename {forbidden}", program=program, forbidden=forbidden)


def _group_by_program(rules: RuleTables) -> Mapping[str, Sequence[RuleEntry]]:
    """Return the rules with a command by the name of its program, in lower case, each with its position."""
    found: dict[str, list[RuleEntry]] = {}
    for position, rule in enumerate(rules.rules):
        if rule.command:
            found.setdefault(base_name(rule.command[0]).casefold(), []).append((position, rule))
    return found


def _rules_naming(words: Iterable[str], by_program: Mapping[str, Sequence[RuleEntry]]) -> Sequence[PolicyRule]:
    """Return the rules whose program is one of the words, or may be named in the text of one."""
    found = [entry for name in _possible_names(words) for entry in by_program.get(name, ())]
    return [rule for _, rule in sorted(found, key=itemgetter(0))]


def _possible_names(words: Iterable[str]) -> set[str]:
    """Return the base names, in lower case, of the words and of all names in them."""
    given = set(words)
    return {base_name(name).casefold() for name in given.union(_TOKEN.findall("\n".join(given)))}


def _wrapper_options(command: ShellCommand, call: ShellCall) -> Sequence[str]:
    """Return the words of a wrapper before the command it is known to run: one may be the command all the same."""
    program = base_name(command.name)
    if program not in WRAPPERS:
        return ()
    inside = (*command.wrappers, program)
    return command.words[1 : len(command.words) - call.longest_wrapped.get(inside, 0)]


def runs_in_container(command: ShellCommand) -> bool:
    """Return whether what it runs depends on the options of a container program."""
    return base_name(command.name) in _CONTAINER_PROGRAMS and not _CONTAINER_VERBS.isdisjoint(command.words)


def _mentions(words: Iterable[str], tokens: Sequence[str]) -> bool:
    """Return whether the words, or the text in them, hold the program and the operands of a rule."""
    found = [token for word in words for token in _TOKEN.findall(word)]
    names = {base_name(token).casefold() for token in found}
    return base_name(tokens[0]).casefold() in names and all(
        token in found for token in tokens[1:] if not token.startswith("-")
    )


def _names_program(command: ShellCommand, forbidden: str) -> bool:
    """Return whether an operand is the path of the program, or may be computed from its name."""
    for word in command.words[1:]:
        if word.startswith(("/", "~")) and base_name(word) == forbidden:
            return True
        if not command.is_plain and _COMPUTED.search(word) and _mentions((word,), (forbidden,)):
            return True
    return False
