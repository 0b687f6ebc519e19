"""Rules for commands, found by the words that they begin with."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from tejat.policy.evaluation.command_match import first_operands
from tejat.policy.evaluation.rule_index import RuleEntry, RuleTables
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.wrappers import command_names
from tejat.policy.types import PolicyRule


class CommandIndex:
    """Rules that name a command, each with its position among all rules."""

    def __init__(self, rules: RuleTables) -> None:
        self._groups: dict[str, _NameGroup] = {}
        self._without_name: list[RuleEntry] = []
        for entry in enumerate(rules.rules):
            words = entry[1].command
            if words is None:
                continue
            if not words:
                self._without_name.append(entry)
                continue
            group = self._groups.get(words[0])
            if group is None:
                group = self._groups[words[0]] = _NameGroup()
            group.entries.append(entry)

    @cached_property
    def _by_any_case(self) -> dict[str, list["_NameGroup"]]:
        found: dict[str, list[_NameGroup]] = {}
        for name, group in self._groups.items():
            for key in {name.casefold(), name.rpartition("/")[2].casefold()}:
                found.setdefault(key, []).append(group)
        return found

    @cached_property
    def _nameless(self) -> Mapping[int, PolicyRule]:
        return dict(self._without_name)

    def candidates(self, command: ShellCommand) -> Mapping[int, PolicyRule]:
        """Return every rule that may apply to the command, however it is spelled, or cover it by its first words."""
        groups: dict[int, _NameGroup] = {}
        for name in command_names(command):
            groups.update((id(group), group) for group in self._by_any_case.get(name.casefold(), ()))
        if not groups and _covered_name(command) not in self._groups:
            return self._nameless
        found = dict(self._without_name)
        found.update(self.covering_candidates(command))
        if groups:
            operands = first_operands(command)
            for group in groups.values():
                found.update(group.entries if operands is None else group.with_operands(operands))
        return found

    def covering_candidates(self, command: ShellCommand) -> Iterator[RuleEntry]:
        """Yield the rules whose words the command, or the wrapper that runs it, begins with."""
        group = self._groups.get(_covered_name(command))
        if group is None:
            return
        if command.wrappers:
            yield from group.naming(command.name)
        else:
            yield from group.beginning(command.words)


def _covered_name(command: ShellCommand) -> str:
    """Return the first word of the rules that may cover the command."""
    return command.wrappers[0] if command.wrappers else command.name


class _NameGroup:
    """The rules for one program. The tables are made when they are needed."""

    def __init__(self) -> None:
        self.entries: list[RuleEntry] = []

    @cached_property
    def _by_operand(self) -> dict[str | None, list[RuleEntry]]:
        """The rules by the first of their words that is no option."""
        found: dict[str | None, list[RuleEntry]] = {}
        for entry in self.entries:
            words = (entry[1].command or ())[1:]
            operand = next((word for word in words if not word.startswith("-")), None)
            found.setdefault(operand, []).append(entry)
        return found

    @cached_property
    def _by_word(self) -> dict[str, list[RuleEntry]]:
        """The rules by each word after the first."""
        found: dict[str, list[RuleEntry]] = {}
        for entry in self.entries:
            for word in set((entry[1].command or ())[1:]):
                found.setdefault(word, []).append(entry)
        return found

    @cached_property
    def _by_words(self) -> tuple[dict[tuple[str, ...], list[RuleEntry]], tuple[int, ...]]:
        """The rules by all their words, and the numbers of words that there are."""
        found: dict[tuple[str, ...], list[RuleEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry[1].command or (), []).append(entry)
        return found, tuple({len(words) for words in found})

    def with_operands(self, operands: frozenset[str]) -> Iterator[RuleEntry]:
        """Yield the rules without operands, and those with one of these as the first."""
        yield from self._by_operand.get(None, ())
        for operand in operands:
            yield from self._by_operand.get(operand, ())

    def naming(self, word: str) -> Iterator[RuleEntry]:
        yield from self._by_word.get(word, ())

    def beginning(self, words: tuple[str, ...]) -> Iterator[RuleEntry]:
        """Yield the rules whose words all stand at the beginning of these."""
        by_words, lengths = self._by_words
        for length in lengths:
            if length <= len(words):
                yield from by_words.get(words[:length], ())
