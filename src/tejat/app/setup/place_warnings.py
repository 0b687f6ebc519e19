"""Warnings for a user at a front end about the account and the folder of a session."""

import os
from contextlib import suppress

from tejat.app.run_config import RunConfig, root_warning
from tejat.config.files.directory import make_private_directory
from tejat.config.paths import same_directory
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.workspace.files.private_files import write_private_file


def place_warnings(run_config: RunConfig) -> tuple[str, ...]:
    """Warn of a session as root, in the home directory or in the root directory. Raises nothing.

    The account is warned about once, as `sudo` does; `RunConfig.notes` repeat it where root works on others' files.
    """
    warnings: list[str] = []
    account = root_warning()
    if account is not None and account not in run_config.notes and _is_first_time(run_config.paths.root_warning):
        warnings.append(account)
    root = os.path.realpath(run_config.roots[0])
    if root == "/":
        warnings.append(_("This is the root directory of the file system: every file is in the workspace."))
    elif run_config.settings.home_directory_warning.value and same_directory(root, run_config.paths.home):
        warnings.append(
            _("This is your home directory: all your files are in the workspace. Start Tejat in a project directory.")
        )
    return tuple(warnings)


def _is_first_time(path: str) -> bool:
    """Whether the file is missing, which is then created."""
    if os.path.lexists(path):
        return False
    with suppress(OSError, UsageError):  # then it is told again
        make_private_directory(os.path.dirname(path))
        write_private_file(path, "")
    return True
