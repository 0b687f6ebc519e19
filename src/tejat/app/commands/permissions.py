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
            ("list", _("what was allowed, and whether the folder is trusted")),
            ("revoke", _("take one of them back")),
            ("trust", _("decide about the folder")),
        ]
        return complete_from(word, options)

    def _saved_approvals(self) -> Sequence[RememberedApproval]:
        return remembered_approvals(self.context.run_config.paths, self.context.load_permission())

    def _list_report(self) -> Report:
        blocks: list[ReportBlock] = [Paragraph(_("Rules from your answers"), Tone.STRONG)]
        rows = tuple((str(number), each.text, each.source) for number, each in enumerate(self._saved_approvals(), 1))
        if rows:
            blocks += [
                ReportTable(rows, (_("No."), _("Rule"), _("Kept in"))),
                Paragraph(_("/permissions revoke N takes one back."), Tone.QUIET),
            ]
        else:
            blocks.append(Paragraph(_("There are none: nothing was allowed always."), Tone.QUIET))
        trust = self.context.run_config.trust
        blocks += [Paragraph(_("Folder"), Tone.STRONG), Paragraph(trust.reason)]
        if not trust.is_trusted:
            blocks.append(Paragraph(_("/permissions trust shows what it brings along, and asks you."), Tone.QUIET))
        blocks.append(Paragraph(_("/policy list shows all rules."), Tone.QUIET))
        return Report(_("Permissions"), tuple(blocks))

    def _find_by_number(self, word: str) -> RememberedApproval:
        answers = self._saved_approvals()
        if not (word.isascii() and word.isdigit() and 1 <= int(word) <= len(answers)):
            raise UsageError(_("There is no rule {word}. /permissions list shows them with numbers.", word=word))
        return answers[int(word) - 1]

    async def _choose_and_revoke(self, user: UserPrompter) -> None:
        answers = self._saved_approvals()
        if not answers:
            user.show(text_report(_("There is nothing to take back.")))
            return
        options = tuple(Option(each.text, each.source) for each in answers)
        index = await user.choose(Choice(_("Which rule is taken back?"), options))
        if index is not None:
            self._revoke(answers[index], user)

    def _revoke(self, answer: RememberedApproval, user: UserPrompter) -> None:
        revoke_approval(self.context.run_config.paths, self.context.load_permission(), answer)
        user.show(text_report(_("Taken back: {rule}", rule=answer.text), Tone.GOOD))

    async def _trust(self, user: UserPrompter) -> None:
        run_config = self.context.run_config
        paths, root = run_config.paths, run_config.roots[0]
        match await user.choose(_trust_choice(root, run_config.trust)):
            case 0:
                trust_folder(paths, root, items=run_config.trust.items)  # as it was shown
                text = _("{folder} is trusted as it was when this session began.", folder=root)
            case 1:
                trust_folder(paths, root, level=TrustLevel.NOT_TRUSTED)
                text = _("{folder} and everything in it is never trusted.", folder=root)
            case _:
                return
        counts = Paragraph(_("It counts from the next start on."), Tone.QUIET)
        user.show(Report(blocks=(Paragraph(text, Tone.GOOD), counts)))


def _trust_choice(root: str, trust: TrustDecision) -> Choice:
    changed = {item.path for item in trust.changed}
    rows = tuple((item.path, item.label, _("changed") if item.path in changed else "") for item in trust.items)
    details = tuple(Paragraph(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.details)
    contents: tuple[ReportBlock, ...] = (Paragraph(_("It brings along:")), ReportTable(rows), *details)
    if not rows:
        contents = (Paragraph(_("It brings nothing along that needs trust, but its files for the model are read.")),)
    return Choice(
        _("Do you trust what is in this folder?"),
        (
            Option(_("Yes"), _("until one of these files changes")),
            Option(_("Never"), _("nothing of it is used, nor of folders in it")),
            Option(_("Leave it as it is")),
        ),
        initial=2,
        report=Report(root, (Paragraph(trust.reason), *contents)),
        is_critical=True,
    )
