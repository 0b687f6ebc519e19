"""`tejat batch report`: success, cost, time and failures of a batch."""

import os
import sys

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results
from tejat.batch.report.figures import collect_figures, figures_to_json
from tejat.batch.report.html import REPORT_NAME, render_report
from tejat.batch.report.terminal import render
from tejat.batch.result import TaskResult
from tejat.batch.text.terminal_style import TerminalStyle
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.batch.access import existing_batch, write_page
from tejat.core.exit_codes import EXIT_OK
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Run `tejat batch report` and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    batches = [existing_batch(path) for path in options.directories]
    directory, results = _join(batches)
    if options.html is not None:
        path = options.html or os.path.join(directory.path, REPORT_NAME)
        write_page(path, render_report(directory, results, path=path))
        return EXIT_OK
    figures = collect_figures(results)
    if options.json:
        print(dump_json(figures_to_json(figures), indent=2))
        return EXIT_OK
    style = TerminalStyle(sys.stdout)
    print(render(figures, results, style, style.columns, shows_all=options.all))
    return EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat batch report`."""
    parser = CommandParser(
        "tejat batch report",
        _("Show what a batch achieved and cost. Several directories, such as those of shards, count as one batch."),
        usages=("tejat batch report DIR ... [--all] [--html [FILE] | --json]",),
        examples=(
            ("tejat batch report out", ""),
            ("tejat batch report out --html", _("write out/report.html, a page with charts")),
            ("tejat batch report out-* --json", _("the figures of all shards")),
        ),
        exit_codes=(("0", _("done")), ("2", _("bad usage")), ("42", _("no batch in this directory"))),
    )
    parser.add_argument("directories", nargs="+", metavar="DIR", help=_("the directory of a batch"))
    parser.add_argument("--all", action="store_true", help=_("list the tasks that passed too"))
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument(
        "--html", nargs="?", const="", metavar="FILE", help=_("write a page with charts (default: DIR/report.html)")
    )
    formats.add_argument("--json", action="store_true", help=_("print the figures as JSON"))
    return parser


def _join(batches: list[BatchDirectory]) -> tuple[BatchDirectory, list[TaskResult]]:
    """The results of all batches, with paths relative to a directory that contains them."""
    parent = BatchDirectory(os.path.commonpath([batch.path for batch in batches]))
    results: list[TaskResult] = []
    for batch in batches:
        prefix = parent.relative(batch.path)
        for result in read_results(batch):
            places = {
                name: os.path.normpath(os.path.join(prefix, getattr(result, name)))
                for name in ("directory", "patch")
                if getattr(result, name)
            }
            results.append(replace(result, **places))
    return parent, results
