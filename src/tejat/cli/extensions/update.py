"""`tejat extensions update`: fetch newer versions, show what changes, ask, and exchange them."""

import argparse

from tejat.app.extensions.environment import is_link
from tejat.app.extensions.errors import FAILURES, ExtensionFailure, NotConfirmed
from tejat.app.extensions.updater import ExtensionUpdater
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, add_consent_flags, exit_codes, run_command
from tejat.cli.messages import one_line, print_error
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Update extensions and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(words)
    if bool(options.names) == options.all:
        parser.error(_("Give the names of extensions, or --all."))
    return run_command(lambda runtime: _update_all(runtime, options), agrees=options.yes)


async def _update_all(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    """Update one after the other; one that fails does not stop the others."""
    updater = ExtensionUpdater(runtime.installer)
    names: list[str] = options.names
    if options.all:
        installed = runtime.environment.find_all().extensions
        names = [found.name for found in installed if found.record is not None and not is_link(found)]
        if not names:
            return _("No extensions to update.")
    failures: list[Exception] = []
    for name in names:
        try:
            print(one_line(await (_check(updater, runtime, name) if options.check else updater.update(name))))
        except (*FAILURES, NotConfirmed, OSError) as error:
            if len(names) == 1:
                raise
            print_error(f"{name}: {error}")
            failures.append(error)
    if failures:
        raise failures[0] if len(failures) == 1 else ExtensionFailure(_("{count} updates failed.", count=len(failures)))
    return ""


async def _check(updater: ExtensionUpdater, runtime: ExtensionRuntime, name: str) -> str:
    found = runtime.environment.find(name)
    update = await updater.find_update(found)
    if update is None:
        return _('Extension "{name}" is already up to date.', name=found.name)
    return _('Extension "{name}" has an update: {label}.', name=found.name, label=update.label)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions update`."""
    parser = CommandParser(
        "tejat extensions update",
        _(
            "Update extensions from where they came. What changes is shown as a difference first, and the old version "
            "is kept: `tejat extensions back NAME` restores it."
        ),
        usages=("tejat extensions update NAME... | --all [options]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=_("the extensions"))
    parser.add_argument("--all", action="store_true", help=_("all extensions that have a source"))
    parser.add_argument("--check", action="store_true", help=_("only say which have updates"))
    add_consent_flags(parser)
    return parser
