"""All that can be typed after a slash at one desk: our own commands, custom ones, and prompts of MCP servers."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import cast

from tejat.app.commands.catalogue import own_commands, own_names
from tejat.app.commands.command import Command, fitting
from tejat.app.commands.premises import DeskParts
from tejat.app.ground import Ground
from tejat.config.custom_commands import CustomCommands, find_commands
from tejat.config.places import SourceTier
from tejat.core.agent_events import Tell
from tejat.core.commands import CommandSummary, Done, Effect, Submit, Suggestion
from tejat.core.errors import TejatError
from tejat.core.nearest import distance
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Tone, Words, told
from tejat.core.words import say, translated
from tejat.mcp.prompts import HELP, PromptCommand

# Where each command is, with the name of its class.
_HOMES = {
    "about": ("about", "About"),
    "bug": ("about", "Bug"),
    "chat": ("chat", "Chat"),
    "clear": ("clearing", "Clear"),
    "compress": ("clearing", "Compress"),
    "context": ("context", "Context"),
    "copy": ("copying", "Copy"),
    "directory": ("directories", "Directory"),
    "docs": ("about", "Docs"),
    "editor": ("screen", "Editor"),
    "help": ("help", "Help"),
    "hooks": ("hooks", "Hooks"),
    "init": ("init", "Init"),
    "mcp": ("mcp", "Mcp"),
    "memory": ("memory", "Memory"),
    "model": ("models", "Model"),
    "permissions": ("permissions", "Permissions"),
    "policy": ("policy", "Policy"),
    "quit": ("leaving", "Quit"),
    "restore": ("undoing", "Restore"),
    "resume": ("resuming", "Resume"),
    "rewind": ("rewinding", "Rewind"),
    "settings": ("settings", "SettingsCommand"),
    "stats": ("stats", "Stats"),
    "theme": ("screen", "Theme"),
    "tools": ("tools", "Tools"),
    "undo": ("undoing", "Undo"),
    "vim": ("screen", "Vim"),
}
_MOST_COMPARED = 200
_MOST_MEANT = 3


class CommandBook:
    """Our own commands are loaded when they are first called. Their names mean nothing else, whoever else uses them."""

    def __init__(self, parts: DeskParts) -> None:
        self._parts = parts
        self._loaded: dict[str, Command] = {}
        self._custom: tuple[Ground, CustomCommands] | None = None

    def summaries(self) -> Sequence[CommandSummary]:
        own, taken = own_commands(), own_names()
        others = {summary.name: summary for summary in (*self._prompt_summaries(), *self._custom_summaries())}
        found = [*own, *(summary for name, summary in others.items() if name not in taken)]
        return sorted(found, key=lambda summary: summary.name)

    def notes(self) -> Sequence[str]:
        """What the person should know of commands that they expect and cannot have."""
        custom, taken = self._customs(), own_names()
        hidden = [
            say(
                "{path} is not used: /{name} is a command of ours. Give the file another name.",
                path=each.path,
                name=name,
            )
            for name, each in custom.commands.items()
            if name in taken
        ]
        return [*hidden, *custom.problems]

    async def suggestions(self, line: str) -> Sequence[Suggestion]:
        name, blank, typed = _split(line)
        if not blank:
            return self._names_like(name)
        own = _name_of_own(name)
        if own is not None:
            return await self._command(own).suggestions(typed)
        prompt = next((prompt for prompt in self._prompts() if prompt.name == name), None)
        return () if prompt is None else _arguments_of(prompt, typed)

    async def run(self, line: str, person: Person, tell: Tell) -> Effect:
        name, _, typed = _split(line.strip())
        try:
            own = _name_of_own(name)
            if own is not None:
                return await self._command(own).run(typed.strip(), person, tell)
            if "/" in name or name.startswith("*") or self._is_of_others(name):
                return Submit(line, line)
            person.show(self._unknown(name))
        except TejatError as error:
            person.show(told(str(error), Tone.BAD))
        except OSError as error:
            person.show(told(_of_the_machine(error), Tone.BAD))
        return Done()

    def _command(self, name: str) -> Command:
        if name not in self._loaded:
            module, made = _HOMES[name]
            kind = cast("type[Command]", getattr(import_module(f"tejat.app.commands.{module}"), made))
            self._loaded[name] = kind(self._parts)
        return self._loaded[name]

    def _names_like(self, typed: str) -> list[Suggestion]:
        """Those that begin with it, then those with a part that does; another name of a command only if it is meant."""
        wanted = typed.casefold()
        first: list[Suggestion] = []
        later: list[Suggestion] = []
        for summary in self.summaries():
            aliases = (alias for alias in summary.aliases if wanted and alias.casefold().startswith(wanted))
            for name in (summary.name, *aliases):
                suggestion = _suggested(name, summary, len(typed) + 1)
                if name.casefold().startswith(wanted):
                    first.append(suggestion)
                elif any(part.startswith(wanted) for part in re.split(r"[:_-]", name.casefold())):
                    later.append(suggestion)
        return [*first, *later]

    def _unknown(self, name: str) -> Sheet:
        names = [each for summary in self.summaries() for each in (summary.name, *summary.aliases)]
        words = Words(say("Unknown command: {name}", name=f"/{name}"), Tone.BAD)
        meant = _nearest(name, names)
        if not meant:
            return Sheet(blocks=(words, Words(say("/help shows all commands."), Tone.QUIET)))
        likely = ", ".join(f"/{each}" for each in meant)
        return Sheet(blocks=(words, Words(say("Did you mean {names}?", names=likely))))

    def _is_of_others(self, name: str) -> bool:
        """The session itself makes a prompt of these, or says why it cannot be had."""
        custom = self._customs()
        if name in custom.commands or name in custom.broken or name in custom.held_back:
            return True
        return any(prompt.name == name for prompt in self._prompts())

    def _customs(self) -> CustomCommands:
        """Read once on each ground, as the session does."""
        ground = self._parts.ground
        if self._custom is None or self._custom[0] is not ground:
            self._custom = ground, find_commands(ground.places, ground.roots[0], ground.trust)
        return self._custom[1]

    def _custom_summaries(self) -> Iterable[CommandSummary]:
        for command in self._customs().commands.values():
            is_own = command.tier is SourceTier.USER
            source = say("your commands") if is_own else say("commands of this project")
            usage = f"/{command.name} " + say("[WORDS]") if "{{args}}" in command.prompt else ""
            yield CommandSummary(command.name, command.description, usage, source=source)

    def _prompts(self) -> Sequence[PromptCommand]:
        foreign = self._parts.workshop.session.foreign
        if foreign is None or foreign.servers is None:
            return ()
        custom = self._customs()
        return foreign.servers.commands(taken={*custom.commands, *custom.broken, *custom.held_back})

    def _prompt_summaries(self) -> Iterable[CommandSummary]:
        for prompt in self._prompts():
            arguments = [f"--{argument.name}=…" for argument in prompt.prompt.arguments]
            yield CommandSummary(
                prompt.name,
                " ".join(translated(prompt.description).split()),
                " ".join((f"/{prompt.name}", *arguments)) if arguments else "",
                source=say("MCP server {name}", name=prompt.server.alias),
            )


def _split(line: str) -> tuple[str, str, str]:
    """The name without its slash, the blank behind it if there is one, and the rest."""
    found = re.fullmatch(r"(?s)/(\S*)(\s?)(.*)", line)
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _name_of_own(name: str) -> str | None:
    """What a command of ours is called that is meant, by its name or another one."""
    wanted = name.casefold()
    return next((own.name for own in own_commands() if wanted in (own.name, *own.aliases)), None)


def _suggested(name: str, summary: CommandSummary, typed: int) -> Suggestion:
    blank = " " if summary.usage else ""
    detail = f"{translated(summary.summary)} ({summary.source})" if summary.source else summary.summary
    return Suggestion(f"/{name}{blank}", typed, label=f"/{name}", detail=detail)


def _arguments_of(prompt: PromptCommand, typed: str) -> list[Suggestion]:
    """Those that were not named yet, where a word begins, and before all of them how to see what they are."""
    word = re.split(r"\s", typed)[-1]
    named = set(re.findall(r"--([^\s=]+)=", typed))
    options = [(f"--{each.name}=", each.description) for each in prompt.prompt.arguments if each.name not in named]
    if word == typed:
        options.append((HELP, say("what can be typed here")))
    return fitting(word, options)


def _nearest(name: str, known: Sequence[str]) -> list[str]:
    """Names that differ little from this one, or that it is the beginning of, the nearest first."""
    wanted = name.casefold()
    if not wanted or len(wanted) > _MOST_COMPARED:
        return []
    near = [(distance(wanted, each.casefold()), each) for each in known[:_MOST_COMPARED]]
    likely = [pair for pair in near if pair[0] <= max(1, len(wanted) // 3) or pair[1].casefold().startswith(wanted)]
    return [each for _, each in sorted(likely)[:_MOST_MEANT]]


def _of_the_machine(error: OSError) -> str:
    why = error.strerror or str(error)
    if error.filename is None:
        return say("That did not work: {why}.", why=why)
    return say("That did not work: {path}: {why}.", path=error.filename, why=why)
