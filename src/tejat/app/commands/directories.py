"""`/directory`: where the session works, and further directories for it."""

import os
from collections.abc import Sequence

from tejat.app.agent import Succession, context_of
from tejat.app.commands.command import Command, fitting
from tejat.app.ground import Ground
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.history import user_message
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Tone, Words
from tejat.core.value import replace
from tejat.core.words import say
from tejat.engine.folder_tree import folder_tree, on_one_line
from tejat.workspace.roots import Roots

_USAGE = "/directory show | add PATH[,PATH]"


class Directory(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        word, _, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case "show", "":
                person.show(self._shown())
            case "add", "":
                raise UsageError(say("Please provide at least one path to add."))
            case "add", paths:
                await self._add(paths.split(","), person)
            case _:
                raise UsageError(say("Usage: {usage}", usage=_USAGE))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            return fitting(word, [("show", say("where this session works")), ("add", say("work there too"))])
        return _directories_like(rest.rpartition(",")[2], self.parts.ground) if word == "add" else ()

    def _shown(self) -> Sheet:
        paths = "\n".join(f"- {path}" for path in self.parts.workshop.roots.paths)
        return Sheet(say("Current workspace directories:"), (Words(paths),))

    async def _add(self, paths: Sequence[str], person: Person) -> None:
        succession = self.parts.succession
        if succession.session.is_busy:
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        added: list[str] = []
        known: list[str] = []
        problems: list[Words] = []
        for typed in filter(None, map(str.strip, paths)):
            path = _absolute(typed, succession.ground)
            try:
                (added if _add_root(succession, path) else known).append(path)
            except UsageError as error:
                message = say("Error adding '{path}': {why}", path=typed, why=error)
                problems.append(Words(message, Tone.BAD))
        if added:
            await _tell_all(succession, added)
        blocks = [
            *_listed(say("Successfully added directories:"), added, Tone.GOOD),
            *_listed(say("The following directories are already in the workspace:"), known, Tone.PLAIN),
            *problems,
        ]
        person.show(Sheet(blocks=tuple(blocks)))


def _add_root(succession: Succession, path: str) -> bool:
    """Whether it is new. Raises UsageError where it cannot be used, and then nothing has changed."""
    roots = succession.workshop.roots
    with Roots([path]) as tried:
        if any(tried.first.real_path == root.real_path for root in roots.directories):
            return False
    succession.workshop.house.add_root(path)
    succession.ground = replace(succession.ground, roots=(*succession.ground.roots, path))
    return True


async def _tell_all(succession: Succession, added: Sequence[str]) -> None:
    """The model is told with the next prompt, the servers at once."""
    ground, conversation = succession.ground, succession.session.conversation
    if ground.settings.load_memory_from_include_directories.value:
        conversation.take_context(context_of(ground))
    respect_git_ignore = ground.settings.respect_git_ignore.value
    trees = "\n\n".join(folder_tree(path, respect_git_ignore=respect_git_ignore) for path in added)
    names = "\n".join(f"  - {on_one_line(path)}" for path in added)
    text = f"From now on I am working in these directories too:\n{names}\nThis is what is in there:\n\n{trees}"
    succession.session.note(user_message(text), "")
    foreign = succession.workshop.session.foreign
    if foreign is not None and foreign.servers is not None:
        await foreign.servers.tell_roots_changed()


def _listed(heading: str, paths: Sequence[str], tone: Tone) -> list[Words]:
    return [Words("\n".join((heading, *(f"- {path}" for path in paths))), tone)] if paths else []


def _absolute(typed: str, ground: Ground) -> str:
    if typed == "~" or typed.startswith("~/"):
        typed = ground.places.home + typed[1:]
    return os.path.abspath(os.path.join(ground.roots[0], typed))


def _directories_like(typed: str, ground: Ground) -> list[Suggestion]:
    """Those on disk whose path begins as it was typed."""
    before, slash, beginning = typed.rpartition("/")
    try:
        with os.scandir(_absolute(before + slash, ground)) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and entry.name.startswith(beginning))
    except OSError:
        return []
    is_hidden = beginning.startswith(".")
    shown = [name for name in names if is_hidden or not name.startswith(".")]
    return [Suggestion(f"{before}{slash}{name}/", len(typed), label=f"{name}/") for name in shown[:_MOST_SUGGESTED]]


_MOST_SUGGESTED = 50
