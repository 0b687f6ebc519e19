"""`/quit`: leave, with the figures of the session shown last."""

from tejat.app.commands.command import Command
from tejat.app.commands.stats import Stats
from tejat.core.agent_events import Tell
from tejat.core.commands import Effect, Leave
from tejat.core.person import Person


class Quit(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments
        await Stats(self.parts).run("", person, tell)
        return Leave()
