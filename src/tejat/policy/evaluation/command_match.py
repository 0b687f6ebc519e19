"""Matching of commands against rules that deny or ask, however the command is spelled."""

from collections.abc import Sequence

from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.shell.words import word_set
from tejat.policy.shell.wrappers import command_names
from tejat.policy.types import PolicyRule

# Global options of git that take the next word as value.
_GIT_OPTIONS_WITH_VALUE = word_set("-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source")
_ADDS_WORDS = frozenset(("xargs", "parallel"))
_COMPUTED = frozenset("$`*?[{~\\\"'")
_MAX_CLUSTER_LENGTH = 5


def command_matches_rule(command: ShellCommand, rule: PolicyRule, line: CommandLine) -> bool:
    """Return whether a rule that denies or asks applies to this command of the line.

    The name matches by its base name and in any case, options match in any position and order, and a word that the
    shell expands matches everything.
    """
    if isinstance(rule, AllowlistRule) and rule.commands is not None:
        return rule.applies_to_command(command.words) or line.is_opaque
    if rule.command is None:
        return True
    name, *tokens = rule.command
    names = {name.casefold(), name.rpartition("/")[2].casefold()}
    if names.isdisjoint(own.casefold() for own in command_names(command)):
        return False
    options = [token for token in tokens if token.startswith("-")]
    operands = [token for token in tokens if not token.startswith("-")]
    return _has_operands(command, operands) and _has_options(command, options)


def first_operands(command: ShellCommand) -> frozenset[str] | None:
    """Return the words that may be the first operand of a command, None if that may be any word."""
    words = command.words
    positions = _operand_positions(command, {1})
    found = [words[position] for position in positions if position < len(words)]
    if any(_is_computed(command, word) for word in found):
        return None
    adds_words = len(found) < len(positions) and not _ADDS_WORDS.isdisjoint(command.wrappers)
    return None if adds_words else frozenset(found)


def _has_operands(command: ShellCommand, expected: Sequence[str]) -> bool:
    """Return whether the operands begin with the expected ones, ignoring options between them."""
    words = command.words
    positions = {1}
    for token in expected:
        reached: set[int] = set()
        for position in _operand_positions(command, positions):
            if position >= len(words):
                if not _ADDS_WORDS.isdisjoint(command.wrappers):
                    return True
            elif _is_split(command, words[position]):
                return True
            elif words[position] == token or _is_computed(command, words[position]):
                reached.add(position + 1)
        if not reached:
            return False
        positions = reached
    return True


def _operand_positions(command: ShellCommand, positions: set[int]) -> set[int]:
    """Return where the next operand may be. Only for git it is known which options take a value."""
    words = command.words
    is_git = "git" in command_names(command)
    found: set[int] = set()
    pending = list(positions)
    while pending:
        position = pending.pop()
        if position in found:
            continue
        if position >= len(words) or not words[position].startswith("-"):
            found.add(position)
            continue
        takes_value = "=" not in words[position]
        if not is_git:
            pending += [position + 1, position + 2] if takes_value else [position + 1]
        else:
            takes_value = words[position] in _GIT_OPTIONS_WITH_VALUE
            pending.append(position + 2 if takes_value else position + 1)
        if takes_value and position + 1 < len(words) and _is_split(command, words[position + 1]):
            found.add(position + 1)
    return found


def _has_options(command: ShellCommand, expected: Sequence[str]) -> bool:
    given = command.words[1:]
    letters = {letter for word in given if _is_cluster(word) for letter in word[1:]}
    if any(_is_computed(command, word) for word in given) or not _ADDS_WORDS.isdisjoint(command.wrappers):
        return True
    return all(
        any(_is_option(option, word) for word in given) or (_is_cluster(option) and letters.issuperset(option[1:]))
        for option in expected
    )


def _is_option(expected: str, word: str) -> bool:
    """Return whether the word is this option, perhaps with a value after `=` or abbreviated."""
    name = word.partition("=")[0]
    return name == expected or (len(name) > len("--x") and name.startswith("--") and expected.startswith(name))


def _is_cluster(word: str) -> bool:
    """Return whether it may be several one-letter options."""
    return 1 < len(word) <= _MAX_CLUSTER_LENGTH and word[0] == "-" and word[1:].isalnum()


def _is_computed(command: ShellCommand, word: str) -> bool:
    """Return whether the shell may expand it to another word."""
    return not command.is_plain and (not word or not _COMPUTED.isdisjoint(word))


def _is_split(command: ShellCommand, word: str) -> bool:
    """Return whether the shell may expand it to several words."""
    is_one_string = len(word) > 1 and word[0] == word[-1] == '"' and "@" not in word
    return _is_computed(command, word) and not is_one_string
