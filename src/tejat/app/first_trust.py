"""The first thing in a folder: is what it brings along trusted?"""

import os
from collections.abc import Sequence
from enum import Enum, auto

from tejat.config.load import load_settings
from tejat.config.places import Places, places_of
from tejat.config.trust import Trust, TrustLevel, decide_trust, trust_folder
from tejat.core.agent_options import AgentOptions
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.words import say

_ASKED_ABOUT = (TrustLevel.UNKNOWN, TrustLevel.CHANGED)


class Instead(Enum):
    """What a person may want in the place of a session."""

    LEAVE = auto()
    DEMO = auto()


async def settle_trust(options: AgentOptions, person: Person) -> AgentOptions | Instead:
    """Ask about a folder that nothing was decided about, where that makes a difference, before any of it counts.

    It does where the folder brings something along, and where the person has servers, which need trust to run.

    Raises UsageError where what was decided cannot be known or kept.
    """
    found = _undecided(options)
    if found is None:
        return options
    places, root, trust, context, servers = found
    match await person.choose(_trust_question(root, trust, context, servers)):
        case 0:
            trust_folder(places, root, items=trust.items)  # as it was shown, whatever became of it meanwhile
        case 1:
            pass
        case 2:
            trust_folder(places, root, level=TrustLevel.NOT_TRUSTED)
        case _:
            return Instead.LEAVE
    return options


def _undecided(options: AgentOptions) -> tuple[Places, str, Trust, list[str], list[str]] | None:
    """The folder, what is known about it, its files for the model and the names of the person's own servers.

    None where there is nothing to be asked.
    """
    environment = os.environ if options.environment is None else options.environment
    places, root = places_of(environment), os.path.abspath(options.directories[0])
    # Without roots only what the person and whoever runs the machine have set is read.
    settings = load_settings(places, (), trusted=False, environment=environment)
    trust = decide_trust(
        places, root, trust_now=options.trusts_folder, environment=environment, folder_trust=settings.folder_trust
    )
    context = [name for name in settings.context_file_names.value if os.path.lexists(os.path.join(root, name))]
    servers = list(settings.mcp_servers)
    matters = trust.items or trust.changed or context or servers
    return (places, root, trust, context, servers) if trust.level in _ASKED_ABOUT and matters else None


def _trust_question(root: str, trust: Trust, context: Sequence[str], servers: Sequence[str]) -> Choice:
    gone = {item.path for item in trust.changed}
    rows = [(item.path, item.shown, say("changed") if item.path in gone else "") for item in trust.items]
    rows += [(name, say("instructions for the model"), "") for name in context]
    blocks: list[Block] = [Words(root, Tone.STRONG)]
    if rows or trust.level is TrustLevel.CHANGED:
        blocks += [
            Words(
                say("It was trusted before, and has changed since. It brings along:")
                if trust.level is TrustLevel.CHANGED
                else say("It brings along what could run commands or tell the model what to do:")
            ),
            Table(tuple(rows)),
            *(Words(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.says),
            Words(say("Nothing of it has been used so far. Trust ends when one of these files changes."), Tone.QUIET),
        ]
    if servers:
        blocks.append(
            Words(say("Your MCP servers run only in folders that you trust: {names}.", names=", ".join(servers)))
        )
    return Choice(
        say("Do you trust what is in this folder?"),
        (
            Option(say("Yes, use it"), say("remembered for this folder as it is now")),
            Option(say("Not now"), say("work here without it, and ask again next time")),
            Option(say("Never"), say("work here without it, and do not ask again")),
            Option(say("Leave")),
        ),
        initial=1,
        sheet=Sheet(say("Do you trust this folder?"), tuple(blocks)),
        is_grave=True,
    )
