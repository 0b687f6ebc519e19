"""`tejat hooks list`: the configured hooks."""

from tejat.app.commands.hooks import hook_states
from tejat.app.run_config import load_run_config
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_errors
from tejat.cli.run import report_input_error
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.ui.plain.table import print_table
from tejat.ui.shared.exit_status import classify_error


def run(words: list[str]) -> int:
    """Run `tejat hooks` and return the exit code."""
    if words[:1] == ["migrate"]:
        message = _("Nothing to migrate: Claude Code hooks are read directly. See `tejat hooks list`.")
        return report_input_error(message, words)
    parser = make_parser()
    options = parser.parse_args(words)
    if options.words in ([], ["list"]):
        return _list()
    return parser.reject_words(options.words)


def make_parser() -> CommandParser:
    """The parser of `tejat hooks`."""
    parser = CommandParser(
        "tejat hooks",
        _("List the configured hooks, whether each one is on, and the file that sets it."),
        usages=("tejat hooks [list]",),
        actions=(("list", _("list the hooks")),),
    )
    parser.add_argument("words", nargs="*")
    return parser


def _list() -> int:
    try:
        run_config = load_run_config(["."])
        hooks = hook_states(run_config.settings, run_config.extension_effects.hooks)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    if hooks.all:
        rows = [
            (
                each.qualified_name,
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
