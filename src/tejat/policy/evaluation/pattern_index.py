"""Rules with patterns, found by texts that their patterns need."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.policy.evaluation.call import Call, command_expressions
from tejat.policy.rules.pattern_literals import glob_literals, is_surely_valid_regex, regex_literals
from tejat.policy.rules.patterns import is_valid_glob, is_valid_regex
from tejat.policy.types import PolicyRule

_GRAM = 3
_MAX_GRAMS = 12
"""How many beginnings of a literal are considered: enough to find one that few rules share."""
_EVERYWHERE = frozenset(("command", "file_path"))
"""Names of arguments, which are in the JSON of nearly every call."""


class PatternIndex:
    """Rules with patterns for arguments, commands or paths, each with its position among all rules."""

    def __init__(self, rules: Iterable[tuple[int, PolicyRule]]) -> None:
        self._in_arguments = LiteralIndex()
        self._in_paths = LiteralIndex()
        self._others: list[tuple[int, PolicyRule]] = []
        for position, rule in rules:
            self._add(position, rule)

    def _add(self, position: int, rule: PolicyRule) -> None:
        # A rule with an invalid pattern raises an error in every call, so it has to be compared with each.
        expressions = [each for each in (rule.arguments, rule.command_pattern) if each is not None]
        is_valid = _is_valid(rule)
        literals = regex_literals(expressions[0]) if is_valid and expressions else ()
        if literals:
            self._in_arguments.add(position, rule, literals)
            return
        parts = glob_literals(rule.path) if is_valid and rule.path is not None and not expressions else ()
        if parts:
            self._in_paths.add(position, rule, (parts,))
            return
        self._others.append((position, rule))

    def candidates(self, call: Call) -> Iterator[tuple[int, PolicyRule]]:
        """Yield the rules whose patterns may match."""
        yield from self._others
        if self._in_arguments:
            yield from self._in_arguments.find(call.searched_text)
        if self._in_paths:
            yield from self._in_paths.find("\n".join(call.paths))


def _is_valid(rule: PolicyRule) -> bool:
    pattern = rule.command_pattern
    return (
        (rule.arguments is None or is_valid_regex(rule.arguments))
        and (
            pattern is None or is_surely_valid_regex(pattern) or all(map(is_valid_regex, command_expressions(pattern)))
        )
        and (rule.path is None or is_valid_glob(rule.path))
    )


class LiteralIndex:
    """Rules by the texts that they need, found through three characters of one of them."""

    def __init__(self) -> None:
        self._by_gram: dict[str, list[tuple[tuple[str, ...], int, PolicyRule]]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_gram)

    def add(self, position: int, rule: PolicyRule, alternatives: Sequence[tuple[str, ...]]) -> None:
        """Add a rule that needs all texts of one of the alternatives."""
        for literals in alternatives:
            self._by_gram.setdefault(self._rarest_gram(literals), []).append((literals, position, rule))

    def _rarest_gram(self, literals: Sequence[str]) -> str:
        by_gram = self._by_gram
        rare = [each for each in literals if each not in _EVERYWHERE] or literals
        grams = [each[at : at + _GRAM] for each in rare for at in range(min(len(each) - _GRAM + 1, _MAX_GRAMS))]
        return min(grams, key=lambda gram: len(by_gram.get(gram, ())))

    def find(self, text: str) -> Iterator[tuple[int, PolicyRule]]:
        """Yield each rule whose texts all occur in this one."""
        found: dict[int, PolicyRule] = {}
        for gram in self._grams_in(text):
            for literals, position, rule in self._by_gram[gram]:
                if position not in found and all(literal in text for literal in literals):
                    found[position] = rule
        yield from found.items()

    def _grams_in(self, text: str) -> Iterable[str]:
        if len(self._by_gram) * _SEARCH_SPEED < len(text):
            return [gram for gram in self._by_gram if gram in text]
        return self._by_gram.keys() & {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}


_SEARCH_SPEED = 64
"""How many times faster a text is searched for one gram than it is cut into grams."""
