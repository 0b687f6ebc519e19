"""`/editor`: choose the external editor among those that are installed."""

import os
import shlex
from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting, parse_value
from tejat.app.commands.settings import unset_setting, write_setting
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.editors import EDITOR_VARIABLES, KNOWN_EDITORS
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Report, text_report
from tejat.workspace.files.regular_file import find_user_program


class EditorCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        report = self._save(arguments) if arguments else await self._choose(user)
        if report is not None:
            user.show(report)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, self._installed().items())

    def _save(self, command: str) -> Report:
        """Raises UsageError for a program that is not installed."""
        if command not in KNOWN_EDITORS:
            program = _first_word(command)
            if find_user_program(program, untrusted=self._workspace) is None:
                raise UsageError(_("{program} was not found on PATH. Nothing was changed.", program=program))
        elif command not in self._installed():
            programs = " / ".join(KNOWN_EDITORS[command])
            raise UsageError(_("{name} is not installed ({programs} not found).", name=command, programs=programs))
        row = find_setting("general.preferredEditor")
        return write_setting(self.context, row, parse_value(self.context, row, command))

    async def _choose(self, user: UserPrompter) -> Report | None:
        installed, variable = self._installed(), _editor_variable()
        if not installed and variable is None:
            return text_report(
                _("No editor found. Install one, for example nano, or set EDITOR to a command: export EDITOR=nano")
            )
        names = list(installed)
        options = [Option(name, self._detail(name, path)) for name, path in installed.items()]
        if variable is not None:
            label = _("Use ${variable}: {command}", variable=variable, command=os.environ[variable])
            options.append(Option(label, "" if self._preferred else _("current")))
        options.append(Option(_("Another command"), _("the file name is added at the end")))
        initial = 0 if variable is None else len(names)
        if self._preferred in names:
            initial = names.index(self._preferred)
        index = await user.choose(Choice(self._title(), tuple(options), initial=initial))
        if index is None:
            return None
        if index < len(names):
            return self._save(names[index])
        if index < len(options) - 1:
            return unset_setting(self.context, find_setting("general.preferredEditor"))
        command = (await user.enter(_("Editor command"), initial=self._preferred or "") or "").strip()
        return self._save(command) if command else None

    @property
    def _preferred(self) -> str | None:
        return self.context.preferences.editor

    @property
    def _workspace(self) -> Sequence[str]:
        return self.context.run_config.roots

    def _installed(self) -> dict[str, str]:
        """The known editors that are installed, with their paths."""
        found: dict[str, str] = {}
        for name, commands in KNOWN_EDITORS.items():
            programs = (find_user_program(_first_word(command), untrusted=self._workspace) for command in commands)
            if path := next(filter(None, programs), None):
                found[name] = path
        return found

    def _detail(self, name: str, path: str) -> str:
        return _("{path} (current)", path=path) if name == self._preferred else path

    def _title(self) -> str:
        variable = _editor_variable()
        if self._preferred:
            return _("Choose an editor (current: {editor})", editor=self._preferred)
        if variable is not None:
            return _("Choose an editor (current: {editor})", editor=f"${variable}")
        return _("Choose an editor (current: none)")


def _editor_variable() -> str | None:
    """The variable that names the editor if no setting does."""
    return next((name for name in EDITOR_VARIABLES if os.environ.get(name, "").strip()), None)


def _first_word(command: str) -> str:
    """The program of a command line. Raises UsageError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(_("Could not parse the command: {why}.", why=error)) from None
    return words[0] if words else ""
