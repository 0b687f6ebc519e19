"""`tejat extensions link`: use an extension where it is."""

from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import add_consent_flags, exit_codes, run_command
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Link an extension and return the exit code."""
    options = make_parser().parse_args(words)
    return run_command(lambda runtime: runtime.installer.link(options.path, follows=options.follow), agrees=options.yes)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions link`."""
    parser = CommandParser(
        "tejat extensions link",
        _("Use the extension in a directory where it is, for example one that you are writing."),
        usages=("tejat extensions link PATH [options]",),
        notes=_(
            "Without --follow, changes in the directory are used after `tejat extensions review`. In a session whose "
            "workspace contains the directory, --follow does not count: the model could change what runs."
        ),
        exit_codes=exit_codes(),
    )
    parser.add_argument("path", metavar="PATH", help=_("the directory with the extension"))
    parser.add_argument("--follow", action="store_true", help=_("use your own changes in it without asking"))
    add_consent_flags(parser)
    return parser
