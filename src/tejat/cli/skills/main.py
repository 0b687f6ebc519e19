"""`tejat skills`: finds the command before its module is loaded."""

from importlib import import_module

from tejat.cli.command_parser import CommandParser
from tejat.core.i18n import _

_MODULES = {
    "list": "show",
    "show": "show",
    "enable": "switch",
    "disable": "switch",
    "validate": "validate",
    **dict.fromkeys(("install", "link", "uninstall", "update", "back"), "packages"),
}


def run(words: list[str]) -> int:
    """Run `tejat skills` and return the exit code."""
    match words:
        case [command, *rest] if command in _MODULES:
            code: int = import_module(f"tejat.cli.skills.{_MODULES[command]}").run(command, rest)
            return code
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def make_parser() -> CommandParser:
    """The parser of `tejat skills`."""
    parser = CommandParser(
        "tejat skills",
        _(
            "Manage Agent Skills. Nothing of a skill is run by these commands. `tejat skills COMMAND --help` shows the "
            "options of a command."
        ),
        usages=("tejat skills COMMAND ...",),
        actions=(
            ("list", _("list the skills with their source, state and tokens")),
            ("show", _("show one skill with its instructions")),
            ("enable", _("turn a skill on")),
            ("disable", _("turn a skill off")),
            ("install", _("install from git, a directory or a .skill package")),
            ("link", _("use the skill in a directory where it is")),
            ("uninstall", _("remove a skill")),
            ("update", _("install the newest version from the source")),
            ("back", _("restore the version before the last update")),
            ("validate", _("check a skill for mistakes")),
        ),
        examples=(
            ("tejat skills list", ""),
            ("tejat skills install https://github.com/owner/skills --path pdf", ""),
            ("tejat skills validate .agents/skills/pdf", ""),
        ),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands of `tejat skills`."""
    return {
        command: import_module(f"tejat.cli.skills.{module}").make_parser(command)
        for command, module in _MODULES.items()
    }
