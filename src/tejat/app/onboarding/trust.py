"""The onboarding step that asks whether to trust a folder."""

import os
from collections.abc import Sequence
from enum import Enum, auto

from tejat.app.run_config import UserConfig
from tejat.app.session.instructions import accept_all_instructions, find_all_context_files, unseen_instructions
from tejat.config.trust.decision import TrustDecision, TrustLevel, trust_folder
from tejat.config.trust.instructions import Instructions
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone

_UNDECIDED_LEVELS = (TrustLevel.UNKNOWN, TrustLevel.CHANGED)


class StartupExit(Enum):
    """What the user chose instead of a session."""

    QUIT = auto()
    DEMO = auto()


async def setup_trust(config: UserConfig, user: UserPrompter) -> UserConfig | StartupExit:
    """Ask whether to trust a folder not decided about, if that makes a difference, before any of its files count.

    It does if the folder has configuration or context files, or if the user has MCP servers, which need trust to run.

    Raises UsageError if the decision cannot be stored.
    """
    root, trust, context = config.roots[0], config.trust, _context_files(config)
    servers = list(config.settings.mcp_servers)
    matters = trust.items or trust.changed or context or servers
    if trust.level not in _UNDECIDED_LEVELS or not matters:
        return config
    match await user.choose(_trust_question(root, trust, context, servers)):
        case 0:
            # As it was shown, whatever became of it meanwhile.
            return replace(config, trust=trust_folder(config.paths, root, items=trust.items))
        case 1:
            return config
        case 2:
            return replace(config, trust=trust_folder(config.paths, root, level=TrustLevel.NOT_TRUSTED))
        case _:
            return StartupExit.QUIT


async def review_instructions(config: UserConfig, user: UserPrompter) -> StartupExit | None:
    """Show the instructions of a trusted folder that are new or changed, and ask whether to use them.

    Raises UsageError if the answer cannot be stored.
    """
    if not config.trust.is_trusted or config.trust.is_unpinned:
        return None
    run_config = config.load_project()
    unseen = unseen_instructions(run_config, find_all_context_files(run_config))
    if not unseen:
        return None
    match await user.choose(_instructions_question(config.roots[0], unseen)):
        case 0:
            accept_all_instructions(run_config)
        case 1:
            pass
        case _:
            return StartupExit.QUIT
    return None


def _instructions_question(root: str, unseen: Sequence[Instructions]) -> Choice:
    blocks: list[ReportBlock] = [Paragraph(root, Tone.STRONG)]
    for each in unseen:
        lines = each.text.strip().splitlines()
        blocks += [Paragraph(each.path, Tone.STRONG), *(Paragraph(line) for line in lines[:_MAX_LINES_SHOWN])]
        if len(lines) > _MAX_LINES_SHOWN:
            rest = len(lines) - _MAX_LINES_SHOWN
            blocks.append(Paragraph(_("[{count} more lines in {path}]", count=rest, path=each.path), Tone.QUIET))
    return Choice(
        _("Use these instructions for the model?"),
        (
            Option(_("Yes, use them"), _("remembered as they are now")),
            Option(_("Not now"), _("work here without them, and ask again next time")),
            Option(_("Leave")),
        ),
        initial=1,
        report=Report(_("Instructions in this folder are new or have changed"), tuple(blocks)),
        is_critical=True,
    )


_MAX_LINES_SHOWN = 200


def _context_files(config: UserConfig) -> list[str]:
    names = config.settings.context_file_names.value
    return [name for name in names if os.path.lexists(os.path.join(config.roots[0], name))]


def _trust_question(root: str, trust: TrustDecision, context: Sequence[str], servers: Sequence[str]) -> Choice:
    gone = {item.path for item in trust.changed}
    rows = [(item.path, item.label, _("changed") if item.path in gone else "") for item in trust.items]
    rows += [(name, _("instructions for the model"), "") for name in context]
    blocks: list[ReportBlock] = [Paragraph(root, Tone.STRONG)]
    if rows or trust.level is TrustLevel.CHANGED:
        heading = _("It brings along what could run commands or tell the model what to do:")
        if trust.level is TrustLevel.CHANGED:
            heading = _("It was trusted before, and has changed since. It brings along:")
        blocks += [
            Paragraph(heading),
            ReportTable(tuple(rows)),
            *(Paragraph(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.details),
            Paragraph(_("Nothing of it has been used so far. Trust ends when one of these files changes."), Tone.QUIET),
        ]
    if servers:
        names = ", ".join(servers)
        blocks.append(Paragraph(_("Your MCP servers run only in folders that you trust: {names}.", names=names)))
    return Choice(
        _("Trust this folder?"),
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
