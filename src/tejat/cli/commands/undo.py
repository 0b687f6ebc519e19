"""`tejat undo`: list, show and undo file changes of tool calls."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing

from tejat.app.inspection.openers import open_undo
from tejat.app.session.undo.text import (
    MAX_PATHS,
    change_counts,
    latest_entries,
    more_text,
    remark_text,
    summary_text,
    undo_action,
    undoable_entries,
)
from tejat.cli.command_parser import CommandParser, directory_argument
from tejat.cli.messages import confirm, print_error
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.i18n import _, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.core.undo import ForeignChange, PathProblem, RestoreResult, RestoreScope, UndoEntry, UndoLog, find_entry
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.diff import format_diff, format_diff_rows
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.fit import fit_rows
from tejat.ui.shared.diff.rows import build_diff_rows

_MAX_PREVIEWED, _PREVIEW_ROWS = 5, 12
"""Files whose changes are shown before they are undone, and rows of each."""


def run(words: list[str]) -> int:
    """Run `tejat undo` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    try:
        with closing(open_undo(options.root or ["."])) as journal:
            return _run_command(parser, options, journal)
    except UsageError as error:
        print_error(error)
        return EXIT_USAGE


def make_parser() -> CommandParser:
    """The parser of `tejat undo`."""
    parser = CommandParser(
        "tejat undo",
        _(
            "List and revert file changes made by tool calls. All changes of one run of a sub-agent are one entry. "
            "Files that have changed since then are left alone. A restore can be undone too. Your git repository is "
            "never touched."
        ),
        usages=(
            "tejat undo [list] [--json] [--root DIR]",
            "tejat undo show ID [--root DIR]",
            "tejat undo restore ID [PATH ...] [--all] [--yes] [--partial] [--root DIR]",
            "tejat undo --last N [--all] [--yes] [--root DIR]",
        ),
        actions=(
            ("list", _("list the changes, newest first")),
            ("show", _("show a change as a diff")),
            ("restore", _("revert a change, or only the named paths")),
        ),
        notes=_(
            "Changes made by other programs while a call ran are kept, unless you name the path or use --all. Calls "
            "that only wrote caches do not count for --last."
        ),
        examples=(
            ("tejat undo --last 1", _("revert the latest call")),
            ("tejat undo show 5c5646", _("show what this call changed")),
        ),
        exit_codes=(
            ("0", _("everything the call changed is restored")),
            ("1", _("something was not restored")),
            ("2", _("bad usage")),
            ("3", _("not confirmed")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument(
        "--last",
        type=int,
        metavar="N",
        help=_("revert the last N calls, newest first, up to the first that cannot be reverted"),
    )
    parser.add_argument("--all", action="store_true", help=_("also revert what other programs may have changed"))
    parser.add_argument("--yes", action="store_true", help=_("do not ask"))
    parser.add_argument("--partial", action="store_true", help=_("revert unchanged files and leave the rest"))
    parser.add_argument("--json", action="store_true", help=_("print the entries as a JSON array"))
    parser.add_argument(
        "--root", action="append", type=directory_argument, metavar="DIR", help=_("the project directory (default: .)")
    )
    return parser


def _run_command(parser: CommandParser, options: argparse.Namespace, journal: UndoLog) -> int:
    match options.words:
        case [] if options.last is not None:
            return _restore_last(journal, options.last, options)
        case _ if options.last is not None:
            raise UsageError(_("--last cannot be combined with a command."))
        case [] | ["list"]:
            return _list(journal, as_json=options.json)
        case ["show", entry_id]:
            return _show(journal, entry_id)
        case ["restore", entry_id, *paths]:
            return _restore_one(journal, entry_id, paths, options)
        case _:
            return parser.reject_words(options.words)


def _list(journal: UndoLog, *, as_json: bool) -> int:
    entries = journal.entries()
    if as_json:
        print(dump_json([entry.to_json() for entry in entries], indent=2))
        return EXIT_OK
    for entry in entries:
        print(_title(entry))
        for remark in entry.skipped[:MAX_PATHS]:
            print(f"        {_not_undoable(remark)}")
    if not entries:
        print(_("Nothing to undo."))
    for note in journal.notes():
        print(_("note: {note}", note=sanitize_text(translate(note))), file=sys.stderr)
    return EXIT_OK


def _show(journal: UndoLog, entry_id: str) -> int:
    entry = _find(journal, entry_id)
    print(_title(entry))
    for part in entry.parts:
        print(f"        {_title(part)}")
    style = Style(sys.stdout)
    for piece in journal.show(entry.id):
        print(format_diff(piece, style))
    for remark in entry.skipped:
        print(_not_undoable(remark))
    for other in entry.foreign:
        print(_("possibly changed by another program: {remark}", remark=remark_text(other)))
    return EXIT_OK


def _restore_last(journal: UndoLog, count: int, options: argparse.Namespace) -> int:
    if count < 1:
        raise UsageError(_("--last must be a number above 0."))
    calls = latest_entries(undoable_entries(journal.entries()), count)
    if not calls:
        print(_("Nothing to undo."))
        return EXIT_OK
    return _restore(journal, calls, RestoreScope(foreign=options.all, partial=options.partial), options)


def _restore_one(journal: UndoLog, entry_id: str, paths: Sequence[str], options: argparse.Namespace) -> int:
    if paths and options.all:
        raise UsageError(_("--all cannot be combined with paths."))
    named = tuple(os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths)
    scope = RestoreScope(named, foreign=options.all, partial=options.partial)
    return _restore(journal, [_find(journal, entry_id)], scope, options)


def _restore(journal: UndoLog, entries: Sequence[UndoEntry], scope: RestoreScope, options: argparse.Namespace) -> int:
    if not options.yes:
        for entry in entries:
            _print_plan(entry, journal.preview(entry.id, scope) if len(entries) == 1 else None)
        if not is_interactive():
            print_error(_("No terminal to ask on. Use --yes to restore without asking."))
            return EXIT_NOT_CONFIRMED
        if len(entries) == 1:
            _print_changes(journal, entries[0])
        if not confirm(_("Restore these files? [y]es / [n]o:")):
            print(_("Nothing was changed."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    is_complete = True
    for entry in entries:
        result = journal.restore(entry.id, scope)
        _print_result(entry, result)
        is_complete = is_complete and result.is_complete
        if result.refused:
            break
    return EXIT_OK if is_complete else EXIT_FAILED


def _print_changes(journal: UndoLog, entry: UndoEntry) -> None:
    """Print the beginning and the end of each change that would be undone."""
    style = Style(sys.stderr)
    for piece in journal.show(entry.id)[:_MAX_PREVIEWED]:
        for line in format_diff_rows(fit_rows(build_diff_rows(piece), _PREVIEW_ROWS), style):
            print(line, file=sys.stderr)


def _print_plan(entry: UndoEntry, preview: RestoreResult | None) -> None:
    print(_title(entry), file=sys.stderr)
    planned = None if preview is None else set(preview.restored)
    changes = entry.own_changes if planned is None else [one for one in entry.changes if one.full_path in planned]
    lines = [f"{undo_action(change.kind)} {sanitize_text(change.full_path)}" for change in changes[:MAX_PATHS]]
    if len(changes) > MAX_PATHS:
        lines.append(more_text(len(changes)))
    lines += map(_not_undoable, entry.skipped[:MAX_PATHS])
    left_out = entry.foreign if preview is None else preview.left_out
    lines += [_("left unchanged: {remark}", remark=remark_text(other)) for other in left_out[:MAX_PATHS]]
    refused = () if preview is None else preview.refused
    lines += [_("conflict: {remark}", remark=remark_text(remark)) for remark in refused[:MAX_PATHS]]
    for line in lines:
        print(f"        {line}", file=sys.stderr)


def _print_result(entry: UndoEntry, result: RestoreResult) -> None:
    if result.restored:
        count = len(result.restored)
        print(ngettext("{entry}: restored {count} path.", "{entry}: restored {count} paths.", count, entry=entry.id))
    elif result.is_complete and not result.left_out:
        print(_("{entry}: nothing left to restore.", entry=entry.id))
    elif not result.refused:
        print(_("{entry}: nothing was restored.", entry=entry.id))
    for remark in result.left_in_place:
        print(f"        {remark_text(remark)}")
    if result.refused:
        if not result.restored:
            print_error(_("{entry} was not restored and nothing was changed:", entry=entry.id))
        _print_remarks(result.refused)
        if not result.restored:
            print(_("Use --partial to restore the rest."), file=sys.stderr)
    if result.left_out:
        print_error(_("Left unchanged, because something else may have changed it:"))
        _print_remarks(result.left_out)
        command = f"tejat undo restore {entry.id}"
        print(_("To restore all of it: {command} --all, or name the paths.", command=command), file=sys.stderr)
    if result.lost:
        print_error(_("Part of {entry} cannot be undone:", entry=entry.id))
        _print_remarks(result.lost)
    if result.unrecorded:
        print_error(_("This restore cannot be undone: {why}", why=result.unrecorded))


def _print_remarks(remarks: Sequence[PathProblem | ForeignChange]) -> None:
    for remark in remarks[:MAX_PATHS]:
        print(f"        {remark_text(remark)}", file=sys.stderr)
    if len(remarks) > MAX_PATHS:
        print(f"        {more_text(len(remarks))}", file=sys.stderr)


def _find(journal: UndoLog, entry_id: str) -> UndoEntry:
    found = find_entry(journal.entries(), entry_id)
    if found is None:
        raise UsageError(_("No entry {entry!r}. Run `tejat undo` to list all entries.", entry=entry_id))
    return found


def _title(entry: UndoEntry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    undone = " " + _("(undone by {entry})", entry=entry.undone_by) if entry.undone_by else ""
    title = f"{entry.id}  {when}  {sanitize_text(entry.tool)}: {summary_text(entry)}"
    return f"{title} [{change_counts(entry)}]{undone}"


def _not_undoable(remark: PathProblem) -> str:
    return _("cannot be undone: {remark}", remark=remark_text(remark))
