"""`tejat batch`: finds the command before its module is loaded."""

from importlib import import_module

from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error
from tejat.core.errors import TejatError
from tejat.core.i18n import _
from tejat.ui.shared.exit_status import classify_error

_COMMANDS = ("run", "report", "diff", "apply", "predictions")


def run(words: list[str]) -> int:
    """Run `tejat batch` and return the exit code."""
    match words:
        case [command, *rest] if command in _COMMANDS:
            try:
                code: int = import_module(f"tejat.cli.commands.batch.{command}").run(rest)
            except TejatError as error:
                print_error(error)
                return classify_error(error)[1]
            return code
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def make_parser() -> CommandParser:
    """The parser of `tejat batch`."""
    parser = CommandParser(
        "tejat batch",
        _(
            "Run many tasks without a terminal, each in its own copy of a repository. `tejat batch COMMAND --help` "
            "shows the options of a command."
        ),
        usages=("tejat batch COMMAND ...",),
        actions=(
            ("run", _("run the tasks of a file, or one prompt in many repositories")),
            ("report", _("show success, cost, time and failures")),
            ("diff", _("compare two batches of the same tasks")),
            ("apply", _("turn patches into branches of the repositories")),
            ("predictions", _("write the patches in the format of SWE-bench")),
        ),
        examples=(
            ("tejat batch run tasks.jsonl --out results", ""),
            ("tejat batch run --each '~/src/*' -p 'Fix the typos in README.md.' --out typos", ""),
            ("tejat batch report results --html", ""),
        ),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands of `tejat batch`."""
    modules = {name: import_module(f"tejat.cli.commands.batch.{name}") for name in _COMMANDS}
    return {name: module.make_parser() for name, module in modules.items()}
