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
# A path in its shortest form, without hidden names and patterns.
_ORDINARY = re.compile(r"/?(?:[^/.~*?\[\0][^/*?\[\0]*+(?:/(?=[^/.])|\Z))++\Z")
_MAX_ORDINARY_LENGTH = 255


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

    Most words are direct: in each directory they name just the entry that their text says, because nothing there is a
    link. They are judged by their texts, apart from the directories: of both together there may be ten thousand.
    """

    def __init__(self, facts: CallFacts, line: CommandLine, directory: str) -> None:
        self._facts = facts
        self._line = line
        self._directory = directory
        self._direct: dict[str, str] = {}
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
        texts = self._direct_texts(words)
        selected = {"", *select([text for text in texts if text])}
        return self.find([word for word, text in zip(words, texts, strict=True) if text in selected])

    def _find_places(self, word: str) -> tuple[str, ...]:
        (text,) = self._direct_texts((word,))
        if text:
            return (text,) if text.startswith("/") else tuple([prefix + text for prefix in self._prefixes])
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

    def find_outside(self, words: Sequence[str]) -> str | None:
        """Return the first word that may name a path outside the workspace, wherever the line goes and after links."""
        is_below = self._stays_inside
        for word, text in zip(words, self._direct_texts(words), strict=True):
            if not (is_below and text and text[0] != "/") and not self._is_inside_roots(word):
                return word
        return None

    def _is_inside_roots(self, word: str) -> bool:
        roots = self._facts.roots
        return not self.is_uncertain(word) and all(is_beneath_any(real, roots) for _, real in self.locate(word))

    def _direct_texts(self, words: Sequence[str]) -> list[str]:
        """Return the path that each word has in every directory, or an absolute one; empty if it is not direct."""
        direct = self._direct
        for word in words:
            if word not in direct:
                direct[word] = self._find_direct_text(word)
        return [direct[word] for word in words]

    def _find_direct_text(self, word: str) -> str:
        text = word
        if word.startswith("./") and not word.startswith(".//"):
            text = word[2:]
        elif word.startswith("~/"):
            text = f"{self._facts.home}{word[1:]}"
        if len(text) > _MAX_ORDINARY_LENGTH or not _ORDINARY.match(text):
            return ""
        real_path = self._facts.lookup.real_path
        for prefix in ("",) if text.startswith("/") else self._searched_prefixes:
            path = prefix + text
            if real_path(path) != path:
                return ""
        return text

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
