"""`tejat trust`: show and decide the trust of folders."""

import argparse
import os
import sys

from tejat.app.run_config import load_run_config
from tejat.app.session.prompt.instructions import accept_all_instructions, find_all_context_files, unseen_instructions
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import confirm, one_line, print_error
from tejat.config.paths import AppPaths, app_paths
from tejat.config.trust.decision import TrustDecision, TrustLevel, forget_folder, list_trusted_folders, trust_folder
from tejat.config.trust.renewal import persistent_trust
from tejat.config.trust.store import TrustItem
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.i18n import _, lazy, translate
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.core.text.time_format import format_time
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.style import Style


def run(words: list[str]) -> int:
    """Run `tejat trust` and return the exit code."""
    options = make_parser().parse_args(words)
    paths = app_paths(os.environ)
    try:
        if options.list:
            return _list(paths, as_json=options.json)
        if options.revoke is not None:
            return _revoke(paths, options.revoke)
        if options.never is not None:
            return _never(paths, options.never)
        return _trust(paths, options)
    except UsageError as error:
        print_error(error)
        return EXIT_CONFIGURATION if isinstance(error, ConfigurationError) else EXIT_USAGE


def _trust(paths: AppPaths, options: argparse.Namespace) -> int:
    root = os.path.abspath(options.directory)
    trust = persistent_trust(paths, root, os.environ)
    if options.json:
        print(dump_json(_to_json(root, trust), indent=2))
        return EXIT_OK
    _print_trust(root, trust)
    if trust.is_trusted and not options.yes:
        return _review_instructions(root, is_confirmed=False)
    if trust.problem is not None:
        return EXIT_CONFIGURATION
    if not options.yes:
        if not is_interactive():
            print_error(_("No terminal to ask on. Use --yes to trust it."))
            return EXIT_NOT_CONFIRMED
        if not confirm(_("Trust this folder as it is now? [y]es / [n]o:")):
            print(_("Nothing was changed."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    # Trust what was shown, even if it has changed meanwhile.
    trust_folder(paths, root, items=trust.items)
    print(_("Trusted: {folder}", folder=one_line(root)))
    return _review_instructions(root, is_confirmed=options.yes)


def _review_instructions(root: str, *, is_confirmed: bool) -> int:
    """Show the folder's instructions for the model that are new or changed, and accept them after a yes."""
    try:
        run_config = load_run_config([root])
    except UsageError:  # the settings cannot be read, and nothing is used before they can
        return EXIT_OK
    unseen = unseen_instructions(run_config, find_all_context_files(run_config))
    if not unseen:
        return EXIT_OK
    print(_("Instructions for the model that are new or changed, and not used yet:"))
    for each in unseen:
        print(f"  {one_line(each.path)}")
        print("\n".join(f"      {one_line(line)}" for line in each.text.strip().splitlines()))
    if not is_confirmed and not is_interactive():
        print_error(_("No terminal to ask on. Use --yes to accept them."))
        return EXIT_NOT_CONFIRMED
    if not is_confirmed and not confirm(_("Use these instructions? [y]es / [n]o:")):
        print(_("Nothing was changed."), file=sys.stderr)
        return EXIT_NOT_CONFIRMED
    accept_all_instructions(run_config)
    return EXIT_OK


def _list(paths: AppPaths, *, as_json: bool) -> int:
    folders = list_trusted_folders(paths)
    if as_json:
        entries: list[JsonObject] = [
            {"path": folder.path, "level": folder.level, "when": folder.decided_at, "byGemini": folder.from_gemini_cli}
            for folder in folders
        ]
        print(dump_json(entries, indent=2))
        return EXIT_OK
    for folder in folders:
        when = format_time(folder.decided_at)
        note = "  " + _("(from Gemini CLI)") if folder.from_gemini_cli else ""
        note = "  " + _("(with all folders in it)") if folder.is_tree else note
        print(f"{translate(_LEVEL_LABELS[folder.level]).ljust(11)}  {when}  {one_line(folder.path)}{note}")
    if not folders:
        print(_("No folder has been trusted or refused yet."))
    return EXIT_OK


_LEVEL_LABELS = {
    TrustLevel.TRUSTED: lazy("trusted"),
    TrustLevel.NOT_TRUSTED: lazy("not trusted"),
    TrustLevel.UNKNOWN: lazy("unknown"),
    TrustLevel.CHANGED: lazy("changed"),
}


def _revoke(paths: AppPaths, directory: str) -> int:
    root = os.path.abspath(directory)
    if forget_folder(paths, root):
        print(_("Decision removed: {folder}", folder=one_line(root)))
    else:
        print(_("There is no decision about {folder}.", folder=one_line(root)))
    if os.path.isdir(root):
        trust = persistent_trust(paths, root, os.environ)
        if trust.is_trusted:
            print(_("{reason} Use `tejat trust --never` to override that.", reason=one_line(trust.reason)))
    return EXIT_OK


def _never(paths: AppPaths, directory: str) -> int:
    root = os.path.abspath(directory)
    trust_folder(paths, root, level=TrustLevel.NOT_TRUSTED)
    print(_("Never trusted, including all subfolders: {folder}", folder=one_line(root)))
    return EXIT_OK


def _print_trust(root: str, trust: TrustDecision) -> None:
    print(Style(sys.stdout).bold(one_line(root)))
    changes = {item.path: _("gone") if item.kind == "gone" else _("changed") for item in trust.changed}
    gone = [item for item in trust.changed if item.kind == "gone"]
    for item in (*trust.items, *gone):
        _print_item(item, changes.get(item.path))
    if not trust.items and not gone:
        print("  " + _("has no configuration that needs trust"))
    print(one_line(trust.reason))


def _print_item(item: TrustItem, change: str | None) -> None:
    what = "" if item.kind == "gone" else f"{translate(item.label)}  "
    print(f"  {what}{one_line(item.path)}{f'  ({change})' if change else ''}")
    for line in item.details:
        print(f"      {one_line(line)}")


def _to_json(root: str, trust: TrustDecision) -> JsonObject:
    return {
        "path": root,
        "level": trust.level,
        "reason": trust.reason,
        "items": [item.to_json() for item in trust.items],
        "changed": [item.path for item in trust.changed],
    }


def make_parser() -> CommandParser:
    """The parser of `tejat trust`."""
    parser = CommandParser(
        "tejat trust",
        _("Show the configuration that a folder contains, and trust it if you agree."),
        usages=(
            "tejat trust [DIR] [--yes] [--json]",
            "tejat trust --list [--json]",
            "tejat trust --revoke DIR | --never DIR",
        ),
        notes=_(
            "Tejat works in untrusted folders too, but ignores their settings, MCP servers, hooks, commands and "
            "environment files. Trust covers the files as they are now: when one of them changes, you are asked again."
        ),
        examples=(
            ("tejat trust", _("review the current folder, and decide")),
            ("tejat trust --list", _("all decisions so far")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("2", _("bad usage")),
            ("3", _("not confirmed")),
            ("52", _("the file with the decisions cannot be used")),
        ),
    )
    parser.add_argument("directory", nargs="?", default=".", metavar="DIR", help=_("the folder (default: .)"))
    parser.add_argument("--yes", action="store_true", help=_("trust it without asking"))
    parser.add_argument("--json", action="store_true", help=_("print JSON and ask nothing"))
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help=_("list all decisions"))
    instead.add_argument("--revoke", metavar="DIR", help=_("remove the decision about a folder"))
    instead.add_argument("--never", metavar="DIR", help=_("never trust a folder and its subfolders"))
    return parser
