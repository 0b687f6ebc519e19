"""`tejat extensions back`: the version before the last update."""

from tejat.app.extensions.updater import ExtensionUpdater
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import exit_codes, run_command
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Restore an earlier version and return the exit code."""
    options = make_parser().parse_args(words)
    return run_command(lambda runtime: ExtensionUpdater(runtime.installer).back(options.name))


def make_parser() -> CommandParser:
    """The parser of `tejat extensions back`."""
    parser = CommandParser(
        "tejat extensions back",
        _("Restore the version of an extension before its last update. Run it again to return to the newer one."),
        usages=("tejat extensions back NAME",),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument("name", metavar="NAME", help=_("the extension"))
    return parser
