"""Lets a person look through a long text in their pager."""

import os
import shlex

from tejat.core.errors import UsageError
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.frontends.terminal_programs import find_program, private_directory, run_at_terminal, write_private

_USUAL = (["less"], ["more"])
# What a pager would run for a file or by its keys is none of the person's wishes for a text of somebody else.
_SAFE = {"LESSSECURE": "1", "LESSOPEN": "", "LESSCLOSE": ""}


@value
class Pager:
    """The person's own PAGER, else what there is. Programs in the `untrusted` directories are never taken from PATH."""

    untrusted: tuple[str, ...] = ()

    async def show(self, text: str) -> None:
        """Hand the terminal to the pager until the person leaves it; nothing hidden in the text stays so.

        Raises UsageError that says in words why it could not be shown.
        """
        command = self._command()
        try:
            with private_directory("tejat-pager") as directory:
                path = os.path.join(directory, "text")
                write_private(path, f"{visible(text)}\n")
                await run_at_terminal([*command, path], directory, environment={**os.environ, **_SAFE})
        except OSError as error:
            why = say("The text could not be handed to a pager: {reason}.", reason=error.strerror)
            raise UsageError(why) from error

    def _command(self) -> list[str]:
        try:
            own = shlex.split(os.environ.get("PAGER", ""))
        except ValueError:
            own = []
        for words in ([own] if own else []) + list(_USUAL):
            path = find_program(words[0], untrusted=self.untrusted)
            if path is not None:
                return [path, *words[1:]]
        raise UsageError(say("No pager is available: set PAGER, or install less."))
