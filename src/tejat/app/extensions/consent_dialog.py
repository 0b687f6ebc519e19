"""The question whether an extension may be used, after everything about it was shown."""

import os
from collections.abc import Sequence

from tejat.app.extensions.errors import NotConfirmed
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_line
from tejat.core.text.paths import is_beneath
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone, text_report
from tejat.workspace.downloads.tree import walk_tree
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_SHOWN = 256 * 1024
_MAX_NAMES = 200
_NO, _YES = range(2)


class ConsentDialog:
    """Asks the user. With `agrees`, what is shown is agreed to without a question, and nothing else is.

    Without `can_ask` there is nobody to ask.
    """

    def __init__(self, user: UserPrompter, *, agrees: bool = False, can_ask: bool = True) -> None:
        self.user = user
        self._agrees = agrees
        self._can_ask = can_ask

    @property
    def can_ask(self) -> bool:
        return self._can_ask

    async def confirm(self, reports: Sequence[Report], *, question: str = "", directory: str = "") -> None:
        """Show the reports and ask. `directory` has the files that the user can look at.

        Raises NotConfirmed unless the answer is yes.
        """
        if self._agrees or not self._can_ask:
            for report in reports:
                self.user.show(report)
        if self._agrees:
            return
        if not self._can_ask:
            raise NotConfirmed(_("No terminal to ask on. Use --yes to agree to what is shown."))
        answers = (Option(_("No")), Option(_("Yes")))
        title = question or _("Use this extension?")
        if await self.ask(reports, title, answers, directory=directory) != _YES:
            raise NotConfirmed(_("Nothing was changed."))

    async def show(self, reports: Sequence[Report]) -> bool:
        """Show reports, in the pager if they are long. Returns whether they were in the pager.

        The first title is then left on the screen.
        """
        is_paged = await self.user.page(reports)
        if is_paged and reports[0].title:
            self.user.show(text_report(reports[0].title, Tone.STRONG))
        return is_paged

    async def ask(
        self, reports: Sequence[Report], question: str, answers: Sequence[Option], *, directory: str = ""
    ) -> int | None:
        """Show the reports, ask, and return the index of the answer, None without one. The first one is selected.

        `directory` has the files that the user can look at before.
        """
        is_paged = await self.show(reports)
        options = list(answers)
        file, again = len(options), len(options) + bool(directory)
        if directory:
            options.append(Option(_("Show a file")))
        if is_paged:
            options.append(Option(_("Show it again")))
        while True:
            answer = await self.user.choose(Choice(question, tuple(options), is_critical=True))
            if answer is None or answer < len(answers):
                return answer
            if directory and answer == file:
                await self._show_file(directory)
            elif answer == again:
                await self.show(reports)

    async def confirm_clone(self, reason: str) -> bool:
        """Whether a repository shall be cloned because its releases cannot be reached."""
        self.user.show(text_report(reason))
        if self._agrees:
            return True
        if not self._can_ask:
            return False
        title = _("Clone the repository with git instead?")
        return await self.user.choose(Choice(title, (Option(_("No")), Option(_("Yes"))), is_critical=True)) == _YES

    async def _show_file(self, directory: str) -> None:
        names = [relative for relative, entry in walk_tree(directory) if entry.is_file(follow_symlinks=False)]
        shown = [sanitize_line(name) for name in names[:_MAX_NAMES]]
        self.user.show(Report(_("Files"), (Paragraph("\n".join(f"  {name}" for name in shown)),)))
        name = await self.user.enter(_("File to show"))
        if name:
            await self.show([_file_report(directory, name.strip())])


def _file_report(directory: str, name: str) -> Report:
    """The content of a file as quoted lines."""
    path = os.path.normpath(os.path.join(directory, name))
    if not is_beneath(os.path.realpath(path), os.path.realpath(directory)):
        return text_report(_("{name} is not in the extension.", name=name))
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_SHOWN + 1)
    except OSError as error:
        return text_report(f"{name}: {error.strerror}")
    if b"\0" in content:
        return text_report(_("{name} is not a text file.", name=name))
    lines = content[:_MAX_SHOWN].decode("utf-8", "replace").split("\n")
    quoted = "\n".join(f"> {sanitize_line(line, keep_tabs=True)}" for line in lines)
    more = [Paragraph(_("The file is longer than that."))] if len(content) > _MAX_SHOWN else []
    return Report(translate(sanitize_line(name)), (Paragraph(quoted), *more))
