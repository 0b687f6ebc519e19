"""`tejat skills enable` and `tejat skills disable`."""

import os

from tejat.app.run_config import RunConfig
from tejat.app.skills.switches import SkillScope, SkillSwitches
from tejat.cli.command_parser import CommandParser
from tejat.cli.skills.runtime import add_scope, exit_codes, run_command
from tejat.cli.skills.show import find_row
from tejat.core.i18n import _


def run(command: str, words: list[str]) -> int:
    """Enable or disable a skill and return the exit code."""
    options = make_parser(command).parse_args(words)

    async def work(run_config: RunConfig) -> list[str]:
        name = find_row(run_config, options.name).skill.name
        switches = SkillSwitches(run_config.paths, run_config.roots[0], os.environ)
        if command == "enable":
            return [switches.enable(name)]
        return [switches.disable(name, SkillScope(options.scope))]

    return run_command(work)


def make_parser(command: str) -> CommandParser:
    """The parser of `tejat skills enable` or `tejat skills disable`."""
    is_on = command == "enable"
    parser = CommandParser(
        f"tejat skills {command}",
        _("Remove a skill from the disabled lists in your settings and the project's.")
        if is_on
        else _("Add a skill to the list skills.disabled in your settings or the project's."),
        usages=("tejat skills enable NAME",) if is_on else ("tejat skills disable NAME [-s user|workspace]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument("name", metavar="NAME", help=_("the name of a skill"))
    if not is_on:
        add_scope(parser)
    return parser
