"""`/mcp`: the MCP servers of the session, how they are, what they offer, and switching them."""

from collections.abc import Sequence
from enum import Enum, auto

from tejat.app.commands.command import Command, fitting
from tejat.app.mcp_login import ServerLogin
from tejat.app.server_tools import ServerTools
from tejat.app.servers import given_secrets
from tejat.config.mcp_enablement import switch_server
from tejat.config.settings import servers_of
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.json_text import dump_json
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Source, Tone, Words, told
from tejat.core.words import say, say_count, translated
from tejat.engine.secret_mask import SecretMask
from tejat.mcp.failures import McpFailure
from tejat.mcp.values import ServerState, ServerStatus
from tejat.tools.registry import Entry

USAGE = "/mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"
_MOST_LAST_WORDS = 3


class Detail(Enum):
    """How much is shown of each tool."""

    NAMES = auto()
    DESCRIPTIONS = auto()
    SCHEMAS = auto()


class Mcp(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        match arguments.split():
            case [] | ["list" | "nodesc"]:
                self._show(person, Detail.NAMES)
            case ["desc" | "descriptions"]:
                self._show(person, Detail.DESCRIPTIONS)
            case ["schema"]:
                self._show(person, Detail.SCHEMAS)
            case ["refresh" | "reload"]:
                await self._refresh(person)
            case ["auth", name]:
                await self._log_in(name, person)
            case [("enable" | "disable") as word, name]:
                self._switch(name, person, on=word == "enable")
            case _:
                raise UsageError(say("Usage: {usage}", usage=USAGE))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        if blank:
            names = servers_of(self.parts.ground.settings) if word in ("auth", "enable", "disable") else ()
            return fitting(rest, ((name, "") for name in names))
        return fitting(
            word,
            [
                ("list", say("servers and the names of their tools")),
                ("desc", say("with descriptions")),
                ("nodesc", say("names only")),
                ("schema", say("with descriptions and parameters")),
                ("auth", say("log in at a server")),
                ("refresh", say("connect all servers anew")),
                ("enable", say("use a server again, from the next session on")),
                ("disable", say("do not start a server, from the next session on")),
            ],
        )

    @property
    def _servers(self) -> ServerTools | None:
        foreign = self.parts.workshop.session.foreign
        return None if foreign is None else foreign.servers

    def _show(self, person: Person, detail: Detail) -> None:
        configured = servers_of(self.parts.ground.settings)
        if not configured:
            person.show(told(say("No MCP servers configured. `tejat mcp add` adds one; docs/mcp.md tells more.")))
            return
        servers = self._servers
        statuses = () if servers is None else servers.statuses()
        starting = sum(status.state is ServerState.CONNECTING for status in statuses)
        if servers is None:
            starting = len(configured)
        blocks: list[Block] = []
        if starting:
            waiting = say("MCP servers are starting up ({count} initializing)...", count=starting)
            note = say("Note: First startup may take longer. Tool availability will update automatically.")
            blocks += [Words(waiting, Tone.WARNING), Words(note, Tone.QUIET)]
        for status in statuses:
            blocks += self._described(status, detail)
        person.show(Sheet(say("Configured MCP servers:"), tuple(blocks)))

    def _described(self, status: ServerStatus, detail: Detail) -> list[Block]:
        ground = self.parts.ground
        mask = SecretMask({**ground.named_secrets, **given_secrets(ground.settings)})
        tools = self.parts.workshop.session.registry.tools_by_server(status.alias)
        words, tone = _state(status.state)
        blocks: list[Block] = [Words(f"{status.alias} - {words}{_count(status.state, len(tools))}", tone)]
        if status.state in (ServerState.CONNECTED, ServerState.DISCONNECTED):
            blocks += _tools(tools, detail)
        if status.catalogue.prompts:
            names = ", ".join(prompt.name for prompt in status.catalogue.prompts)
            blocks.append(Words(say("  Prompts: {names}", names=names)))
        if status.catalogue.resources:
            blocks.append(Words(say("  Resources: {count}", count=f"{len(status.catalogue.resources):,}")))
        if status.reason:
            said = (status.reason, *status.last_words[-_MOST_LAST_WORDS:])
            blocks.append(Words("\n".join(f"  {translated(mask.text(line))}" for line in said), Tone.QUIET))
        if status.state is ServerState.NEEDS_LOGIN:
            blocks.append(Words(say("  /mcp auth {name} logs in.", name=status.alias), Tone.WARNING))
        return blocks

    async def _refresh(self, person: Person) -> None:
        servers = self._servers
        if servers is not None:
            person.show(told(say("Restarting MCP servers..."), Tone.QUIET))
            await servers.try_again()
        self._show(person, Detail.NAMES)

    async def _log_in(self, name: str, person: Person) -> None:
        login = ServerLogin(name, self.parts.ground)

        async def show(address: str) -> None:
            words = Words(say("Log in with a browser at this address:"))
            person.show(Sheet(blocks=(words, Source(address))))

        async def read_address() -> str:
            asked = say("Where the browser runs on another machine, paste the address that it ends at")
            pasted = await person.enter(asked)
            if pasted is None:
                person.show(told(say("The browser is waited for. Ctrl-C stops that."), Tone.QUIET))
            return pasted or ""

        try:
            await login.log_in(show, read_address)
        except McpFailure as failure:
            person.show(told(failure.message, Tone.BAD))
            return
        kept = say("Logged in at {name}. The login is kept in {directory}", name=name, directory=login.directory)
        person.show(told(kept, Tone.GOOD))
        if self._servers is not None:
            await self._servers.try_again(name)

    def _switch(self, name: str, person: Person, *, on: bool) -> None:
        known = servers_of(self.parts.ground.settings)
        if name not in known:
            there = ", ".join(known) or say("none")
            raise UsageError(say("There is no MCP server {name}. Known: {names}.", name=name, names=there))
        has_changed = switch_server(self.parts.ground.places, name, on=on)
        if not has_changed:
            text = say("{name} is switched on already.", name=name) if on else say("{name} is off already.", name=name)
        elif on:
            text = say("{name} is switched on. It will be started with the next session.", name=name)
        else:
            text = say("{name} is switched off from the next session on.", name=name)
        person.show(told(text))


def _state(state: ServerState) -> tuple[str, Tone]:
    match state:
        case ServerState.CONNECTED:
            return say("Ready"), Tone.GOOD
        case ServerState.CONNECTING:
            return say("Starting... (first startup may take longer)"), Tone.WARNING
        case ServerState.DISCONNECTED:
            return say("Disconnected"), Tone.BAD
        case ServerState.NEEDS_LOGIN:
            return say("Needs a login"), Tone.WARNING
        case ServerState.BLOCKED:
            return say("Not started"), Tone.WARNING
        case ServerState.DISABLED:
            return say("Disabled"), Tone.QUIET


def _count(state: ServerState, tools: int) -> str:
    match state:
        case ServerState.CONNECTED:
            return " " + say_count("({count} tool)", "({count} tools)", tools)
        case ServerState.CONNECTING:
            return " " + say("(tools will appear when ready)")
        case _ if tools:
            return " " + say_count("({count} tool cached)", "({count} tools cached)", tools)
        case _:
            return ""


def _tools(tools: Sequence[Entry], detail: Detail) -> list[Block]:
    if not tools:
        return [Words(say("  No tools available"))]
    if detail is Detail.NAMES:
        return [Words("\n".join(f"  - {entry.name}" for entry in tools))]
    blocks: list[Block] = []
    for entry in tools:
        lines = [f"  - {entry.name}"]
        lines += [f"      {line}".rstrip() for line in entry.declaration.description.strip().splitlines()]
        if detail is Detail.SCHEMAS:
            lines.append(say("      Parameters:"))
        blocks.append(Words("\n".join(lines)))
        if detail is Detail.SCHEMAS:
            blocks.append(Source(dump_json(entry.declaration.parameters_json_schema, indent=2), "json"))
    return blocks
