"""Which rules concern a call, and which commands a rule that forbids or asks is meant for."""

import json
from collections.abc import Sequence
from functools import cached_property

from tejat.policy.command_line import Command
from tejat.policy.effects import Effects, effects_of
from tejat.policy.patterns import fits_glob, is_found
from tejat.policy.places import resolved
from tejat.policy.rules import Decision, Facts, Mode, Rule, Tier
from tejat.policy.unlisted import Unlisted
from tejat.policy.wrappers import names_of

# Options of git that stand before the subcommand and take the next word.
_GIT_OPTIONS_WITH_VALUE = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source")
)
_ADDS_WORDS = frozenset(("xargs", "parallel"))
_COMPUTED = frozenset("$`*?[{~\\\"'")
_LONGEST_CLUSTER = 5


class Call:
    """One call that is judged, with what is derived from its facts only when a rule asks for it."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @cached_property
    def arguments_text(self) -> str:
        """The arguments as JSON with sorted keys and no spaces. Raises for what cannot be written so."""
        arguments = dict(self.facts.arguments)
        return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)

    @cached_property
    def directory(self) -> str:
        return self.facts.directory or (self.facts.roots[0] if self.facts.roots else "/")

    @cached_property
    def effects(self) -> dict[Command, Effects]:
        line = self.facts.line
        return {} if line is None else {command: effects_of(command.words) for command in line.commands}

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Every path that the call is known to touch, also those that only its shell line names."""
        line = self.facts.line
        if line is None:
            return self.facts.paths
        words = [word for effects in self.effects.values() for word in effects.paths]
        words += [redirection.target for redirection in line.redirections if redirection.target is not None]
        return (*self.facts.paths, *(self.resolved(word) for word in words))

    def resolved(self, word: str) -> str:
        return resolved(word, directory=self.directory, home=self.facts.home)


def is_in_force(rule: Rule, mode: Mode) -> bool:
    """Whether a rule counts in this mode. What allows in other modes does not allow in plan mode."""
    if rule.modes is not None:
        return mode in rule.modes
    return mode is not Mode.PLAN or rule.decision is not Decision.ALLOW or rule.tier is Tier.DEFAULT


def names_tool(rule: Rule, tool: str, server: str | None) -> bool:
    """Whether the rule is for this tool. A tool is a name and a server: the same name elsewhere is another tool."""
    if isinstance(rule, Unlisted) and not rule.holds_for_server(server):
        return False
    if rule.server is not None:
        is_server = server is not None and rule.server in ("*", server)
        return is_server and rule.tool in ("*", tool)
    return rule.tool == "*" or (rule.tool == tool and server is None)


def is_for_project(rule: Rule, roots: Sequence[str]) -> bool:
    return rule.project is None or rule.project.rstrip("/") in {root.rstrip("/") for root in roots}


def concerns(rule: Rule, call: Call) -> bool:
    """Whether the rule is for this call, whatever the commands of its shell line are."""
    facts = call.facts
    if not names_tool(rule, facts.tool, facts.server) or not is_for_project(rule, facts.roots):
        return False
    if facts.line is None and (rule.command is not None or (isinstance(rule, Unlisted) and rule.commands is not None)):
        return False
    if rule.arguments is not None and not is_found(rule.arguments, call.arguments_text):
        return False
    return rule.path is None or _fits_path(rule, rule.path, call)


def _fits_path(rule: Rule, glob: str, call: Call) -> bool:
    """One path is enough to forbid or ask; to allow, all of them have to fit."""
    fits = [fits_glob(glob, path, roots=call.facts.roots, home=call.facts.home) for path in call.places]
    return bool(fits) and all(fits) if rule.decision is Decision.ALLOW else any(fits)


def is_meant(rule: Rule, command: Command, call: Call) -> bool:
    """Whether a rule that forbids or asks is meant for this command of the call, however it is spelled.

    A name counts by its last part and in any case, options may stand anywhere and in any order, and a word that the
    shell computes counts as the one that is looked for.
    """
    if isinstance(rule, Unlisted) and rule.commands is not None:
        line = call.facts.line
        return rule.holds_for_command(command.words) or (line is not None and line.is_opaque)
    if rule.command is None:
        return True
    name, *tokens = rule.command
    wanted = {name.casefold(), name.rpartition("/")[2].casefold()}
    if wanted.isdisjoint(own.casefold() for own in names_of(command)):
        return False
    options = [token for token in tokens if token.startswith("-")]
    operands = [token for token in tokens if not token.startswith("-")]
    return _has_operands(command, operands) and _has_options(command, options)


def _has_operands(command: Command, wanted: Sequence[str]) -> bool:
    """Whether the operands begin with the wanted ones, options before and between them left out."""
    words = command.words
    places = {1}
    for token in wanted:
        reached: set[int] = set()
        for place in _past_options(command, places):
            if place >= len(words):
                if not _ADDS_WORDS.isdisjoint(command.via):
                    return True
            elif _is_split(command, words[place]):
                return True
            elif words[place] == token or _is_computed(command, words[place]):
                reached.add(place + 1)
        if not reached:
            return False
        places = reached
    return True


def _past_options(command: Command, places: set[int]) -> set[int]:
    """Where the next operand may stand. Whether an option takes the next word is known for git only."""
    words = command.words
    is_git = "git" in names_of(command)
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


def _has_options(command: Command, wanted: Sequence[str]) -> bool:
    given = command.words[1:]
    letters = {letter for word in given if _is_cluster(word) for letter in word[1:]}
    if any(_is_computed(command, word) for word in given) or not _ADDS_WORDS.isdisjoint(command.via):
        return True
    return all(
        any(_is_option(option, word) for word in given) or (_is_cluster(option) and letters.issuperset(option[1:]))
        for option in wanted
    )


def _is_option(wanted: str, word: str) -> bool:
    """Whether the word gives this option, with a value after `=` or with its long name cut short."""
    name = word.partition("=")[0]
    return name == wanted or (len(name) > len("--x") and name.startswith("--") and wanted.startswith(name))


def _is_cluster(word: str) -> bool:
    """Whether it may be several options of one letter."""
    return 1 < len(word) <= _LONGEST_CLUSTER and word[0] == "-" and word[1:].isalnum()


def _is_computed(command: Command, word: str) -> bool:
    """Whether the shell may make another word of it."""
    return not command.is_plain and (not word or not _COMPUTED.isdisjoint(word))


def _is_split(command: Command, word: str) -> bool:
    """Whether the shell may make several words of it."""
    is_one_string = len(word) > 1 and word[0] == word[-1] == '"' and "@" not in word
    return _is_computed(command, word) and not is_one_string
