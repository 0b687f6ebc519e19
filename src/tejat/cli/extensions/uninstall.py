"""`tejat extensions uninstall`: remove extensions."""

import argparse

from tejat.app.extensions.removal import describe_removal, uninstall_extension
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, add_consent_flags, exit_codes, run_command
from tejat.cli.messages import one_line
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Remove extensions and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(words)
    if bool(options.names) == options.all:
        parser.error(_("Give the names of extensions, or --all."))
    return run_command(lambda runtime: _uninstall(runtime, options), agrees=options.yes)


async def _uninstall(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    environment = runtime.environment
    installed = environment.find_all()
    found = list(installed.extensions) if options.all else [environment.find(name) for name in options.names]
    if not found:
        return _("No extensions installed.")
    await runtime.dialog.confirm(list(map(describe_removal, found)), question=_("Remove?"))
    for extension in found:
        print(one_line(uninstall_extension(environment, extension)))
    return ""


def make_parser() -> CommandParser:
    """The parser of `tejat extensions uninstall`."""
    parser = CommandParser(
        "tejat extensions uninstall",
        _("Remove extensions with their settings. The source of a link stays."),
        usages=("tejat extensions uninstall NAME... | --all [--yes]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=_("the extensions"))
    parser.add_argument("--all", action="store_true", help=_("all extensions"))
    add_consent_flags(parser)
    return parser
