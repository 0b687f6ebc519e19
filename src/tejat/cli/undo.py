"""`tejat undo`: what calls did to files, and putting it back."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from tejat.cli.confirm import can_ask
from tejat.cli.style import Style
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.json_text import dump_json
from tejat.core.undo import Entry, Journal, Remark, Restored, Verb
from tejat.core.visible import visible

HELP = """\
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

exit codes: 0 done, 1 something could not be put back, 2 bad usage, 3 not confirmed
"""

_SHOWN_PATHS = 20
_WIDEST_WHAT = 100


def run(words: list[str], open_journal: Callable[[Sequence[str]], Journal]) -> int:
    """Run `tejat undo` with these words and return the exit code."""
    if words[:1] in (["-h"], ["--help"]):
        print(HELP, end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    try:
        with closing(open_journal(options.root or ["."])) as journal:
            return _obey(options, journal)
    except UsageError as error:
        print(f"tejat: {error}", file=sys.stderr)
        return EXIT_USAGE


def _obey(options: argparse.Namespace, journal: Journal) -> int:
    match options.words:
        case [] if options.last is not None:
            return _restore_last(journal, options.last, options)
        case _ if options.last is not None:
            raise UsageError("--last stands alone: it names the entries itself")
        case [] | ["list"]:
            return _list(journal, as_json=options.json)
        case ["show", entry_id]:
            return _show(journal, entry_id)
        case ["restore", entry_id]:
            return _restore(journal, [_find(journal, entry_id)], options)
        case _:
            raise UsageError("`tejat undo` takes list, show ID or restore ID. `tejat undo --help` tells more.")


def _list(journal: Journal, *, as_json: bool) -> int:
    entries = journal.entries()
    if as_json:
        print(dump_json([entry.to_json() for entry in entries], indent=2))
        return EXIT_OK
    for entry in entries:
        print(_title(entry))
        for remark in entry.skipped[:_SHOWN_PATHS]:
            print(f"        can't be undone: {_in_words(remark)}")
    if not entries:
        print("Nothing to undo.")
    _say_notes(journal)
    return EXIT_OK


def _show(journal: Journal, entry_id: str) -> int:
    entry = _find(journal, entry_id)
    print(_title(entry))
    style = Style(sys.stdout)
    for piece in journal.show(entry.id):
        print(style.diff(piece))
    for remark in entry.skipped:
        print(f"can't be undone: {_in_words(remark)}")
    return EXIT_OK


def _restore_last(journal: Journal, count: int, options: argparse.Namespace) -> int:
    if count < 1:
        raise UsageError("--last takes a number from 1 on")
    standing = [entry for entry in journal.entries() if entry.undone_by is None and entry.undoes is None]
    calls = [entry for entry in standing if entry.tool != "undo"][:count]
    if not calls:
        print("Nothing to undo.")
        return EXIT_OK
    return _restore(journal, calls, options)


def _restore(journal: Journal, entries: Sequence[Entry], options: argparse.Namespace) -> int:
    if not options.yes:
        for entry in entries:
            _say_plan(entry, journal.preview(entry.id) if len(entries) == 1 else None)
        if not can_ask():
            print("tejat: nobody is here to say yes. With --yes it is done without asking.", file=sys.stderr)
            return EXIT_NOT_CONFIRMED
        if not _agrees():
            print("Nothing was touched.", file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    for entry in entries:
        result = journal.restore(entry.id, partial=options.partial)
        _say_result(entry, result)
        if result.refused:
            return EXIT_FAILED
    return EXIT_OK


def _say_plan(entry: Entry, preview: Restored | None) -> None:
    print(_title(entry), file=sys.stderr)
    planned = None if preview is None else set(preview.restored)
    changes = [change for change in entry.changes if planned is None or change.full_path in planned]
    for change in changes[:_SHOWN_PATHS]:
        print(f"        {_WAY_BACK[change.verb]} {visible(change.full_path)}", file=sys.stderr)
    if len(changes) > _SHOWN_PATHS:
        print(f"        ... and {len(changes) - _SHOWN_PATHS} more", file=sys.stderr)
    for remark in entry.skipped[:_SHOWN_PATHS]:
        print(f"        can't be undone: {_in_words(remark)}", file=sys.stderr)
    for remark in () if preview is None else preview.refused[:_SHOWN_PATHS]:
        print(f"        in the way: {_in_words(remark)}", file=sys.stderr)


def _agrees() -> bool:
    while True:
        print("Put this back? [y]es / [n]o: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        match line.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
            case _ if not line:
                print(file=sys.stderr)
                return False
            case _:
                print("Please answer y or n.", file=sys.stderr)


def _say_result(entry: Entry, result: Restored) -> None:
    if result.restored:
        print(f"{entry.id}: put back {_counted(len(result.restored), 'path')}.")
    elif not result.refused:
        print(f"{entry.id}: all is as it was.")
    for remark in result.left:
        print(f"        {_in_words(remark)}")
    if not result.refused:
        return
    if not result.restored:
        print(f"tejat: {entry.id} was not put back, nothing was touched:", file=sys.stderr)
    for remark in result.refused[:_SHOWN_PATHS]:
        print(f"        {_in_words(remark)}", file=sys.stderr)
    if len(result.refused) > _SHOWN_PATHS:
        print(f"        ... and {len(result.refused) - _SHOWN_PATHS} more", file=sys.stderr)
    if not result.restored:
        print("With --partial the rest is put back.", file=sys.stderr)


def _say_notes(journal: Journal) -> None:
    for note in journal.notes():
        print(f"note: {visible(note)}", file=sys.stderr)


def _find(journal: Journal, entry_id: str) -> Entry:
    found = next((entry for entry in journal.entries() if entry.id == entry_id), None)
    if found is None:
        raise UsageError(f"there is no entry {entry_id!r}. `tejat undo` lists them.")
    return found


def _title(entry: Entry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    what = visible(entry.what.replace("\n", " "))
    if len(what) > _WIDEST_WHAT:
        what = f"{what[:_WIDEST_WHAT]}…"
    undone = f" (undone by {entry.undone_by})" if entry.undone_by else ""
    return f"{entry.id}  {when}  {visible(entry.tool)}: {what} [{_summary(entry)}]{undone}"


def _summary(entry: Entry) -> str:
    verbs = [change.verb for change in entry.changes]
    counts = [f"{verbs.count(verb)} {verb}" for verb in Verb if verb in verbs]
    return ", ".join(counts) or "nothing that can be undone"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _in_words(remark: Remark) -> str:
    return f"{visible(remark.path)}: {visible(remark.why)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tejat undo", usage=HELP.partition("usage: ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--last", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--root", action="append")
    return parser


_WAY_BACK = {
    Verb.CREATED: "remove",
    Verb.REMOVED: "bring back",
    Verb.CHANGED: "put back the old content of",
    Verb.PERMISSIONS: "put back the permissions of",
}
