"""A call that runs a shell line, with the effects of its commands."""

import json
import shlex
from collections.abc import Sequence
from functools import cached_property

from tejat.core.text.paths import is_beneath_any
from tejat.policy.effects.command import CommandEffects, command_effects
from tejat.policy.evaluation.call import ArgumentsJson, Call, command_expressions
from tejat.policy.paths import PathLookup, is_ambiguous, join_path, normalize_path, resolve_path
from tejat.policy.rules.patterns import matches_regex
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.shell.wrappers import command_names
from tejat.policy.types import CallFacts, Decision, PolicyRule

_CHANGES_DIRECTORY = ("cd", "pushd")
_MAX_DIRECTORIES = 10
_GLOB_CHARACTERS = frozenset("*?[")


def working_directories(line: CommandLine, directory: str, *, home: str, lookup: PathLookup) -> tuple[str, ...]:
    """Return every directory that a command of the line may run in; more than ten mean that others are possible."""
    directories = {directory: None}
    for command in line.commands:
        if command.name in _CHANGES_DIRECTORY and len(directories) <= _MAX_DIRECTORIES:
            target = command.words[-1] if len(command.words) > 1 else "~"
            changed = [join_path(target, directory=each, home=home) for each in directories]
            directories |= dict.fromkeys(map(lookup.real_path, changed))
    return tuple(directories)


