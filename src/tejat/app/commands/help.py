"""`/help`: which commands and keys there are, and how one command is called."""

from collections.abc import Sequence

from tejat.app.commands.book import CommandBook
from tejat.app.commands.command import Command, fitting
from tejat.core.agent_events import Tell
from tejat.core.commands import CommandSummary, Done, Effect, Suggestion
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words, told
from tejat.core.words import say


class Help(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        book = CommandBook(self.parts)
        summaries = book.summaries()
        if not arguments:
            person.show(_everything(summaries, book.notes()))
            return Done()
        name = arguments.removeprefix("/").casefold()
        found = [each for each in summaries if name in (each.name.casefold(), *each.aliases)]
        person.show(_one(found[0]) if found else told(_unknown(arguments), Tone.BAD))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, ((each.name, each.summary) for each in CommandBook(self.parts).summaries()))


def _unknown(typed: str) -> str:
    return say("There is no command {name}. /help shows all of them.", name=f"/{typed.removeprefix('/')}")


def _everything(summaries: Sequence[CommandSummary], notes: Sequence[str]) -> Sheet:
    blocks: list[Block] = []
    for source in dict.fromkeys(("", *(each.source for each in summaries))):
        rows = tuple((_names(each), each.summary) for each in summaries if each.source == source)
        if rows:
            title = say("From {source}", source=source) if source else say("Commands")
            blocks += [Words(title, Tone.STRONG), Table(rows)]
    blocks += [Words(note, Tone.WARNING) for note in notes]
    blocks += [
        Words(say("/help COMMAND tells more about one of them."), Tone.QUIET),
        Words(say("In a prompt"), Tone.STRONG),
        Table(_in_a_prompt()),
        Words(say("Keys"), Tone.STRONG),
        Table(_keys()),
    ]
    return Sheet(blocks=tuple(blocks))


def _one(summary: CommandSummary) -> Sheet:
    blocks: list[Block] = [Words(summary.summary)]
    if summary.usage:
        blocks.append(Words(say("Usage: {usage}", usage=summary.usage)))
    if summary.aliases:
        names = ", ".join(f"/{alias}" for alias in summary.aliases)
        blocks.append(Words(say("Also called {names}", names=names)))
    if summary.source:
        blocks.append(Words(say("It comes from {source}.", source=summary.source)))
    return Sheet(f"/{summary.name}", tuple(blocks))


def _names(summary: CommandSummary) -> str:
    return ", ".join(f"/{name}" for name in (summary.name, *summary.aliases))


def _in_a_prompt() -> tuple[tuple[str, str], ...]:
    return (
        (say("@path"), say("adds a file or a directory; Tab completes the path")),
        (say("@server:uri"), say("adds a resource of an MCP server")),
        (say("!command"), say("runs a shell command yourself; what it prints joins the conversation")),
        ("!", say("alone: switches to a mode where every line is a shell command, and back")),
    )


def _keys() -> tuple[tuple[str, str], ...]:
    return (
        (say("Enter"), say("send; while work goes on, the line waits for its turn")),
        (say("Ctrl-S"), say("tell the model now, while it is at work")),
        (say("Alt-Enter, Ctrl-J"), say("a new line")),
        (say("Esc, Ctrl-C"), say("stop what is going on; Ctrl-C twice leaves")),
        (say("Ctrl-D"), say("leave, where the line is empty")),
        (say("Tab"), say("complete")),
        (say("Shift-Tab"), say("the next approval mode")),
        (say("Up, Down, Ctrl-R"), say("earlier lines; look for one")),
        (say("Ctrl-G"), say("write the line in your editor")),
        (say("Ctrl-O"), say("show all of the last output that was folded")),
    )
