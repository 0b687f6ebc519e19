"""Places that the words of a shell line name, from every directory that its commands may run in."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

from tejat.core.text.paths import is_beneath_any
from tejat.policy.paths import PathLookup, is_ambiguous, join_path, normalize_path
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.types import CallFacts

_CHANGES_DIRECTORY = ("cd", "pushd")
_MAX_DIRECTORIES = 10
_GLOB_CHARACTERS = frozenset("*?[")
# A relative path in its shortest form, without hidden names and patterns.
_ORDINARY = re.compile(r"(?![~/.])(?!.*(?:/[/.]|/\Z))[^*?\[\0]{1,255}\Z", re.DOTALL)


def working_directories(line: CommandLine, directory: str, *, home: str, lookup: PathLookup) -> tuple[str, ...]:
    """Return every directory that a command of the line may run in; more than ten mean that others are possible."""
    directories = {directory: None}
    for command in line.commands:
        if command.name in _CHANGES_DIRECTORY and len(directories) <= _MAX_DIRECTORIES:
            target = command.words[-1] if len(command.words) > 1 else "~"
            changed = [join_path(target, directory=each, home=home) for each in directories]
            directories |= dict.fromkeys(map(lookup.real_path, changed))
    return tuple(directories)


class WordPlaces:
    """The places of words, each found once.

    Most words are direct: short names of entries that are no links. They are judged by their texts, apart from the
    directories, because there may be ten thousand combinations of both.
    """

    def __init__(self, facts: CallFacts, line: CommandLine, directory: str) -> None:
        self._facts = facts
        self._line = line
        self._directory = directory
        self._direct: dict[str, bool] = {}
        self._located: dict[str, tuple[tuple[str, str], ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}

    @cached_property
    def directories(self) -> tuple[str, ...]:
        """Every directory that a command of the line may run in; a change may fail, or happen in a subshell."""
        facts = self._facts
        return working_directories(self._line, self._directory, home=facts.home, lookup=facts.lookup)

    def find(self, words: Iterable[str]) -> list[str]:
        """Return the paths of the words, as written and with links followed, from each directory."""
        known = self._found
        found: dict[str, None] = {}
        for word in words:
            places = known.get(word)
            if places is None:
                places = known[word] = self._find_places(word)
            for path in places:
                found[path] = None
        return list(found)

    def find_suspects(self, words: Sequence[str], select: Callable[[Sequence[str]], Collection[str]]) -> list[str]:
        """Return the paths of the words that are selected by their texts, and of those that are not direct."""
        selected = frozenset(select(words))
        direct = self._direct
        return self.find([word for word in words if word in selected or not (direct.get(word) or self.is_direct(word))])

    def _find_places(self, word: str) -> tuple[str, ...]:
        if self.is_direct(word):
            return tuple([prefix + word for prefix in self._prefixes])
        lookup = self._facts.lookup
        located = self.locate(word)
        places = [place for path, real in located for place in (normalize_path(path), real)]
        if not _GLOB_CHARACTERS.isdisjoint(word):
            places += [lookup.real_path(match) for path, _ in located for match in lookup.expand(path)]
        return tuple(dict.fromkeys(places))

    def locate(self, word: str) -> tuple[tuple[str, str], ...]:
        """Return the path of a word from each directory, as written and with links followed."""
        located = self._located.get(word)
        if located is None:
            home, real_path = self._facts.home, self._facts.lookup.real_path
            paths = [join_path(word, directory=directory, home=home) for directory in self.directories]
            located = self._located[word] = tuple([(path, real_path(path)) for path in paths])
        return located

    def is_uncertain(self, word: str) -> bool:
        """Return whether the word may name other places than those that are found."""
        return is_ambiguous(word) or len(self.directories) > _MAX_DIRECTORIES

    def is_inside_roots(self, word: str) -> bool:
        """Return whether a word names a path in the workspace wherever the line goes, also after links."""
        if self._stays_inside and self.is_direct(word):
            return True
        return not self.is_uncertain(word) and all(
            is_beneath_any(real, self._facts.roots) for _, real in self.locate(word)
        )

    def is_direct(self, word: str) -> bool:
        """Return whether, in each directory, the word names the place that its text says: nothing there is a link."""
        known = self._direct.get(word)
        if known is None:
            known = self._direct[word] = self._check_direct(word)
        return known

    def _check_direct(self, word: str) -> bool:
        if not _ORDINARY.match(word):
            return False
        real_path = self._facts.lookup.real_path
        for prefix in self._searched_prefixes:
            path = prefix + word
            if real_path(path) != path:
                return False
        return True

    @cached_property
    def _stays_inside(self) -> bool:
        roots, directories = self._facts.roots, self.directories
        return len(directories) <= _MAX_DIRECTORIES and all(is_beneath_any(each, roots) for each in directories)

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return _prefixes(self.directories)

    @cached_property
    def _searched_prefixes(self) -> tuple[str, ...]:
        """Those of the directories in which something may be: in a missing one there is no link."""
        lookup = self._facts.lookup
        return _prefixes([each for each in self.directories if not lookup.is_missing(each)])


def _prefixes(directories: Sequence[str]) -> tuple[str, ...]:
    return tuple([join_path("", directory=each, home="") for each in directories])
