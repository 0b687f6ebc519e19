"""`/about`, `/bug` and `/docs`: what runs here, how to report a defect, where to read more."""

import os
import platform
from urllib.parse import quote

from tejat import __version__
from tejat.app.checks import configuration_checks
from tejat.app.commands.command import Command
from tejat.config.settings import Setting
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Source, Table, Tone, Words
from tejat.core.value import replace
from tejat.core.words import joined, say


class About(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, tell
        ground, given = self.parts.ground, self.parts.succession.options.environment
        # The model that is asked now may be another one than the settings name.
        asked = Setting(self.parts.session.conversation.model.name, say("asked now"))
        ground = replace(ground, settings=replace(ground.settings, model_name=asked))
        own = os.environ if given is None else given
        checks = configuration_checks(ground, own=own, default_model=asked.value)
        rows = [(joined(": ", (check.group, check.name)), check.how) for check in checks]
        blocks = (
            Table(tuple(_facts(self))),
            Words(say("What it goes by"), Tone.STRONG),
            Table(tuple(rows)),
        )
        person.show(Sheet(say("About Tejat"), blocks))
        return Done()


class Bug(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        if not arguments:
            raise UsageError(say("Usage: {usage}", usage="/bug TITLE"))
        facts = "\n".join(f"{name}: {told}" for name, told in _facts(self))
        template = self.parts.ground.settings.bug_command
        if template is None:
            blocks = (
                Words(say("Nothing was sent. Put this into your report:")),
                Source(f"{arguments}\n\n{facts}"),
            )
        else:
            address = template.value.replace("{title}", quote(arguments, safe="")).replace(
                "{info}", quote(facts, safe="")
            )
            blocks = (Words(say("Nothing was sent. Open this address to report it:")), Source(address))
        person.show(Sheet(blocks=blocks))
        return Done()


class Docs(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, tell
        pages = (
            ("agent.md", say("the agent: prompts, sessions, context files, custom commands")),
            ("cli.md", say("the command line")),
            ("commands.md", say("what can be typed after a slash")),
            ("hooks.md", say("commands that run around tools and prompts")),
            ("mcp.md", say("MCP servers")),
            ("models.md", say("models, keys and costs")),
            ("policy.md", say("rules: what may run without asking")),
            ("python.md", say("Tejat as a library")),
            ("sandbox.md", say("the sandbox around commands")),
            ("settings.md", say("settings, variables and trust")),
            ("terminal.md", say("the terminal: keys, questions, colours, screen readers")),
            ("tools.md", say("the tools")),
            ("undo.md", say("taking back changes")),
        )
        where = Words(say("The documentation is in the directory docs of the source code:"))
        person.show(Sheet(say("Documentation"), (where, Table(pages))))
        return Done()


def _facts(command: Command) -> list[tuple[str, str]]:
    """What helps to understand a report. Nothing secret is among it."""
    parts = command.parts
    return [
        (say("Tejat"), __version__),
        (say("Python"), platform.python_version()),
        (say("System"), f"{platform.system()} {platform.release()} {platform.machine()}"),
        (say("Model"), parts.session.conversation.model.name),
        (say("Mode"), parts.workshop.session.scheduler.permission.policy.mode.value),
        (say("Sandbox"), parts.workshop.house.sandbox.value),
        (say("Session"), parts.session.session_id),
    ]
