"""Which commands a rule that forbids or asks is meant for, however they are spelled."""

from collections.abc import Sequence

from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.shell.wrappers import command_names
from tejat.policy.types import PolicyRule

# Options of git that stand before the subcommand and take the next word.
_GIT_OPTIONS_WITH_VALUE = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source")
)
_ADDS_WORDS = frozenset(("xargs", "parallel"))
_COMPUTED = frozenset("$`*?[{~\\\"'")
_MAX_CLUSTER_LENGTH = 5


def command_matches_rule(command: ShellCommand, rule: PolicyRule, line: CommandLine) -> bool:
    """Whether a rule that forbids or asks is meant for this command of the line.

    A name counts by its last part and in any case, options may stand anywhere and in any order, and a word that the
    shell computes counts as the one that is looked for.
    """
    if isinstance(rule, AllowlistRule) and rule.commands is not None:
        return rule.applies_to_command(command.words) or line.is_opaque
    if rule.command is None:
        return True
    name, *tokens = rule.command
    wanted = {name.casefold(), name.rpartition("/")[2].casefold()}
    if wanted.isdisjoint(own.casefold() for own in command_names(command)):
        return False
    options = [token for token in tokens if token.startswith("-")]
    operands = [token for token in tokens if not token.startswith("-")]
    return _has_operands(command, operands) and _has_options(command, options)


def _has_operands(command: ShellCommand, expected: Sequence[str]) -> bool:
    """Whether the operands begin with the wanted ones, options before and between them left out."""
    words = command.words
    places = {1}
    for token in expected:
        reached: set[int] = set()
        for place in _operand_positions(command, places):
            if place >= len(words):
                if not _ADDS_WORDS.isdisjoint(command.wrappers):
                    return True
            elif _is_split(command, words[place]):
                return True
            elif words[place] == token or _is_computed(command, words[place]):
                reached.add(place + 1)
        if not reached:
            return False
        places = reached
    return True


def _operand_positions(command: ShellCommand, places: set[int]) -> set[int]:
    """Where the next operand may stand. Whether an option takes the next word is known for git only."""
    words = command.words
    is_git = "git" in command_names(command)
    found: set[int] = set()
    open_places = list(places)
    while open_places:
        place = open_places.pop()
        if place in found:
            continue
        if place >= len(words) or not words[place].startswith("-"):
            found.add(place)
            continue
        takes_value = "=" not in words[place]
        if not is_git:
            open_places += [place + 1, place + 2] if takes_value else [place + 1]
        else:
            takes_value = words[place] in _GIT_OPTIONS_WITH_VALUE
            open_places.append(place + 2 if takes_value else place + 1)
        if takes_value and place + 1 < len(words) and _is_split(command, words[place + 1]):
            found.add(place + 1)
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
    """Whether the word gives this option, with a value after `=` or with its long name cut short."""
    name = word.partition("=")[0]
    return name == expected or (len(name) > len("--x") and name.startswith("--") and expected.startswith(name))


def _is_cluster(word: str) -> bool:
    """Whether it may be several options of one letter."""
    return 1 < len(word) <= _MAX_CLUSTER_LENGTH and word[0] == "-" and word[1:].isalnum()


def _is_computed(command: ShellCommand, word: str) -> bool:
    """Whether the shell may make another word of it."""
    return not command.is_plain and (not word or not _COMPUTED.isdisjoint(word))


def _is_split(command: ShellCommand, word: str) -> bool:
    """Whether the shell may make several words of it."""
    is_one_string = len(word) > 1 and word[0] == word[-1] == '"' and "@" not in word
    return _is_computed(command, word) and not is_one_string
