"""`tejat extensions`: finds the command before its module is loaded."""

from importlib import import_module

from tejat.cli.command_parser import CommandParser
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Run `tejat extensions` and return the exit code."""
    match words:
        case [command, *rest] if command in _MODULES:
            module = import_module(f"tejat.cli.extensions.{_MODULES[command]}")
            code: int = module.run(rest) if _MODULES[command] != "switch" else module.run(rest, on=command == "enable")
            return code
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def list_extensions() -> int:
    """Run `tejat --list-extensions` and return the exit code."""
    return run(["list"])


def make_parser() -> CommandParser:
    """The parser of `tejat extensions`."""
    parser = CommandParser(
        "tejat extensions",
        _(
            "Manage extensions, in the format and directory of Gemini CLI. Nothing of an extension is run by these "
            "commands, except MCP servers by `preview --probe`. `tejat extensions COMMAND --help` shows the options of "
            "a command."
        ),
        usages=("tejat extensions COMMAND ...",),
        actions=(
            ("install", _("install from git, a GitHub release, an archive or a directory")),
            ("link", _("use the extension in a directory where it is")),
            ("update", _("update to the newest version")),
            ("uninstall", _("remove extensions")),
            ("enable", _("turn an extension on")),
            ("disable", _("turn an extension off")),
            ("list", _("list the extensions with their state")),
            ("new", _("create an extension")),
            ("validate", _("check an extension for mistakes")),
            ("config", _("set the values that an extension needs")),
            ("review", _("look at an extension and agree to it as it is now")),
            ("preview", _("show what an extension would change, without installing it")),
            ("back", _("restore the version before the last update")),
        ),
        examples=(
            ("tejat extensions install https://github.com/owner/name", ""),
            ("tejat extensions preview ./my-extension", _("what a session would get")),
            ("tejat extensions update --all", ""),
        ),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands."""
    modules = {command: import_module(f"tejat.cli.extensions.{name}") for command, name in _MODULES.items()}
    return {
        command: module.make_parser(on=command == "enable") if _MODULES[command] == "switch" else module.make_parser()
        for command, module in modules.items()
    }


_MODULES = {
    "install": "install",
    "link": "link",
    "update": "update",
    "uninstall": "uninstall",
    "enable": "switch",
    "disable": "switch",
    "list": "list",
    "new": "new",
    "validate": "validate",
    "config": "config",
    "review": "review",
    "preview": "preview",
    "back": "back",
}
