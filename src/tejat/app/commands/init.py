"""`/init`: create GEMINI.md and ask the model to fill it."""

import os

from tejat.app.commands.base import SlashCommand
from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, NoAction, SubmitPromptAction
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone
from tejat.engine.prompt.templates import load_template

_NAME = "GEMINI.md"


class InitCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        del arguments
        path = os.path.join(self.context.run_config.roots[0], _NAME)
        if self.context.load_permission().policy.mode is ApprovalMode.PLAN:
            text = _("Plan mode is read-only, so {name} was not created.", name=_NAME)
            hint = _("Press Shift-Tab or type /policy mode default, then /init again.")
            user.show(Report(blocks=(Paragraph(text, Tone.WARNING), Paragraph(hint))))
            return NoAction()
        try:
            # An existing file is never overwritten, nor is a dangling link followed.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
        except FileExistsError:
            text = _("A {name} file already exists in this directory. No changes were made.", name=_NAME)
            hint = _("To improve it, ask the model: Update {name} for this project.", name=_NAME)
            user.show(Report(blocks=(Paragraph(text, Tone.WARNING), Paragraph(hint, Tone.QUIET))))
            return NoAction()
        words = [Paragraph(_("Created an empty {name}. Asking the model to fill it.", name=_NAME), Tone.GOOD)]
        if not self.context.run_config.trust.is_trusted:
            note = _(
                "This folder is not trusted, so later sessions will not read {name}. See /permissions trust.",
                name=_NAME,
            )
            words.append(Paragraph(note, Tone.WARNING))
        user.show(Report(blocks=tuple(words)))
        return SubmitPromptAction(load_template("init"), "/init")
