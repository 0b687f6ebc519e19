"""`tejat extensions config`: values that extensions need."""

import argparse

from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.settings_dialog import ConfigOptions, SettingsDialog, show_values
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.config.extensions.settings_values import SettingScope
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Set values and return the exit code."""
    options = make_parser().parse_args(words)
    return run_command(lambda runtime: _configure(runtime, options))


async def _configure(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    environment = runtime.environment
    if not environment.settings.extension_config_enabled.value:
        raise ExtensionFailure(_("Settings of extensions are disabled by experimental.extensionConfig."))
    if not options.name:
        shown = [found for found in environment.find_all().extensions if found.manifest and found.manifest.settings]
        for found in shown:
            runtime.dialog.user.show(show_values(environment, found))
        return "" if shown else _("No extension has settings.")
    flags = ConfigOptions(
        setting=options.setting or "",
        scope=SettingScope(options.scope),
        unset=options.unset,
        from_environment=options.from_env,
    )
    return await SettingsDialog(environment, runtime.dialog).configure(environment.find(options.name), flags)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions config`."""
    parser = CommandParser(
        "tejat extensions config",
        _("Set the values that an extension needs. Without NAME, the values of all extensions are shown."),
        usages=("tejat extensions config [NAME [SETTING]] [options]",),
        notes=_("Secrets are never shown. Enter keeps the present value."),
        exit_codes=exit_codes(),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help=_("the extension"))
    parser.add_argument("setting", nargs="?", metavar="SETTING", help=_("name or variable of one setting"))
    parser.add_argument(
        "--scope",
        choices=[scope.value for scope in SettingScope],
        default=SettingScope.USER.value,
        help=_("user: everywhere (default); workspace: in the current directory"),
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--unset", action="store_true", help=_("remove the values"))
    instead.add_argument("--from-env", action="store_true", help=_("take the values from the environment"))
    return parser
