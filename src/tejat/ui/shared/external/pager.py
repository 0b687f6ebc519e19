"""The user's pager."""

import os
import shlex

from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.external.program import private_temp_directory, run_in_terminal, write_private_file
from tejat.workspace.files.regular_file import find_user_program

_DEFAULT_PAGERS = (["less"], ["more"])
# The text is third-party: no preprocessor and no commands by key.
_SECURE_ENVIRONMENT = {"LESSSECURE": "1", "LESSOPEN": "", "LESSCLOSE": ""}


@frozen
class Pager:
    """PAGER, else a common one. Programs below the `untrusted` directories are never taken from PATH."""

    untrusted: tuple[str, ...] = ()

    async def show(self, text: str, *, styled: str | None = None) -> None:
        """Give the terminal to the pager until it exits; the text is sanitized first. Raises UsageError.

        `styled` is the same text with colour codes and nothing else to hide, for a pager that shows them.
        """
        command = self._command()
        shows_styles = styled is not None and os.path.basename(command[0]) == "less"
        shown = styled if styled is not None and shows_styles else f"{sanitize_text(text)}\n"
        styles = {"LESS": f"{os.environ.get('LESS', '')} -R".strip()} if shows_styles else {}
        try:
            with private_temp_directory("tejat-pager") as directory:
                path = os.path.join(directory, "text")
                write_private_file(path, shown)
                environment = {**os.environ, **_SECURE_ENVIRONMENT, **styles}
                await run_in_terminal([*command, path], directory, environment=environment)
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
