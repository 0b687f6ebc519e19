"""`tejat undo`: what calls did to files, and putting it back."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import assert_never

from tejat.cli.confirm import can_ask
from tejat.cli.style import Style
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.json_text import dump_json
from tejat.core.undo import Change, Entry, Journal, Remark, Restored, Verb
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated

_SHOWN_PATHS = 20
_WIDEST_WHAT = 100


def run(words: list[str], open_journal: Callable[[Sequence[str]], Journal]) -> int:
    """Run `tejat undo` with these words and return the exit code."""
    if words[:1] in (["-h"], ["--help"]):
        print(help_text(), end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    try:
        with closing(open_journal(options.root or ["."])) as journal:
            return _obey(options, journal)
    except UsageError as error:
        print(f"tejat: {error}", file=sys.stderr)
        return EXIT_USAGE


def help_text() -> str:
    return say("""\
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
""")


def _obey(options: argparse.Namespace, journal: Journal) -> int:
    match options.words:
        case [] if options.last is not None:
            return _restore_last(journal, options.last, options)
        case _ if options.last is not None:
            raise UsageError(say("--last stands alone: it names the entries itself"))
        case [] | ["list"]:
            return _list(journal, as_json=options.json)
        case ["show", entry_id]:
            return _show(journal, entry_id)
        case ["restore", entry_id]:
            return _restore(journal, [_find(journal, entry_id)], options)
        case _:
            raise UsageError(say("`tejat undo` takes list, show ID or restore ID. `tejat undo --help` tells more."))


def _list(journal: Journal, *, as_json: bool) -> int:
    entries = journal.entries()
    if as_json:
        print(dump_json([entry.to_json() for entry in entries], indent=2))
        return EXIT_OK
    for entry in entries:
        print(_title(entry))
        for remark in entry.skipped[:_SHOWN_PATHS]:
            print(f"        {_not_undone(remark)}")
    if not entries:
        print(say("Nothing to undo."))
    _say_notes(journal)
    return EXIT_OK


def _show(journal: Journal, entry_id: str) -> int:
    entry = _find(journal, entry_id)
    print(_title(entry))
    style = Style(sys.stdout)
    for piece in journal.show(entry.id):
        print(style.diff(piece))
    for remark in entry.skipped:
        print(_not_undone(remark))
    return EXIT_OK


def _restore_last(journal: Journal, count: int, options: argparse.Namespace) -> int:
    if count < 1:
        raise UsageError(say("--last takes a number from 1 on"))
    standing = [entry for entry in journal.entries() if entry.undone_by is None and entry.undoes is None]
    calls = [entry for entry in standing if entry.tool != "undo"][:count]
    if not calls:
        print(say("Nothing to undo."))
        return EXIT_OK
    return _restore(journal, calls, options)


def _restore(journal: Journal, entries: Sequence[Entry], options: argparse.Namespace) -> int:
    if not options.yes:
        for entry in entries:
            _say_plan(entry, journal.preview(entry.id) if len(entries) == 1 else None)
        if not can_ask():
            told = say("nobody is here to say yes. With --yes it is done without asking.")
            print(f"tejat: {told}", file=sys.stderr)
            return EXIT_NOT_CONFIRMED
        if not _agrees():
            print(say("Nothing was touched."), file=sys.stderr)
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
        print(f"        {_way_back(change)}", file=sys.stderr)
    if len(changes) > _SHOWN_PATHS:
        print(f"        {_and_more(len(changes))}", file=sys.stderr)
    for remark in entry.skipped[:_SHOWN_PATHS]:
        print(f"        {_not_undone(remark)}", file=sys.stderr)
    for remark in () if preview is None else preview.refused[:_SHOWN_PATHS]:
        print(f"        {say('in the way: {remark}', remark=_in_words(remark))}", file=sys.stderr)


def _agrees() -> bool:
    while True:
        print(say("Put this back? [y]es / [n]o:"), end=" ", file=sys.stderr, flush=True)
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
                print(say("Please answer y or n."), file=sys.stderr)


def _say_result(entry: Entry, result: Restored) -> None:
    if result.restored:
        count = len(result.restored)
        print(say_count("{entry}: put back {count} path.", "{entry}: put back {count} paths.", count, entry=entry.id))
    elif not result.refused:
        print(say("{entry}: all is as it was.", entry=entry.id))
    for remark in result.left:
        print(f"        {_in_words(remark)}")
    if not result.refused:
        return
    if not result.restored:
        told = say("{entry} was not put back, nothing was touched:", entry=entry.id)
        print(f"tejat: {told}", file=sys.stderr)
    for remark in result.refused[:_SHOWN_PATHS]:
        print(f"        {_in_words(remark)}", file=sys.stderr)
    if len(result.refused) > _SHOWN_PATHS:
        print(f"        {_and_more(len(result.refused))}", file=sys.stderr)
    if not result.restored:
        print(say("With --partial the rest is put back."), file=sys.stderr)


def _say_notes(journal: Journal) -> None:
    for note in journal.notes():
        print(say("note: {note}", note=visible(translated(note))), file=sys.stderr)


def _find(journal: Journal, entry_id: str) -> Entry:
    found = next((entry for entry in journal.entries() if entry.id == entry_id), None)
    if found is None:
        raise UsageError(say("there is no entry {entry!r}. `tejat undo` lists them.", entry=entry_id))
    return found


def _title(entry: Entry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    what = visible(entry.what.replace("\n", " "))
    if len(what) > _WIDEST_WHAT:
        what = f"{what[:_WIDEST_WHAT]}…"
    undone = f" {say('(undone by {entry})', entry=entry.undone_by)}" if entry.undone_by else ""
    return f"{entry.id}  {when}  {visible(entry.tool)}: {what} [{_summary(entry)}]{undone}"


def _summary(entry: Entry) -> str:
    verbs = [change.verb for change in entry.changes]
    counts = [_counted(verb, verbs.count(verb)) for verb in Verb if verb in verbs]
    return ", ".join(counts) or say("nothing that can be undone")


def _counted(verb: Verb, count: int) -> str:
    match verb:
        case Verb.CREATED:
            return say_count("{count} created", "{count} created", count)
        case Verb.REMOVED:
            return say_count("{count} removed", "{count} removed", count)
        case Verb.CHANGED:
            return say_count("{count} changed", "{count} changed", count)
        case Verb.PERMISSIONS:
            return say_count("{count} permissions changed", "{count} permissions changed", count)
        case _:
            assert_never(verb)


def _way_back(change: Change) -> str:
    path = visible(change.full_path)
    match change.verb:
        case Verb.CREATED:
            return say("remove {path}", path=path)
        case Verb.REMOVED:
            return say("bring back {path}", path=path)
        case Verb.CHANGED:
            return say("put back the old content of {path}", path=path)
        case Verb.PERMISSIONS:
            return say("put back the permissions of {path}", path=path)
        case _:
            assert_never(change.verb)


def _and_more(count: int) -> str:
    return say("... and {count} more", count=count - _SHOWN_PATHS)


def _not_undone(remark: Remark) -> str:
    return say("can't be undone: {remark}", remark=_in_words(remark))


def _in_words(remark: Remark) -> str:
    return f"{visible(remark.path)}: {visible(translated(remark.why))}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tejat undo", usage=help_text().partition(": ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--last", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--root", action="append")
    return parser
