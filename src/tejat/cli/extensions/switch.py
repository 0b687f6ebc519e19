"""`tejat extensions enable` and `disable`: turn extensions on and off."""

from tejat.app.extensions.switch import switch_extension
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.config.extensions.settings_values import SettingScope
from tejat.core.i18n import _


def run(words: list[str], *, on: bool) -> int:
    """Turn an extension on or off and return the exit code."""
    options = make_parser(on=on).parse_args(words)

    async def work(runtime: ExtensionRuntime) -> str:
        return switch_extension(runtime.environment, options.name, SettingScope(options.scope), on=on)

    return run_command(work)


def make_parser(*, on: bool) -> CommandParser:
    """The parser of `tejat extensions enable` or `disable`."""
    word = "enable" if on else "disable"
    parser = CommandParser(
        f"tejat extensions {word}",
        _("Turn an extension on.") if on else _("Turn an extension off."),
        usages=(f"tejat extensions {word} NAME [--scope user|workspace]",),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument("name", metavar="NAME", help=_("the extension"))
    parser.add_argument(
        "--scope",
        choices=[scope.value for scope in SettingScope],
        default=SettingScope.USER.value,
        help=_("user: everywhere (default); workspace: in the current directory and below"),
    )
    return parser
