"""`tejat extensions list` and `--list-extensions`: the extensions of Gemini CLI that are found here."""

import os

from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.reserved import missing_command, refuse_if_switched_off
from tejat.cli.help.suggestions import closest
from tejat.cli.run import report_input_error
from tejat.config.paths import app_paths
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.ui.plain.table import print_table

_MANIFEST = "gemini-extension.json"


def run(words: list[str]) -> int:
    """Run `tejat extensions` and return the exit code."""
    parser = make_parser()
    match words:
        case _ if {"-h", "--help"} & set(words):
            parser.parse_args(words)
        case _ if (refused := refuse_if_switched_off("extensions")) is not None:
            return refused
        case ["list"]:
            return list_extensions()
        case [] | ["list", *_]:
            return parser.reject_words(words)
        case [word] if closest(word, ["list"]):
            return parser.reject_words(words)
        case _:
            return report_input_error(missing_command(f"extensions {words[0]}", ["extensions", *words]), words)
    return EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat extensions`."""
    parser = CommandParser(
        "tejat extensions",
        _(
            "List the extensions that Gemini CLI installed for you and for this project. Tejat does not load "
            "extensions yet, so there is no install, update or enable."
        ),
        usages=("tejat extensions list",),
        actions=(("list", _("list the extensions")),),
    )
    parser.add_argument("words", nargs="*")
    return parser


def list_extensions() -> int:
    """Print each extension with its directory and return the exit code."""
    rows = [(name, path) for directory in _directories() for name, path in _extensions_in(directory)]
    if not rows:
        print(_("No extensions found."))
        return EXIT_OK
    state = _("found, not loaded")
    print_table([(_("NAME"), _("STATE"), _("DIRECTORY")), *((name, state, path) for name, path in rows)])
    return EXIT_OK


def _directories() -> dict[str, None]:
    paths = app_paths(os.environ)
    return dict.fromkeys([os.path.join(paths.gemini, "extensions"), os.path.abspath(".gemini/extensions")])


def _extensions_in(directory: str) -> list[tuple[str, str]]:
    """The names and paths of the extensions in a directory, none if it cannot be read."""
    try:
        names = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    except OSError:
        return []
    paths = [(name, os.path.join(directory, name)) for name in names]
    return [(name, path) for name, path in paths if os.path.lexists(os.path.join(path, _MANIFEST))]
