"""`tejat undo`: list, show and undo file changes of tool calls."""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import assert_never

from tejat.app.inspection import open_undo
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error
from tejat.cli.yes_no import confirm
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.i18n import _, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.undo import ChangeKind, PathChange, PathProblem, RestoreResult, UndoEntry, UndoLog
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.style import Style

_MAX_PATHS = 20
_MAX_DESCRIPTION = 100


def run(words: list[str]) -> int:
    """Run `tejat undo` and return the exit code."""
    if words[:1] in (["-h"], ["--help"]):
        print(help_text(), end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    try:
        with closing(open_undo(options.root or ["."])) as journal:
            return _run_command(options, journal)
    except UsageError as error:
        print(f"tejat: {error}", file=sys.stderr)
        return EXIT_USAGE


def help_text() -> str:
    return _("""\
usage: tejat undo [list] [--json] [--root DIR]
       tejat undo show ID [--root DIR]
       tejat undo restore ID [--yes] [--partial] [--root DIR]
       tejat undo --last N [--yes] [--root DIR]

See what calls did to your files, and put it back. Only what is still as the call left it is touched, and putting back
can be undone too. Your git repository is never touched.

options:
  --last N     put back the newest N calls, newest first, up to the first that can't be
  --yes        do not ask
  --partial    put back what is unchanged since, and leave the rest
  --json       print the entries as one JSON array
  --root DIR   the directory it is about (default: .)
  -d, --debug  write details to the log, and show where an internal error happened

exit codes: 0 done, 1 something could not be put back, 2 bad usage, 3 not confirmed
""")


def _run_command(options: argparse.Namespace, journal: UndoLog) -> int:
    match options.words:
        case [] if options.last is not None:
            return _restore_last(journal, options.last, options)
        case _ if options.last is not None:
            raise UsageError(_("--last stands alone: it names the entries itself"))
        case [] | ["list"]:
            return _list(journal, as_json=options.json)
        case ["show", entry_id]:
            return _show(journal, entry_id)
        case ["restore", entry_id]:
            return _restore(journal, [_find(journal, entry_id)], options)
        case _:
            raise UsageError(_("`tejat undo` takes list, show ID or restore ID. `tejat undo --help` tells more."))


def _list(journal: UndoLog, *, as_json: bool) -> int:
    entries = journal.entries()
    if as_json:
        print(dump_json([entry.to_json() for entry in entries], indent=2))
        return EXIT_OK
    for entry in entries:
        print(_title(entry))
        for remark in entry.skipped[:_MAX_PATHS]:
            print(f"        {_not_undoable(remark)}")
    if not entries:
        print(_("Nothing to undo."))
    for note in journal.notes():
        print(_("note: {note}", note=sanitize_text(translate(note))), file=sys.stderr)
    return EXIT_OK


def _show(journal: UndoLog, entry_id: str) -> int:
    entry = _find(journal, entry_id)
    print(_title(entry))
    style = Style(sys.stdout)
    for piece in journal.show(entry.id):
        print(style.diff(piece))
    for remark in entry.skipped:
        print(_not_undoable(remark))
    return EXIT_OK


def _restore_last(journal: UndoLog, count: int, options: argparse.Namespace) -> int:
    if count < 1:
        raise UsageError(_("--last takes a number from 1 on"))
    standing = [entry for entry in journal.entries() if entry.undone_by is None and entry.undoes is None]
    calls = [entry for entry in standing if entry.tool != "undo"][:count]
    if not calls:
        print(_("Nothing to undo."))
        return EXIT_OK
    return _restore(journal, calls, options)


def _restore(journal: UndoLog, entries: Sequence[UndoEntry], options: argparse.Namespace) -> int:
    if not options.yes:
        for entry in entries:
            _print_plan(entry, journal.preview(entry.id) if len(entries) == 1 else None)
        if not is_interactive():
            print_error(_("nobody is here to say yes. With --yes it is done without asking."))
            return EXIT_NOT_CONFIRMED
        if not confirm(_("Put this back? [y]es / [n]o:")):
            print(_("Nothing was touched."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    for entry in entries:
        result = journal.restore(entry.id, partial=options.partial)
        _print_result(entry, result)
        if result.refused:
            return EXIT_FAILED
    return EXIT_OK


def _print_plan(entry: UndoEntry, preview: RestoreResult | None) -> None:
    print(_title(entry), file=sys.stderr)
    planned = None if preview is None else set(preview.restored)
    changes = [change for change in entry.changes if planned is None or change.full_path in planned]
    for change in changes[:_MAX_PATHS]:
        print(f"        {_undo_action(change)}", file=sys.stderr)
    if len(changes) > _MAX_PATHS:
        print(f"        {_and_more(len(changes))}", file=sys.stderr)
    for remark in entry.skipped[:_MAX_PATHS]:
        print(f"        {_not_undoable(remark)}", file=sys.stderr)
    for remark in () if preview is None else preview.refused[:_MAX_PATHS]:
        print("        " + _("in the way: {remark}", remark=_remark_text(remark)), file=sys.stderr)


def _print_result(entry: UndoEntry, result: RestoreResult) -> None:
    if result.restored:
        count = len(result.restored)
        print(ngettext("{entry}: put back {count} path.", "{entry}: put back {count} paths.", count, entry=entry.id))
    elif not result.refused:
        print(_("{entry}: all is as it was.", entry=entry.id))
    for remark in result.left_in_place:
        print(f"        {_remark_text(remark)}")
    if not result.refused:
        return
    if not result.restored:
        print_error(_("{entry} was not put back, nothing was touched:", entry=entry.id))
    for remark in result.refused[:_MAX_PATHS]:
        print(f"        {_remark_text(remark)}", file=sys.stderr)
    if len(result.refused) > _MAX_PATHS:
        print(f"        {_and_more(len(result.refused))}", file=sys.stderr)
    if not result.restored:
        print(_("With --partial the rest is put back."), file=sys.stderr)


def _find(journal: UndoLog, entry_id: str) -> UndoEntry:
    found = next((entry for entry in journal.entries() if entry.id == entry_id), None)
    if found is None:
        raise UsageError(_("there is no entry {entry!r}. `tejat undo` lists them.", entry=entry_id))
    return found


def _title(entry: UndoEntry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    what = sanitize_summary(entry.summary)
    if len(what) > _MAX_DESCRIPTION:
        what = f"{what[:_MAX_DESCRIPTION]}…"
    undone = " " + _("(undone by {entry})", entry=entry.undone_by) if entry.undone_by else ""
    return f"{entry.id}  {when}  {sanitize_text(entry.tool)}: {what} [{_summary(entry)}]{undone}"


def _summary(entry: UndoEntry) -> str:
    verbs = [change.kind for change in entry.changes]
    counts = [_count_label(verb, verbs.count(verb)) for verb in ChangeKind if verb in verbs]
    return ", ".join(counts) or _("nothing that can be undone")


def _count_label(verb: ChangeKind, count: int) -> str:
    match verb:
        case ChangeKind.CREATED:
            return ngettext("{count} created", "{count} created", count)
        case ChangeKind.REMOVED:
            return ngettext("{count} removed", "{count} removed", count)
        case ChangeKind.CHANGED:
            return ngettext("{count} changed", "{count} changed", count)
        case ChangeKind.PERMISSIONS:
            return ngettext("{count} permissions changed", "{count} permissions changed", count)
        case _:
            assert_never(verb)


def _undo_action(change: PathChange) -> str:
    path = sanitize_text(change.full_path)
    match change.kind:
        case ChangeKind.CREATED:
            return _("remove {path}", path=path)
        case ChangeKind.REMOVED:
            return _("bring back {path}", path=path)
        case ChangeKind.CHANGED:
            return _("put back the old content of {path}", path=path)
        case ChangeKind.PERMISSIONS:
            return _("put back the permissions of {path}", path=path)
        case _:
            assert_never(change.kind)


def _and_more(count: int) -> str:
    return _("... and {count} more", count=count - _MAX_PATHS)


def _not_undoable(remark: PathProblem) -> str:
    return _("can't be undone: {remark}", remark=_remark_text(remark))


def _remark_text(remark: PathProblem) -> str:
    return f"{sanitize_text(remark.path)}: {sanitize_text(translate(remark.reason))}"


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="tejat undo", usage=help_text().partition(": ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--last", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--root", action="append")
    return parser
