"""A call that runs a shell line, with the effects of its commands."""

from collections.abc import Sequence
from functools import cached_property

from tejat.core.text.paths import is_beneath_any
from tejat.policy.effects.command import CommandEffects, command_effects
from tejat.policy.evaluation.call import Call
from tejat.policy.paths import is_ambiguous, resolve_path
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.types import CallFacts

_CHANGES_DIRECTORY = ("cd", "pushd")
_MAX_DIRECTORIES = 20


class ShellCall(Call):
    def __init__(self, facts: CallFacts, line: CommandLine) -> None:
        super().__init__(facts)
        self.line = line
        self.effects: dict[ShellCommand, CommandEffects] = {
            command: command_effects(command.words) for command in line.commands
        }

    @cached_property
    def paths(self) -> tuple[str, ...]:
        words = [word for effects in self.effects.values() for word in effects.paths]
        words += [redirection.target for redirection in self.line.redirections if redirection.target is not None]
        return (*self.facts.paths, *self._resolve_from_all_directories(words))

    @cached_property
    def written_paths(self) -> tuple[str, ...]:
        changing = [effects for effects in self.effects.values() if effects.writes or effects.destroys]
        words = [word for effects in changing for word in effects.paths]
        written = [each.target for each in self.line.redirections if each.writes and not each.is_harmless]
        words += [target for target in written if target is not None]
        return (*self.facts.paths, *self._resolve_from_all_directories(words))

    def _resolve_from_all_directories(self, words: Sequence[str]) -> list[str]:
        """Resolve the words from each directory that the line may change to."""
        directories = [self._directory]
        for command in self.line.commands:
            if command.name in _CHANGES_DIRECTORY and len(command.words) > 1 and len(directories) < _MAX_DIRECTORIES:
                directories.append(resolve_path(command.words[-1], directory=directories[-1], home=self.facts.home))
        return [resolve_path(word, directory=place, home=self.facts.home) for place in directories for word in words]

    @property
    def _directory(self) -> str:
        return self.facts.directory or (self.facts.roots[0] if self.facts.roots else "/")

    def resolve(self, word: str) -> str:
        """Resolve a word by its text, from the directory that the line runs in."""
        return resolve_path(word, directory=self._directory, home=self.facts.home)

    def is_inside_roots(self, word: str) -> bool:
        return not is_ambiguous(word) and is_beneath_any(self.resolve(word), self.facts.roots)
