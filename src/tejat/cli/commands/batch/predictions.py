"""`tejat batch predictions`: the patches of a batch in the format of SWE-bench."""

import sys

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import read_results
from tejat.batch.predictions import write_predictions
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.batch.access import existing_batch
from tejat.cli.messages import print_error
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, ngettext


def run(words: list[str]) -> int:
    """Run `tejat batch predictions` and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    directory: BatchDirectory = existing_batch(options.directory)
    count = write_predictions(directory, read_results(directory), sys.stdout, name=options.name, warn=print_error)
    print(ngettext("{count} prediction written.", "{count} predictions written.", count), file=sys.stderr)
    return EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat batch predictions`."""
    parser = CommandParser(
        "tejat batch predictions",
        _("Print the patches of a batch as JSON Lines that the SWE-bench harness reads."),
        usages=("tejat batch predictions DIR [--name NAME]",),
        notes=_("Tasks with an error and skipped tasks are left out. Task ids must be the instance ids of SWE-bench."),
        examples=(("tejat batch predictions out --name tejat > predictions.jsonl", ""),),
        exit_codes=(("0", _("done")), ("2", _("bad usage")), ("42", _("no batch in this directory"))),
    )
    parser.add_argument("directory", metavar="DIR", help=_("the directory of the batch"))
    parser.add_argument("--name", default="tejat", metavar="NAME", help=_("the name of the model (default: tejat)"))
    return parser
