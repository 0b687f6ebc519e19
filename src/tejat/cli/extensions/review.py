"""`tejat extensions review`: look at extensions and agree to them as they are now."""

import argparse

from tejat.app.extensions.review import ExtensionReview
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, add_consent_flags, exit_codes, run_command
from tejat.cli.messages import one_line
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Review extensions and return the exit code."""
    options = make_parser().parse_args(words)
    return run_command(lambda runtime: _review(runtime, options), agrees=options.yes)


async def _review(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    review = ExtensionReview(runtime.environment, runtime.dialog)
    if options.name:
        return await review.review(runtime.environment.find(options.name))
    pending = review.pending()
    for found in pending:
        print(one_line(await review.review(found)))
    return "" if pending else _("No extension is new or changed.")


def make_parser() -> CommandParser:
    """The parser of `tejat extensions review`."""
    parser = CommandParser(
        "tejat extensions review",
        _("Show an extension, with a diff of what changed since you agreed to it, and use it as it is now."),
        usages=("tejat extensions review [NAME] [--yes]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help=_("the extension (default: all that are new, changed or taken over)")
    )
    add_consent_flags(parser)
    return parser
