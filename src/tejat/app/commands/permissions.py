"""`/permissions`: list and revoke approvals given with "always", and decide about trust."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.config.trust.decision import TrustDecision, TrustLevel, trust_folder
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone, text_report
from tejat.engine.calls.approvals import RememberedApproval, remembered_approvals, revoke_approval

USAGE = "/permissions [list | revoke N | trust]"


class PermissionsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.split():
            case [] | ["list"]:
                user.show(self._list_report())
            case ["revoke"]:
                await self._choose_and_revoke(user)
            case ["revoke", number]:
                self._revoke(self._find_by_number(number), user)
            case ["trust"]:
                await self._trust(user)
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if blank:
            answers = self._saved_approvals() if word == "revoke" else ()
            return complete_from(rest, ((str(number), answer.text) for number, answer in enumerate(answers, 1)))
        options = [
            ("list", _("saved approvals, and whether this folder is trusted")),
            ("revoke", _("revoke a saved approval")),
            ("trust", _("trust this folder, or not")),
        ]
        return complete_from(word, options)

    def _saved_approvals(self) -> Sequence[RememberedApproval]:
        return remembered_approvals(self.context.run_config.paths, self.context.load_permission())

    def _list_report(self) -> Report:
        blocks: list[ReportBlock] = [Paragraph(_("Saved approvals"), Tone.STRONG)]
        run_config = self.context.run_config
        approvals = enumerate(self._saved_approvals(), 1)
        rows = tuple((str(number), each.text, run_config.paths.abbreviate(each.source)) for number, each in approvals)
        if rows:
            blocks += [
                ReportTable(rows, (_("No."), _("Rule"), _("Stored in"))),
                Paragraph(_("Revoke one with /permissions revoke N."), Tone.QUIET),
            ]
        else:
            blocks.append(Paragraph(_("None yet. Answering a question with 'always' saves one."), Tone.QUIET))
        trust, root = run_config.trust, run_config.roots[0]
        needs_trust = trust.is_trusted or run_config.is_untrusted
        state = trust.reason if needs_trust else _("{folder} has no configuration that needs trust.", folder=root)
        blocks += [Paragraph(_("Folder"), Tone.STRONG), Paragraph(state)]
        if run_config.is_untrusted:
            blocks.append(Paragraph(_("Use /permissions trust to review its configuration and decide."), Tone.QUIET))
        blocks.append(Paragraph(_("/policy list shows all rules."), Tone.QUIET))
        return Report(_("Permissions"), tuple(blocks))

    def _find_by_number(self, word: str) -> RememberedApproval:
        answers = self._saved_approvals()
        if not (word.isascii() and word.isdigit() and 1 <= int(word) <= len(answers)):
            raise UsageError(_("No approval {word}. /permissions list shows the numbers.", word=word))
        return answers[int(word) - 1]

    async def _choose_and_revoke(self, user: UserPrompter) -> None:
        answers = self._saved_approvals()
        if not answers:
            user.show(text_report(_("No saved approvals to revoke.")))
            return
        options = tuple(Option(each.text, each.source) for each in answers)
        index = await user.choose(Choice(_("Revoke which approval?"), options))
        if index is not None:
            self._revoke(answers[index], user)

    def _revoke(self, answer: RememberedApproval, user: UserPrompter) -> None:
        revoke_approval(self.context.run_config.paths, self.context.load_permission(), answer)
        user.show(text_report(_("Revoked: {rule}", rule=answer.text), Tone.GOOD))

    async def _trust(self, user: UserPrompter) -> None:
        run_config = self.context.run_config
        paths, root = run_config.paths, run_config.roots[0]
        match await user.choose(_trust_choice(root, run_config.trust)):
            case 0:
                trust_folder(paths, root, items=run_config.trust.items)  # as it was shown
                text = _("{folder} is trusted as it was when this session started.", folder=root)
            case 1:
                trust_folder(paths, root, level=TrustLevel.NOT_TRUSTED)
                text = _("{folder} and its subfolders are never trusted.", folder=root)
            case _:
                return
        counts = Paragraph(_("Takes effect at the next start."), Tone.QUIET)
        user.show(Report(blocks=(Paragraph(text, Tone.GOOD), counts)))


def _trust_choice(root: str, trust: TrustDecision) -> Choice:
    changed = {item.path for item in trust.changed}
    rows = tuple((item.path, item.label, _("changed") if item.path in changed else "") for item in trust.items)
    details = tuple(Paragraph(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.details)
    contents: tuple[ReportBlock, ...] = (Paragraph(_("Configuration in this folder:")), ReportTable(rows), *details)
    if not rows:
        contents = (Paragraph(_("It has no configuration that needs trust, only context files for the model.")),)
    return Choice(
        _("Trust this folder?"),
        (
            Option(_("Yes"), _("until one of these files changes")),
            Option(_("Never"), _("ignore its configuration, and that of its subfolders")),
            Option(_("Not now")),
        ),
        initial=2,
        report=Report(root, (Paragraph(trust.reason), *contents)),
        is_critical=True,
    )
