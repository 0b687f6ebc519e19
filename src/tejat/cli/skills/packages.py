"""`tejat skills install`, `link`, `uninstall`, `update` and `back`."""

import argparse
import os

from tejat.app.run_config import RunConfig
from tejat.app.skills.manager import SkillManager
from tejat.app.skills.switches import SkillScope
from tejat.cli.command_parser import CommandParser
from tejat.cli.skills.runtime import add_consent, add_scope, exit_codes, make_prompter, run_command
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.ui.plain.approver import is_interactive


def run(command: str, words: list[str]) -> int:
    """Change the installed skills and return the exit code."""
    options = make_parser(command).parse_args(words)

    async def work(run_config: RunConfig) -> list[str]:
        manager = SkillManager(
            run_config.paths,
            run_config.roots[0],
            os.environ,
            make_prompter(),
            agrees=getattr(options, "yes", False),
            can_ask=is_interactive(),
        )
        return await _change(command, manager, options)

    return run_command(work)


async def _change(command: str, manager: SkillManager, options: argparse.Namespace) -> list[str]:
    scope = SkillScope(options.scope)
    match command:
        case "install":
            return await manager.install(options.source, scope=scope, sub_path=options.path, ref=options.ref)
        case "link":
            return await manager.link(options.path, scope=scope)
        case "uninstall":
            return [await manager.uninstall(options.name, scope=scope)]
        case "update":
            names = manager.installed(scope) if options.all else options.names
            if not names and not options.all:
                raise UsageError(_("Name the skills to update, or use --all."))
            return [await manager.update(name, scope=scope) for name in names] or [_("No skills to update.")]
        case _:
            return [manager.back(options.name, scope=scope)]


def make_parser(command: str) -> CommandParser:
    """The parser of one of these commands."""
    about, usage = {
        "install": (
            _(
                "Install all skills of a source after showing what they contain. A skill with the same name is kept: "
                "see `tejat skills back`."
            ),
            "SOURCE [--path SUB] [--ref REF] [-s user|workspace] [--yes]",
        ),
        "link": (_("Use the skills in a directory where they are, by a link."), "PATH [-s user|workspace] [--yes]"),
        "uninstall": (_("Remove a skill; of a link, only the link."), "NAME [-s user|workspace] [--yes]"),
        "update": (
            _("Install skills again from their source if it has changed, after showing the difference."),
            "NAME... | --all [-s user|workspace] [--yes]",
        ),
        "back": (_("Restore the version of a skill before its last update."), "NAME [-s user|workspace]"),
    }[command]
    parser = CommandParser(
        f"tejat skills {command}",
        about,
        usages=(f"tejat skills {command} {usage}",),
        exit_codes=exit_codes(asks=command != "back"),
    )
    match command:
        case "install":
            parser.add_argument(
                "source", metavar="SOURCE", help=_("a git address, a directory, or a .skill or .zip file")
            )
            parser.add_argument("--path", metavar="SUB", default="", help=_("a directory inside the source"))
            parser.add_argument("--ref", metavar="REF", default="", help=_("a branch, tag or commit"))
        case "link":
            parser.add_argument("path", metavar="PATH", help=_("the directory of a skill, or of several"))
        case "update":
            parser.add_argument("names", nargs="*", metavar="NAME", help=_("the names of skills"))
            parser.add_argument("--all", action="store_true", help=_("all skills that were installed from a source"))
        case _:
            parser.add_argument("name", metavar="NAME", help=_("the name of a skill"))
    add_scope(parser)
    if command != "back":
        add_consent(parser)
    return parser
