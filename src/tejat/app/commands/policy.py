"""`/policy`: list rules, explain a decision, change the approval mode."""

import json
import shlex
from collections.abc import Sequence
from typing import cast

from tejat.app.commands.base import CommandContext, SlashCommand, complete_from
from tejat.app.session.approval_mode import confirm_yolo, mode_refusal
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.policy_report import PolicyExplanation, describe_mode
from tejat.core.errors import UsageError
from tejat.core.i18n import _, join_lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import Params
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone, text_report
from tejat.engine.calls.policy_inspector import PolicyContext, PolicyInspector
from tejat.engine.calls.policy_loader import CHOSEN_MODE_SOURCE, parse_mode
from tejat.policy.engine import PolicyEngine

USAGE = "/policy [list | explain CALL | mode MODE]"
_SHELL = "run_shell_command"


class PolicyCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        word, _unused, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case (("" | "list"), ""):
                user.show(self._list_report())
            case "explain", call if call:
                user.show(self._explain(call))
            case "mode", mode:
                await self._mode(mode, user)
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if blank and word == "mode":
            return complete_from(rest, ((mode, "") for mode in ApprovalMode))
        if blank and word == "explain" and " " not in rest:
            entries = self.context.registry.entries()
            return complete_from(rest, ((entry.name, entry.display_name) for entry in entries))
        if blank:
            return ()
        options = [
            ("list", _("all rules and their sources")),
            ("explain", _("how a tool call would be decided, and why")),
            ("mode", _("show or change the approval mode")),
        ]
        return complete_from(word, options)

    @property
    def _inspector(self) -> PolicyInspector:
        context = PolicyContext(self.context.toolset.settings, self.context.registry, self.context.load_permission())
        return PolicyInspector(self.context.run_config.paths, lambda: context)

    def _list_report(self) -> Report:
        inspector = self._inspector
        rows = tuple(
            (rule.tier, rule.text, join_lazy(": ", filter(None, (rule.source, rule.description, rule.remark))))
            for rule in inspector.rules()
        )
        return Report(
            _("Rules, highest precedence first"),
            (
                Paragraph(_mode_text(self.context.load_permission().policy)),
                ReportTable(rows, (_("Tier"), _("Rule"), _("Source"))),
                *(Paragraph(problem, Tone.WARNING) for problem in inspector.problems()),
            ),
        )

    def _explain(self, call: str) -> Report:
        name, _, rest = call.partition(" ")
        tool = self.context.registry.get(name)
        if tool is None:
            # Most users ask about a shell command.
            return _explanation_report(call, self._inspector.decide(_SHELL, {"command": call}))
        is_line = tool.name == _SHELL and rest and not rest.lstrip().startswith(("{", "command="))
        arguments = {"command": rest.strip()} if is_line else _parse_arguments(rest.strip())
        return _explanation_report(call, self._inspector.decide(name, arguments))

    async def _mode(self, name: str, user: UserPrompter) -> None:
        if name:
            await change_mode(self.context, parse_mode(name), user)
        else:
            user.show(text_report(_mode_text(self.context.load_permission().policy)))


async def change_mode(context: CommandContext, mode: ApprovalMode, user: UserPrompter) -> None:
    """Change the approval mode, asking before `yolo`. Raises UsageError if the mode is not permitted here."""
    permission, run_config = context.load_permission(), context.run_config
    before = permission.policy.mode
    # Plan mode can always be asked for by name.
    if mode is not ApprovalMode.PLAN and (refusal := mode_refusal(run_config, mode)):
        raise UsageError(refusal)
    if mode is ApprovalMode.YOLO and before is not mode and not await confirm_yolo(user):
        return
    permission.policy = permission.policy.with_mode(mode, source=CHOSEN_MODE_SOURCE)
    user.show(text_report(_("Approval mode: {mode}", mode=mode.value), Tone.GOOD))


def _mode_text(policy: PolicyEngine) -> str:
    return _("Mode: {mode}", mode=describe_mode(policy.mode.value, policy.mode_source))


def _parse_arguments(text: str) -> Params:
    """Parse one JSON object, or words like `key=value`. Raises UsageError."""
    if not text:
        return {}
    try:
        if text.startswith("{"):
            return cast("dict[str, object]", load_json(text))
        pairs = [word.partition("=") for word in shlex.split(text)]
    except (InvalidJson, ValueError) as error:
        raise UsageError(_("Could not parse the arguments: {why}.", why=error)) from None
    if not all(key and equals for key, equals, _unused in pairs):
        raise UsageError(_("Use one JSON object, or key=value words."))
    return {key: _parse_value(given) for key, _unused, given in pairs}


def _parse_value(text: str) -> object:
    """Parse a JSON list or object; any other text is taken literally."""
    if not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _explanation_report(call: str, found: PolicyExplanation) -> Report:
    blocks: list[ReportBlock] = [
        Paragraph(join_lazy("", (found.decision, ": ", found.reason)), Tone.STRONG),
        ReportTable(
            (
                (_("Rule"), found.rule or _("no rule matches")),
                (_("Source"), found.source),
                (_("Mode"), describe_mode(found.mode, found.mode_source)),
            )
        ),
    ]
    if found.commands:
        blocks += [Paragraph(_("Commands in this line")), Paragraph(_indented(found.commands))]
    if found.scripts:
        blocks += [Paragraph(_("Scripts of skills in the line")), Paragraph(_indented(found.scripts))]
    if found.doubts:
        blocks += [Paragraph(_("Why rules cannot allow this line")), Paragraph(_indented(found.doubts))]
    return Report(call, tuple(blocks))


def _indented(lines: Sequence[str]) -> str:
    return join_lazy("\n", (join_lazy("", ("  ", line)) for line in lines))
