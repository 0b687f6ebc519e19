"""`tejat doctor --fix`: move settings that Gemini CLI cannot use to Tejat's own file."""

import os
import sys

from tejat.cli.messages import confirm, one_line, print_error
from tejat.config.paths import app_paths
from tejat.config.settings.relocation import find_misplaced_settings, move_misplaced_settings
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.i18n import _, ngettext
from tejat.ui.plain.approver import is_interactive


def fix_settings(*, is_confirmed: bool) -> int:
    """Show what would be moved, ask unless it `is_confirmed`, and return the exit code. Raises UsageError."""
    paths = app_paths(os.environ)
    try:
        found = find_misplaced_settings(paths, os.environ)
    except ConfigurationError as error:
        print_error(error)
        return EXIT_CONFIGURATION
    movable = [setting for setting in found if not setting.is_overridden]
    for setting in found:
        if setting.is_overridden:
            print_error(
                _(
                    "{source} {key}: {path} has another value. Remove one of them.",
                    source=one_line(setting.source),
                    key=one_line(setting.key),
                    path=one_line(paths.own_settings),
                )
            )
    if not movable:
        print(_("Nothing to move: Gemini CLI can use all its settings.") if not found else _("Nothing was changed."))
        return EXIT_FAILED if found else EXIT_OK
    print(_("Gemini CLI cannot use these settings:"))
    for setting in movable:
        print(f"  {one_line(setting.source)}  {one_line(setting.key)}")
    if not is_confirmed:
        if not is_interactive():
            print_error(_("No terminal to ask on. Use --yes to move them."))
            return EXIT_NOT_CONFIRMED
        if not confirm(_("Move them to {path}? [y]es / [n]o:", path=one_line(paths.own_settings))):
            print(_("Nothing was changed."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    try:
        moved = len(move_misplaced_settings(paths, movable))
    except OSError as error:
        raise UsageError(
            _("Could not write {path}: {why}.", path=error.filename or "", why=error.strerror or "")
        ) from error
    path = one_line(paths.own_settings)
    print(ngettext("Moved {count} setting to {path}.", "Moved {count} settings to {path}.", moved, path=path))
    return EXIT_FAILED if len(movable) < len(found) else EXIT_OK
