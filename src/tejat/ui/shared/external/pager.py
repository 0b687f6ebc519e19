"""The user's pager."""

import os
import re
import shlex
import sys

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.external.program import private_temp_directory, run_in_terminal, write_private_file
from tejat.workspace.files.regular_file import find_user_program

_DEFAULT_PAGERS = (["less"], ["more"])
# The text is third-party: no preprocessor and no commands by key.
_SECURE_ENVIRONMENT = {"LESSSECURE": "1", "LESSOPEN": "", "LESSCLOSE": ""}
_SIMPLE_TERMINALS = ("", "dumb", "unknown")
_NO_PAGER = ("", "cat")
QUESTION_ROWS = 9
"""The rows below a text that a question about it needs."""


class Pager(Frozen):
    """PAGER, else a common one. Programs below the `untrusted` directories are never taken from PATH."""

    untrusted: tuple[str, ...] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether long output goes through the pager. As with git, PAGER=cat or an empty PAGER turns it off."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return False
        has_cursor = os.environ.get("TERM", "") not in _SIMPLE_TERMINALS
        return has_cursor and os.environ.get("PAGER", "less").strip() not in _NO_PAGER

    async def show(self, text: str, *, styled: str | None = None) -> None:
        """Give the terminal to the pager until it exits; the text is sanitized first. Raises UsageError.

        `styled` is the same text with colour codes and nothing else to hide, for a pager that shows them.
        """
        command = self._command()
        is_less = os.path.basename(command[0]) == "less"
        shown = styled if styled is not None and is_less else f"{sanitize_text(text)}\n"
        options = {"LESS": _less_options(is_styled=styled is not None)} if is_less else {}
        try:
            with private_temp_directory("tejat-pager") as directory:
                path = os.path.join(directory, "text")
                write_private_file(path, shown)
                environment = {**os.environ, **_SECURE_ENVIRONMENT, **options}
                await run_in_terminal([*command, path], directory, environment=environment, takes_interrupts=True)
        except OSError as error:
            why = _("Could not open the pager: {reason}.", reason=error.strerror)
            raise UsageError(why) from error

    def _command(self) -> list[str]:
        try:
            own = shlex.split(os.environ.get("PAGER", ""))
        except ValueError:
            own = []
        for words in ([own] if own else []) + list(_DEFAULT_PAGERS):
            path = find_user_program(words[0], untrusted=self.untrusted)
            if path is not None:
                return [path, *words[1:]]
        raise UsageError(_("No pager is available. Set PAGER, or install less."))


def _less_options(*, is_styled: bool) -> str:
    """The user's own options of less, colours, and a prompt that says how to go on instead of the name of our file."""
    own = os.environ.get("LESS", "")
    options = [own, "-R" if is_styled else ""]
    if "-P" not in own:
        more, end = map(_literal, (_("Space for more, q to continue"), _("End, q to continue")))
        options.append(f"-Ps?e{end}:{more}.$")
    return " ".join(filter(None, options))


def _literal(text: str) -> str:
    """A text in a prompt of less, in which some characters have a meaning."""
    return re.sub(r"([?:.%\\$])", r"\\\1", text)
