"""A call that runs a shell line, with what its commands do."""

from collections.abc import Sequence
from functools import cached_property

from tejat.policy.call import Call
from tejat.policy.command_line import Command, CommandLine
from tejat.policy.effects import Effects, effects_of
from tejat.policy.places import is_inside, leads_astray, resolved
from tejat.policy.rules import Facts

_CHANGES_DIRECTORY = ("cd", "pushd")
_MOST_DIRECTORIES = 20


class ShellCall(Call):
    def __init__(self, facts: Facts, line: CommandLine) -> None:
        super().__init__(facts)
        self.line = line
        self.effects: dict[Command, Effects] = {command: effects_of(command.words) for command in line.commands}

    @cached_property
    def places(self) -> tuple[str, ...]:
        words = [word for effects in self.effects.values() for word in effects.paths]
        words += [redirection.target for redirection in self.line.redirections if redirection.target is not None]
        return (*self.facts.paths, *self._resolved_everywhere(words))

    @cached_property
    def changed_places(self) -> tuple[str, ...]:
        changing = [effects for effects in self.effects.values() if effects.writes or effects.destroys]
        words = [word for effects in changing for word in effects.paths]
        words += [
            redirection.target
            for redirection in self.line.redirections
            if redirection.writes and not redirection.is_harmless and redirection.target is not None
        ]
        return (*self.facts.paths, *self._resolved_everywhere(words))

    def _resolved_everywhere(self, words: Sequence[str]) -> list[str]:
        """Where the words lead from each directory that the line may be in by then."""
        directories = [self._directory]
        for command in self.line.commands:
            if command.name in _CHANGES_DIRECTORY and len(command.words) > 1 and len(directories) < _MOST_DIRECTORIES:
                directories.append(resolved(command.words[-1], directory=directories[-1], home=self.facts.home))
        return [resolved(word, directory=place, home=self.facts.home) for place in directories for word in words]

    @property
    def _directory(self) -> str:
        return self.facts.directory or (self.facts.roots[0] if self.facts.roots else "/")

    def resolved(self, word: str) -> str:
        """Where the word leads from the directory that the line would run in, by its text."""
        return resolved(word, directory=self._directory, home=self.facts.home)

    def is_plainly_inside(self, word: str) -> bool:
        return not leads_astray(word) and is_inside(self.resolved(word), self.facts.roots)