class ShellCall(Call):
    def __init__(self, facts: CallFacts, line: CommandLine) -> None:
        super().__init__(facts)
        self.line = line
        self.effects: dict[ShellCommand, CommandEffects] = {
            command: command_effects(command.words) for command in line.commands
        }
        self._located: dict[str, tuple[tuple[str, str], ...]] = {}
        self._places_of: dict[str, tuple[str, ...]] = {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        words = [word for effects in self.effects.values() for word in effects.paths]
        words += [redirection.target for redirection in self.line.redirections if redirection.target is not None]
        return (*self.facts.paths, *self._places(words))

    @cached_property
    def written_paths(self) -> tuple[str, ...]:
        changing = [effects for effects in self.effects.values() if effects.writes or effects.destroys]
        words = [word for effects in changing for word in effects.paths]
        written = [each.target for each in self.line.redirections if each.writes and not each.is_harmless]
        words += [target for target in written if target is not None]
        return (*self.facts.paths, *self._places(words))

    def _matches_arguments(self, rule: PolicyRule, pattern: str) -> bool:
        """Match the whole line, and for a rule that denies or asks also each command as if it were the line."""
        matches_line = super()._matches_arguments(rule, pattern)
        if matches_line or rule.decision is Decision.ALLOW:
            return matches_line
        return any(arguments.matches(pattern, is_strict=True) for _, arguments in self._commands_as_lines)

    def _matches_command_pattern(self, pattern: str) -> bool:
        """Match the line and each of its commands, as text and, as Gemini CLI does, in the JSON of the arguments."""
        lines = [(str(self.facts.arguments.get("command")), self.arguments_json), *self._commands_as_lines]
        of_text, of_json = command_expressions(pattern)
        return any(
            matches_regex(of_text, text) or arguments.matches(of_json, is_strict=True) for text, arguments in lines
        )

    @cached_property
    def searched_text(self) -> str:
        """The arguments, and the words of each command as they are and as JSON escapes them.

        Quotes are left out: the literals of a pattern, which are looked for here, contain none.
        """
        texts = [self.arguments_json.text, str(self.facts.arguments.get("command"))]
        for command in self.effects:
            for name in command_names(command):
                text = " ".join((name, *command.words[1:]))
                texts.append(text)
                if not text.isprintable():
                    texts.append(json.dumps(text, ensure_ascii=False))
        return "\n".join(texts)

    @cached_property
    def _commands_as_lines(self) -> tuple[tuple[str, ArgumentsJson], ...]:
        """Each command as if it were the whole line, by each of its names: the text, and the arguments with it."""
        lines: dict[str, None] = {}
        for command in self.effects:
            for name in command_names(command):
                words = (name, *command.words[1:])
                lines |= dict.fromkeys((" ".join(words), shlex.join(words)))
        return tuple((line, self.arguments_json.with_command(line)) for line in lines)

    @cached_property
    def _directories(self) -> tuple[str, ...]:
        """Every directory that a command of the line may run in; a change may fail, or happen in a subshell."""
        facts = self.facts
        return working_directories(self.line, self._directory, home=facts.home, lookup=facts.lookup)

    def _places(self, words: Sequence[str]) -> list[str]:
        """Return the paths of the words, as written and with links followed, from each directory."""
        known = self._places_of
        found: dict[str, None] = {}
        for word in words:
            places = known.get(word)
            if places is None:
                places = known[word] = self._find_word_places(word)
            for path in places:
                found[path] = None
        return list(found)

    def _find_word_places(self, word: str) -> tuple[str, ...]:
        lookup = self.facts.lookup
        located = self._locate(word)
        places = [place for path, real in located for place in (normalize_path(path), real)]
        if not _GLOB_CHARACTERS.isdisjoint(word):
            places += [lookup.real_path(match) for path, _ in located for match in lookup.expand(path)]
        return tuple(dict.fromkeys(places))

    def _locate(self, word: str) -> tuple[tuple[str, str], ...]:
        """Return the path of a word from each directory, as written and with links followed."""
        located = self._located.get(word)
        if located is None:
            home, real_path = self.facts.home, self.facts.lookup.real_path
            paths = [join_path(word, directory=directory, home=home) for directory in self._directories]
            located = self._located[word] = tuple([(path, real_path(path)) for path in paths])
        return located

    def _join(self, word: str, directory: str) -> str:
        return join_path(word, directory=directory, home=self.facts.home)

    @property
    def _directory(self) -> str:
        return self.facts.directory or (self.facts.roots[0] if self.facts.roots else "/")

    def resolve(self, word: str) -> str:
        """Return the path of a word, with links followed, from the directory that the line runs in."""
        return self.facts.lookup.real_path(self._join(word, self._directory))

    def places(self, word: str) -> Sequence[str]:
        """Return every path that a word may name, as written and with links followed."""
        return self._places((word,))

    def find_places(self, word: str) -> frozenset[tuple[str, str]] | None:
        """Return the path of a word as written and with links followed, from each directory; None if unknown."""
        if is_ambiguous(word) or len(self._directories) > _MAX_DIRECTORIES:
            return None
        return frozenset((normalize_path(path), real) for path, real in self._locate(word))

    def is_inside_roots(self, word: str) -> bool:
        """Return whether a word names a path in the workspace wherever the line goes, also after links."""
        if is_ambiguous(word) or len(self._directories) > _MAX_DIRECTORIES:
            return False
        return all(is_beneath_any(real, self.facts.roots) for _, real in self._locate(word))

    def is_named_outside(self, word: str) -> bool:
        """Return whether the text of a word alone names a path outside the workspace."""
        place = resolve_path(word, directory=self._directory, home=self.facts.home)
        return is_ambiguous(word) or not is_beneath_any(place, self.facts.roots)

    def links_outside(self, word: str) -> bool:
        """Return whether a directory holds links that lead out of the workspace."""
        roots = self.facts.roots
        return any(self.facts.lookup.links_outside(self._join(word, place), roots) for place in self._directories)

    def holds_secrets(self, word: str) -> bool:
        """Return whether a directory holds files that usually hold secrets."""
        return any(self.facts.lookup.holds_secrets(self._join(word, place)) for place in self._directories)

    def git_program(self, command: ShellCommand) -> str | None:
        """Return a setting with which a repository makes this git command run a program, None if there is none."""
        if command.name != "git":
            return None
        named = [path for path, option in zip(command.words[2:], command.words[1:], strict=False) if option == "-C"]
        places = [self._join(path, place) for place in self._directories for path in (*named, ".")]
        found = (self.facts.lookup.git_programs(self.facts.lookup.real_path(place)) for place in places)
        return next((setting for settings in found for setting in settings), None)

    def other_link_maker(self, command: ShellCommand | None) -> ShellCommand | None:
        """Return another command of the line that may make links, so that no path can be told before it ran."""
        return next((each for each in self._link_makers if each != command), None)

    @cached_property
    def unwrapped(self) -> dict[tuple[str, ...], ShellCommand]:
        """The commands that run behind no wrapper, by their words."""
        return {command.words: command for command in reversed(self.effects) if not command.wrappers}

    @cached_property
    def named_paths(self) -> dict[frozenset[str], bool]:
        """Whether any command names one of some paths, as far as that was looked up."""
        return {}

    @cached_property
    def longest_wrapped(self) -> dict[tuple[str, ...], int]:
        """The number of words of the longest command behind each sequence of wrappers."""
        found: dict[tuple[str, ...], int] = {}
        for command in self.effects:
            found[command.wrappers] = max(len(command.words), found.get(command.wrappers, 0))
        return found

    @cached_property
    def _link_makers(self) -> tuple[ShellCommand, ...]:
        return tuple(each for each, effects in self.effects.items() if effects.makes_links)
