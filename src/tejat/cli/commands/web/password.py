"""The password of a page that other machines can reach."""

import getpass
import os
from collections.abc import MutableMapping

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.ui.plain.approver import is_interactive

VARIABLE = "TEJAT_WEB_PASSWORD"
_MIN_LENGTH = 10


def read_password(file: str | None, environment: MutableMapping[str, str]) -> str:
    """The password from a file, the environment or the terminal. It is stored nowhere. Raises UsageError.

    The variable is removed, so that no command gets it.
    """
    given = environment.pop(VARIABLE, "")
    if file is not None:
        given = _read_file(file)
    elif not given and is_interactive():
        given = getpass.getpass(_("Password for the page: "))
        if given and getpass.getpass(_("Again: ")) != given:
            raise UsageError(_("The passwords differ."))
    elif not given:
        raise UsageError(
            _("--listen needs a password. Set {variable}, or use --password-file FILE.", variable=VARIABLE)
        )
    if len(given) < _MIN_LENGTH:
        raise UsageError(_("The password is too short: use at least {count} characters.", count=_MIN_LENGTH))
    return given


def _read_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise UsageError(_("Others can read {path}. Run: chmod 600 {path}", path=path))
            return file.readline().rstrip("\r\n")
    except OSError as error:
        raise UsageError(_("Could not read {path}: {reason}.", path=path, reason=error.strerror or error)) from None
