"""Lets a person look through a long text in their pager."""

import os
import shlex

from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.external.program import find_program, private_temp_directory, run_in_terminal, write_private_file

_DEFAULT_PAGERS = (["less"], ["more"])
# What a pager would run for a file or by its keys is none of the person's wishes for a text of somebody else.
_SECURE_ENVIRONMENT = {"LESSSECURE": "1", "LESSOPEN": "", "LESSCLOSE": ""}


@frozen
class Pager:
    """The person's own PAGER, else what there is. Programs in the `untrusted` directories are never taken from PATH."""

    untrusted: tuple[str, ...] = ()

    async def show(self, text: str) -> None:
        """Hand the terminal to the pager until the person leaves it; nothing hidden in the text stays so.

        Raises UsageError that says in words why it could not be shown.
        """
        command = self._command()
        try:
            with private_temp_directory("tejat-pager") as directory:
                path = os.path.join(directory, "text")
                write_private_file(path, f"{sanitize_text(text)}\n")
                await run_in_terminal([*command, path], directory, environment={**os.environ, **_SECURE_ENVIRONMENT})
        except OSError as error:
            why = _("The text could not be handed to a pager: {reason}.", reason=error.strerror)
            raise UsageError(why) from error

    def _command(self) -> list[str]:
        try:
            own = shlex.split(os.environ.get("PAGER", ""))
        except ValueError:
            own = []
        for words in ([own] if own else []) + list(_DEFAULT_PAGERS):
            path = find_program(words[0], untrusted=self.untrusted)
            if path is not None:
                return [path, *words[1:]]
        raise UsageError(_("No pager is available: set PAGER, or install less."))
