"""`/terminal-setup`: make the terminal report Shift-Enter, for new lines in a prompt."""

import os
import sys
from collections.abc import Mapping, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.export import confirm
from tejat.app.setup.terminal_keys import KeySetup, TerminalKind, add_snippet, detect_terminal, key_setup
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, SourceListing, Tone, text_report
from tejat.workspace.files.private_files import make_missing_directories, write_private_file

_NEW_FILE_MODE = 0o644


class TerminalSetupCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        kind = _parse_kind(arguments) if arguments else detect_terminal(self._environment)
        home = self.context.run_config.paths.home
        setup = key_setup(kind, self._environment, home=home, is_mac=sys.platform == "darwin")
        if setup.is_native:
            text = _("{terminal} reports Shift-Enter; nothing to set up.", terminal=setup.name)
            user.show(Report(blocks=(Paragraph(text, Tone.GOOD), _other_keys())))
            return
        user.show(_instructions(setup))
        if setup.path is not None:
            await self._offer_to_write(setup, setup.path, user)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((kind.value, "") for kind in TerminalKind if kind is not TerminalKind.OTHER))

    @property
    def _environment(self) -> Mapping[str, str]:
        environment = self.context.manager.options.environment
        return os.environ if environment is None else environment

    async def _offer_to_write(self, setup: KeySetup, path: str, user: UserPrompter) -> None:
        """Add the snippet to the configuration file if the user agrees. Raises UsageError and OSError."""
        shown = self.context.run_config.paths.abbreviate(path)
        text = read_config_file(path, writers=AllowedWriters.TRUSTED)
        try:
            changed = add_snippet(setup, text or "")
        except UsageError as error:
            user.show(text_report(f"{shown}: {error}", Tone.WARNING))
            return
        if changed is None:
            user.show(text_report(_("{path} already has it.", path=shown), Tone.GOOD))
        elif not await confirm(user, _("Add it to {path}?", path=shown)):
            user.show(text_report(_("Nothing was written.")))
        else:
            _write(path, changed, is_new=text is None)
            done = Paragraph(_("Added to {path}.", path=shown), Tone.GOOD)
            hint = Paragraph(setup.reload_hint or _("Open a new terminal to use it."), Tone.QUIET)
            user.show(Report(blocks=(done, hint)))


def _parse_kind(word: str) -> TerminalKind:
    """Raises UsageError."""
    known = [kind.value for kind in TerminalKind if kind is not TerminalKind.OTHER]
    if word.casefold() not in known:
        raise UsageError(_("Unknown terminal {word}. Known: {names}.", word=word, names=", ".join(known)))
    return TerminalKind(word.casefold())


def _instructions(setup: KeySetup) -> Report:
    text = _("{terminal} does not report Shift-Enter unless it is configured to.", terminal=setup.name)
    if setup.kind is TerminalKind.OTHER:
        text = _("Unknown terminal. It may not report Shift-Enter: press it in a prompt to try.")
    blocks: list[ReportBlock] = [
        Paragraph(text),
        Paragraph(setup.instructions),
        SourceListing(setup.snippet),
        _other_keys(),
    ]
    return Report(_("Shift-Enter for new lines"), tuple(blocks))


def _other_keys() -> Paragraph:
    return Paragraph(_("Ctrl-J and Alt-Enter insert a new line in every terminal."), Tone.QUIET)


def _write(path: str, text: str, *, is_new: bool) -> None:
    """Raises OSError."""
    make_missing_directories(os.path.dirname(path))
    mode = _NEW_FILE_MODE if is_new else os.stat(path).st_mode & 0o777
    write_private_file(path, text, mode=mode)
