"""`tejat skills list` and `tejat skills show`."""

import argparse

from tejat.app.run_config import RunConfig
from tejat.app.skills.reports import SkillRow, listing_report, skill_report, skill_rows
from tejat.app.skills.service import load_library
from tejat.cli.command_parser import CommandParser
from tejat.cli.skills.runtime import exit_codes, make_prompter, run_command
from tejat.config.skills.content import read_skill_content
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(command: str, words: list[str]) -> int:
    """List the skills or show one, and return the exit code."""
    options = make_parser(command).parse_args(words)

    async def work(run_config: RunConfig) -> list[str]:
        return _list(run_config, options) if command == "list" else _show(run_config, options.name)

    return run_command(work)


def _list(run_config: RunConfig, options: argparse.Namespace) -> list[str]:
    library = load_library(run_config)
    if options.output_format == "json":
        rows = skill_rows(library, with_built_in=options.all)
        print(dump_json([row.to_json() for row in rows], indent=2))
        return []
    make_prompter().show(listing_report(run_config.paths, library, with_built_in=options.all, verbose=options.verbose))
    return []


def _show(run_config: RunConfig, name: str) -> list[str]:
    row = find_row(run_config, name)
    content = read_skill_content(row.skill)
    make_prompter().show(skill_report(run_config.paths, row, content.body, dict(content.sizes)))
    return []


def find_row(run_config: RunConfig, name: str) -> SkillRow:
    """The skill with this name, in use or not. Raises UsageError."""
    wanted = name.casefold()
    for row in skill_rows(load_library(run_config), with_built_in=True):
        if wanted in (row.name.casefold(), row.skill.qualified_name.casefold()):
            return row
    raise UsageError(_('Skill "{name}" not found.', name=name))


def make_parser(command: str) -> CommandParser:
    """The parser of `tejat skills list` or `tejat skills show`."""
    if command == "show":
        parser = CommandParser(
            "tejat skills show",
            _("Show one skill: its source, files and tokens, and its instructions."),
            usages=("tejat skills show NAME",),
            exit_codes=exit_codes(),
        )
        parser.add_argument("name", metavar="NAME", help=_("the name of a skill"))
        return parser
    parser = CommandParser(
        "tejat skills list",
        _("List the skills with their source, state and tokens, and what is wrong with others."),
        usages=("tejat skills list [--all] [--verbose] [-o json]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument("--all", action="store_true", help=_("built-in skills too"))
    parser.add_argument("--verbose", action="store_true", help=_("all fields and every notice"))
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    return parser
