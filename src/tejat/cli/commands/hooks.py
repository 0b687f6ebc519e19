"""`tejat hooks list`: the configured hooks."""

from tejat.app.commands.hooks import hook_states
from tejat.app.run_config import load_run_config
from tejat.cli.messages import print_bad_usage, print_error, print_errors
from tejat.cli.run import report_input_error
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.ui.plain.table import print_table
from tejat.ui.shared.exit_status import classify_error


def run(words: list[str]) -> int:
    """Run `tejat hooks` and return the exit code."""
    match words:
        case _ if "-h" in words or "--help" in words:
            print(help_text(), end="")
            return EXIT_OK
        case [] | ["list"]:
            return _list()
        case ["migrate", *_]:
            message = _("Nothing to migrate: hooks of Claude Code are read as they are. See `tejat hooks list`.")
            return report_input_error(message, words)
        case _:
            return print_bad_usage(_("`tejat hooks` takes list."), help_text())


def help_text() -> str:
    return _("""\
usage: tejat hooks [list]

List the configured hooks, whether each one is on, and the file that sets it.

options:
  -h, --help     show this help
  -v, --version  show the version
""")


def _list() -> int:
    try:
        hooks = hook_states(load_run_config(["."]).settings)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    if hooks.all:
        rows = [
            (
                each.name,
                each.event.value,
                each.matcher or "*",
                _("on") if each in hooks.running else _("off"),
                each.source,
            )
            for each in hooks.all
        ]
        print_table([(_("NAME"), _("EVENT"), _("FOR"), _("STATE"), _("SOURCE")), *rows])
    else:
        print(_("No hooks are configured."))
    print_errors(hooks.warnings)
    return EXIT_OK
