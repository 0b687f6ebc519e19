"""A call that runs a shell line, with the effects of its commands."""

import json
import shlex
from collections.abc import Sequence
from functools import cached_property

from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.core.text.secret_files import find_secret_suspects, is_secret_directory
from tejat.policy.control_files import find_control_suspects, may_be_control_directory
from tejat.policy.effects.command import CommandEffects, command_effects
from tejat.policy.evaluation.call import ArgumentsJson, Call, command_expressions
from tejat.policy.evaluation.word_places import WordPlaces
from tejat.policy.paths import is_ambiguous, join_path, normalize_path, resolve_path
from tejat.policy.rules.patterns import matches_regex
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.shell.wrappers import command_names
from tejat.policy.types import CallFacts, Decision, PolicyRule


class ShellCall(Call):
    def __init__(self, facts: CallFacts, line: CommandLine) -> None:
        super().__init__(facts)
        self.line = line
        self.effects: dict[ShellCommand, CommandEffects] = {
            command: command_effects(command.words) for command in line.commands
        }
        self._word_places = WordPlaces(facts, line, self._directory)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        return (*self.facts.paths, *self._word_places.find(self._path_words))

    @cached_property
    def written_paths(self) -> tuple[str, ...]:
        return (*self.facts.paths, *self._word_places.find(self._written_words))

    @cached_property
    def _path_words(self) -> Sequence[str]:
        words = [word for effects in self.effects.values() for word in effects.paths]
        words += [redirection.target for redirection in self.line.redirections if redirection.target is not None]
        return words

    @cached_property
    def _written_words(self) -> Sequence[str]:
        changing = [effects for effects in self.effects.values() if effects.writes or effects.destroys]
        words = [word for effects in changing for word in effects.paths]
        written = [each.target for each in self.line.redirections if each.writes and not each.is_harmless]
        words += [target for target in written if target is not None]
        return words

    def _possible_control_files(self) -> Sequence[str]:
        places = self._word_places
        if any(map(self._may_hold_control_files, places.directories)):
            return self.written_paths
        return (*self.facts.paths, *places.find_suspects(self._written_words, find_control_suspects))

    def _may_hold_control_files(self, directory: str) -> bool:
        # By its full path, a root may be a control file itself.
        holds_root = any(root != directory and is_beneath(root, directory) for root in self.facts.roots)
        return holds_root or may_be_control_directory(directory, root=self._nearest_root(directory))

    def _possible_secret_files(self) -> Sequence[str]:
        places = self._word_places
        if any(map(is_secret_directory, places.directories)):
            return self.paths
        return (*self.facts.paths, *places.find_suspects(self._path_words, find_secret_suspects))

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
        return self._word_places.find((word,))

    def find_places(self, word: str) -> frozenset[tuple[str, str]] | None:
        """Return the path of a word as written and with links followed, from each directory; None if unknown."""
        if self._word_places.is_uncertain(word):
            return None
        return frozenset((normalize_path(path), real) for path, real in self._word_places.locate(word))

    def find_outside(self, words: Sequence[str]) -> str | None:
        """Return the first word that may name a path outside the workspace, wherever the line goes and after links."""
        return self._word_places.find_outside(words)

    def is_named_outside(self, word: str) -> bool:
        """Return whether the text of a word alone names a path outside the workspace."""
        place = resolve_path(word, directory=self._directory, home=self.facts.home)
        return is_ambiguous(word) or not is_beneath_any(place, self.facts.roots)

    def links_outside(self, word: str) -> bool:
        """Return whether a directory holds links that lead out of the workspace."""
        roots = self.facts.roots
        return any(
            self.facts.lookup.links_outside(self._join(word, place), roots) for place in self._word_places.directories
        )

    def holds_secrets(self, word: str) -> bool:
        """Return whether a directory holds files that usually hold secrets."""
        return any(self.facts.lookup.holds_secrets(self._join(word, place)) for place in self._word_places.directories)

    def git_program(self, command: ShellCommand) -> str | None:
        """Return a setting with which a repository makes this git command run a program, None if there is none."""
        if command.name != "git":
            return None
        named = [path for path, option in zip(command.words[2:], command.words[1:], strict=False) if option == "-C"]
        places = [self._join(path, place) for place in self._word_places.directories for path in (*named, ".")]
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
