"""The onboarding step that asks whether to trust a folder."""

import os
from collections import Counter
from collections.abc import Sequence

from tejat.app.run_config import UserConfig
from tejat.app.session.prompt.instructions import accept_all_instructions, find_all_context_files, unseen_instructions
from tejat.config.trust.decision import TrustDecision, TrustLevel, can_trust_parent, trust_folder, trust_parent
from tejat.config.trust.instructions import Instructions
from tejat.config.trust.store import TrustItem
from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone

_UNDECIDED_LEVELS = (TrustLevel.UNKNOWN, TrustLevel.CHANGED)


class StartupExit(StrEnum):
    """What the user chose instead of a session."""

    QUIT = "quit"
    DEMO = "demo"


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
    answers = [TrustAnswer.FOLDER, TrustAnswer.NOT]
    if trust.level is TrustLevel.UNKNOWN and can_trust_parent(root):
        answers.insert(1, TrustAnswer.PARENT)
    report = _trust_report(config.paths.abbreviate(root), trust, context, servers)
    index = await user.choose(_trust_question(root, answers, report))
    if index is None:
        return StartupExit.QUIT
    # What was shown is trusted, whatever became of it meanwhile.
    match answers[index]:
        case TrustAnswer.FOLDER:
            decision = trust_folder(config.paths, root, items=trust.items)
        case TrustAnswer.PARENT:
            decision = trust_parent(config.paths, root, items=trust.items)
        case TrustAnswer.NOT:
            decision = trust_folder(config.paths, root, level=TrustLevel.NOT_TRUSTED, items=trust.items)
    return replace(config, trust=decision)


class TrustAnswer(StrEnum):
    FOLDER = "folder"
    PARENT = "parent"
    NOT = "not"


async def review_instructions(config: UserConfig, user: UserPrompter) -> StartupExit | None:
    """Show the instructions of a trusted folder that are new or changed, and ask whether to use them.

    Raises UsageError if the answer cannot be stored.
    """
    if not config.trust.is_trusted or config.trust.is_unpinned:
        return None
    run_config = config.load_project(uses_extensions=False)
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
            Option(_("Use them"), _("until they change")),
            Option(_("Not now"), _("ask again next time")),
            Option(_("Quit")),
        ),
        initial=1,
        report=Report(_("New or changed instructions in this folder"), tuple(blocks)),
        is_critical=True,
    )


_MAX_LINES_SHOWN = 200
_MAX_DETAILS = 8


def _context_files(config: UserConfig) -> list[str]:
    names = config.settings.context_file_names.value
    return [name for name in names if os.path.lexists(os.path.join(config.roots[0], name))]


def _trust_question(root: str, answers: Sequence[TrustAnswer], report: Report) -> Choice:
    name, parent = os.path.basename(root) or root, os.path.basename(os.path.dirname(root))
    options = {
        TrustAnswer.FOLDER: Option(_("Trust this folder ({name})", name=name), _("until its configuration changes")),
        TrustAnswer.PARENT: Option(_("Trust the parent folder ({name})", name=parent), _("with all folders in it")),
        TrustAnswer.NOT: Option(_("Don't trust"), _("skip its configuration")),
    }
    return Choice(
        _("Do you trust this folder?"),
        tuple(options[answer] for answer in answers),
        initial=len(answers) - 1,  # a habitual Enter must not run a stranger's programs
        report=report,
        is_critical=True,
    )


def _trust_report(root: str, trust: TrustDecision, context: Sequence[str], servers: Sequence[str]) -> Report:
    blocks: list[ReportBlock] = []
    if trust.level is TrustLevel.CHANGED:
        changed = ", ".join(item.path for item in trust.changed)
        blocks.append(Paragraph(_("Changed since you trusted it: {names}", names=changed), Tone.WARNING))
    if trust.items or context:
        warning = _("Its configuration can run programs and instruct the model. None is used yet.")
        blocks += [Paragraph(warning), Paragraph(_("It contains {summary}.", summary=_summary(trust.items, context)))]
        described = [item for item in trust.items if item.details]
        details = [
            f"  {line}" if len(described) == 1 else f"  {item.path}: {line}"
            for item in described
            for line in item.details
        ]
        blocks += (Paragraph(line, Tone.QUIET) for line in details[:_MAX_DETAILS])
        if len(details) > _MAX_DETAILS:
            more = ngettext(
                "{count} more line: tejat trust", "{count} more lines: tejat trust", len(details) - _MAX_DETAILS
            )
            blocks.append(Paragraph(more, Tone.QUIET))
    if servers:
        names = ", ".join(servers)
        blocks.append(Paragraph(_("Your MCP servers only run in folders that you trust: {names}.", names=names)))
    return Report(root, tuple(blocks))


def _summary(items: Sequence[TrustItem], context: Sequence[str]) -> str:
    """Return how many there are of each kind, programs first."""
    kinds = Counter(item.kind for item in items)
    servers, hooks = sum(item.servers for item in items), sum(item.hooks for item in items)
    counted = [
        ngettext("{count} MCP server", "{count} MCP servers", servers) if servers else "",
        ngettext("{count} hook", "{count} hooks", hooks) if hooks else "",
        ngettext("{count} tool", "{count} tools", kinds["tool"]) if kinds["tool"] else "",
        ngettext("{count} script", "{count} scripts", kinds["script"]) if kinds["script"] else "",
        ngettext("{count} command", "{count} commands", kinds["command"]) if kinds["command"] else "",
        ngettext("{count} policy", "{count} policies", kinds["policy"]) if kinds["policy"] else "",
        ngettext("{count} skill", "{count} skills", kinds["skill"]) if kinds["skill"] else "",
        ngettext("{count} agent", "{count} agents", kinds["agent"]) if kinds["agent"] else "",
    ]
    counted_kinds = ("tool", "script", "command", "policy", "skill", "skill file", "agent")
    named = [item.path for item in items if item.kind not in counted_kinds]
    return ", ".join([*filter(None, counted), *named, *context])
