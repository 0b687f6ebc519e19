"""The first thing in a folder: is what it brings along trusted?"""

import os
from collections.abc import Sequence
from enum import Enum, auto

from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.loader import load_settings
from tejat.config.trust.decision import TrustDecision, TrustLevel, decide_trust, trust_folder
from tejat.core.agent.options import AgentOptions
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone

_UNDECIDED_LEVELS = (TrustLevel.UNKNOWN, TrustLevel.CHANGED)


class StartupExit(Enum):
    """What a person may want in the place of a session."""

    QUIT = auto()
    DEMO = auto()


async def setup_trust(options: AgentOptions, user: UserPrompter) -> AgentOptions | StartupExit:
    """Ask about a folder that nothing was decided about, where that makes a difference, before any of it counts.

    It does where the folder brings something along, and where the person has servers, which need trust to run.

    Raises UsageError where what was decided cannot be known or kept.
    """
    found = _find_undecided_folder(options)
    if found is None:
        return options
    paths, root, trust, context, servers = found
    match await user.choose(_trust_question(root, trust, context, servers)):
        case 0:
            trust_folder(paths, root, items=trust.items)  # as it was shown, whatever became of it meanwhile
        case 1:
            pass
        case 2:
            trust_folder(paths, root, level=TrustLevel.NOT_TRUSTED)
        case _:
            return StartupExit.QUIT
    return options


def _find_undecided_folder(options: AgentOptions) -> tuple[AppPaths, str, TrustDecision, list[str], list[str]] | None:
    """The folder, what is known about it, its files for the model and the names of the person's own servers.

    None where there is nothing to be asked.
    """
    environment = os.environ if options.environment is None else options.environment
    paths, root = app_paths(environment), os.path.abspath(options.directories[0])
    # Without roots only what the person and whoever runs the machine have set is read.
    settings = load_settings(paths, (), trusted=False, environment=environment)
    trust = decide_trust(
        paths, root, trust_for_run=options.trusts_folder, environment=environment, folder_trust=settings.folder_trust
    )
    context = [name for name in settings.context_file_names.value if os.path.lexists(os.path.join(root, name))]
    servers = list(settings.mcp_servers)
    matters = trust.items or trust.changed or context or servers
    return (paths, root, trust, context, servers) if trust.level in _UNDECIDED_LEVELS and matters else None


def _trust_question(root: str, trust: TrustDecision, context: Sequence[str], servers: Sequence[str]) -> Choice:
    gone = {item.path for item in trust.changed}
    rows = [(item.path, item.label, _("changed") if item.path in gone else "") for item in trust.items]
    rows += [(name, _("instructions for the model"), "") for name in context]
    blocks: list[ReportBlock] = [Paragraph(root, Tone.STRONG)]
    if rows or trust.level is TrustLevel.CHANGED:
        blocks += [
            Paragraph(
                _("It was trusted before, and has changed since. It brings along:")
                if trust.level is TrustLevel.CHANGED
                else _("It brings along what could run commands or tell the model what to do:")
            ),
            ReportTable(tuple(rows)),
            *(Paragraph(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.details),
            Paragraph(_("Nothing of it has been used so far. Trust ends when one of these files changes."), Tone.QUIET),
        ]
    if servers:
        blocks.append(
            Paragraph(_("Your MCP servers run only in folders that you trust: {names}.", names=", ".join(servers)))
        )
    return Choice(
        _("Do you trust what is in this folder?"),
        (
            Option(_("Yes, use it"), _("remembered for this folder as it is now")),
            Option(_("Not now"), _("work here without it, and ask again next time")),
            Option(_("Never"), _("work here without it, and do not ask again")),
            Option(_("Leave")),
        ),
        initial=1,
        report=Report(_("Do you trust this folder?"), tuple(blocks)),
        is_critical=True,
    )
