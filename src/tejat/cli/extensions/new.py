"""`tejat extensions new`: a skeleton of an extension."""

from tejat.app.extensions.templates import create_extension, template_names
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Create an extension and return the exit code."""
    options = make_parser().parse_args(words)

    async def work(_runtime: ExtensionRuntime) -> str:
        return create_extension(options.path, options.template or "")

    return run_command(work)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions new`."""
    parser = CommandParser(
        "tejat extensions new",
        _("Create an extension in a new directory, whose name becomes its name."),
        usages=("tejat extensions new PATH [TEMPLATE]",),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument("path", metavar="PATH", help=_("the directory to create"))
    names = ", ".join(template_names())
    parser.add_argument("template", nargs="?", metavar="TEMPLATE", help=_("example content: {names}", names=names))
    return parser
