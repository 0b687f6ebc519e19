"""`/editor`: choose the external editor."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting, parse_value
from tejat.app.commands.settings import write_setting
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter

_EDITORS = ("nano", "vim", "nvim", "emacs", "micro", "hx", "code --wait", "zed --wait", "subl --wait")


class EditorCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        row = find_setting("general.preferredEditor")
        if not arguments:
            arguments = await self._choose(user) or ""
        if arguments:
            user.show(write_setting(self.context, row, parse_value(self.context, row, arguments)))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((name, "") for name in _EDITORS))

    async def _choose(self, user: UserPrompter) -> str | None:
        current = self.context.preferences.editor
        other = Option(_("Another one"), _("any command; the file is added at its end"))
        options = (*map(Option, _EDITORS), other)
        initial = _EDITORS.index(current) if current in _EDITORS else 0
        index = await user.choose(Choice(_("Which editor?"), options, initial=initial))
        if index is None:
            return None
        if index < len(_EDITORS):
            return _EDITORS[index]
        return await user.enter(_("The command of the editor"), initial=current or "")
