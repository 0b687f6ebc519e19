"""`tejat batch diff`: two batches of the same tasks, side by side."""

import os
import sys

from tejat.batch.driver.results import read_results
from tejat.batch.report.comparison import compare_batches
from tejat.batch.report.comparison_html import render_comparison_page
from tejat.batch.report.comparison_terminal import render_comparison
from tejat.batch.report.comparison_words import comparison_to_json
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.batch.access import existing_batch, write_page
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Run `tejat batch diff` and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    first, second = existing_batch(options.first), existing_batch(options.second)
    names = _names(options.first, options.second)
    compared = compare_batches(read_results(first), read_results(second), first_name=names[0], second_name=names[1])
    if options.html is not None:
        write_page(options.html, render_comparison_page(compared))
    elif options.json:
        print(dump_json(comparison_to_json(compared), indent=2))
    else:
        style = TerminalStyle(sys.stdout)
        print(render_comparison(compared, style, style.columns, shows_all=options.all))
    return EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat batch diff`."""
    parser = CommandParser(
        "tejat batch diff",
        _(
            "Compare two batches of the same tasks, such as two models or two prompts: what only one of them solved, "
            "cost and time, and whether the difference can be chance."
        ),
        usages=("tejat batch diff A B [--all] [--html FILE | --json]",),
        examples=(("tejat batch diff out-flash out-pro", ""),),
        exit_codes=(("0", _("done")), ("2", _("bad usage")), ("42", _("no batch in this directory"))),
    )
    parser.add_argument("first", metavar="A", help=_("the directory of a batch"))
    parser.add_argument("second", metavar="B", help=_("the directory of another batch"))
    parser.add_argument("--all", action="store_true", help=_("list the tasks with the same result too"))
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--html", metavar="FILE", help=_("write a page"))
    formats.add_argument("--json", action="store_true", help=_("print the comparison as JSON"))
    return parser


def _names(first: str, second: str) -> tuple[str, str]:
    """The last parts of the paths, or the paths if these are the same."""
    one, other = (os.path.basename(os.path.abspath(path)) for path in (first, second))
    return (one, other) if one != other else (first, second)
