"""`tejat sessions`, `--list-sessions` and `--delete-session`."""

import argparse
import os
import sys
import time
from collections.abc import Callable

from tejat.app.inspection.stored_sessions import ListedSession, StoredSessions
from tejat.app.model_source import new_session_id
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.session.chat_import import find_chats, import_chat
from tejat.app.session.transcript_export import render_transcript
from tejat.cli.command_parser import CommandParser
from tejat.cli.main import dispatch
from tejat.cli.messages import confirm, print_error, print_errors
from tejat.core.errors import TejatError, UsageError
from tejat.core.exit_codes import EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.core.text.time_format import format_age, format_time
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.table import print_table
from tejat.ui.shared.exit_status import classify_error

_ID_LENGTH = 8
"""Characters of an id in the list, if they are enough to tell the sessions apart."""
_CENT = 0.01


def run(words: list[str]) -> int:
    """Run `tejat sessions` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    match options.words:
        case [] | ["list"]:
            return _guarded(lambda sessions, _config: _list(sessions, options))
        case ["show", which]:
            return _guarded(lambda sessions, _config: _show(sessions, which))
        case ["resume"]:
            return _guarded(lambda sessions, _config: _resume(sessions, "latest"))
        case ["resume", which]:
            return _guarded(lambda sessions, _config: _resume(sessions, which))
        case ["delete", *which] if which:
            return _guarded(lambda sessions, _config: _delete(sessions, which, is_confirmed=options.yes))
        case ["export", which]:
            return _guarded(lambda sessions, _config: _export(sessions, which, None, as_json=options.json))
        case ["export", which, file]:
            return _guarded(lambda sessions, _config: _export(sessions, which, file, as_json=options.json))
        case ["import"]:
            return _guarded(lambda _sessions, config: _import_own(config, all_of_them=options.all))
        case ["import", file] if not options.all:
            return _guarded(lambda _sessions, config: _import(config, [file]))
        case _:
            return parser.reject_words(options.words)


def make_parser() -> CommandParser:
    """The parser of `tejat sessions`."""
    parser = CommandParser(
        "tejat sessions",
        _(
            "Manage stored sessions. SESSION is latest or a number from the list of this project, or an id or the "
            "beginning of one, in any project."
        ),
        usages=(
            "tejat sessions [list] [--all] [--json]",
            "tejat sessions show SESSION",
            "tejat sessions resume [SESSION]",
            "tejat sessions delete SESSION ... [--yes]",
            "tejat sessions export SESSION [FILE] [--json]",
            "tejat sessions import [FILE | --all]",
        ),
        actions=(
            ("list", _("list the sessions of this project, most recent last")),
            ("show", _("print the conversation")),
            ("resume", _("resume a session in its project (default: the latest)")),
            ("delete", _("delete sessions, after asking")),
            ("export", _("write the conversation to FILE or standard output, as Markdown or JSON")),
            ("import", _("import a Gemini CLI chat: FILE, or the latest chat of this project")),
        ),
        examples=(
            ("tejat sessions --all", _("the sessions of all projects")),
            ("tejat sessions export latest chat.md", _("save a conversation as Markdown")),
            ("tejat sessions delete 1 2 --yes", _("delete without asking")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("2", _("bad usage")),
            ("3", _("not confirmed")),
            ("42", _("no such session or file, or it cannot be used")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--all", action="store_true", help=_("list all projects, or import all chats of this project"))
    parser.add_argument(
        "--json", action="store_true", help=_("list or export as JSON; so does a FILE name that ends in .json")
    )
    parser.add_argument("--yes", action="store_true", help=_("delete without asking"))
    return parser


def list_sessions() -> int:
    """Print the sessions of the project as Gemini CLI does, and return the exit code."""
    return _guarded(lambda sessions, _config: _print_as_gemini(sessions))


def delete_session(which: str) -> int:
    """Delete one session without asking, and return the exit code."""
    return _guarded(lambda sessions, _config: _delete(sessions, [which], is_confirmed=True))


def _guarded(work: Callable[[StoredSessions, RunConfig], int]) -> int:
    """Do the work with the stored sessions, and return the exit code."""
    try:
        config = load_run_config(["."], faults=[])
        return work(StoredSessions(config), config)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]


def _list(sessions: StoredSessions, options: argparse.Namespace) -> int:
    found = sessions.list_sessions(every_project=options.all)
    if options.json:
        print(dump_json(list(map(_to_json, found)), indent=2))
        return EXIT_OK
    if not found:
        print(
            _("No sessions yet.") if options.all else _("No sessions in this project yet. `--all` lists all projects.")
        )
        return EXIT_OK
    ids = _short_ids([entry.summary.session_id for entry in found])
    now = time.time()
    rows = [_row(entry, short, now, every_project=options.all) for entry, short in zip(found, ids, strict=True)]
    headings = (_("AGE"), _("TURNS"), _("COST"), _("SESSION"))
    if options.all:
        print_table([(*headings, _("PROJECT"), _("PROMPT")), *rows], numeric=(1, 2))
    else:
        print_table([(_("NO."), *headings, _("PROMPT")), *rows], numeric=(0, 2, 3))
    return EXIT_OK


def _row(entry: ListedSession, short: str, now: float, *, every_project: bool) -> tuple[str, ...]:
    summary = entry.summary
    figures = format_age(now - summary.modified), str(entry.turns), _format_cost(entry.cost), short
    title = summary.title or _("(no prompt)")
    if every_project:
        return (*figures, _abbreviate_home(summary.root) or _("unknown"), title)
    return (str(summary.number), *figures, title)


def _format_cost(cost: float | None) -> str:
    if cost is None:
        return "?"
    if not cost:
        return _("free")
    return "<$0.01" if cost < _CENT else f"${cost:.2f}"


def _short_ids(ids: list[str]) -> list[str]:
    """The beginnings of the ids that tell them apart."""
    length = next((size for size in range(_ID_LENGTH, 40) if len({each[:size] for each in ids}) == len({*ids})), None)
    return [each[:length] for each in ids]


def _abbreviate_home(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def _to_json(entry: ListedSession) -> JsonObject:
    summary = entry.summary
    return {
        "number": summary.number,
        "session_id": summary.session_id,
        "title": summary.title,
        "model": summary.model,
        "started": summary.started,
        "modified": summary.modified,
        "size": summary.size,
        "path": summary.path,
        "project": summary.root,
        "turns": entry.turns,
        "tokens": entry.tokens,
        "cost": entry.cost,
    }


def _print_as_gemini(sessions: StoredSessions) -> int:
    found = [entry.summary for entry in sessions.list_sessions(every_project=False)]
    if not found:
        print(_("No sessions in this project yet."))
        return EXIT_OK
    print(_("Available sessions for this project ({count}):", count=len(found)))
    for entry in found:
        when = format_time(entry.modified)
        title = sanitize_text(entry.title) or _("(no prompt)")
        print(f"  {entry.number}. {title} ({when}) [{sanitize_text(entry.session_id)}]")
    return EXIT_OK


def _show(sessions: StoredSessions, which: str) -> int:
    text = _transcript(sessions, which, as_json=False)
    print(sanitize_text(text) if sys.stdout.isatty() else text, end="")
    return EXIT_OK


def _resume(sessions: StoredSessions, which: str) -> int:
    entry = sessions.find(which)
    if entry.root:
        try:
            os.chdir(entry.root)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(
                _("Could not open the project directory {path}: {reason}.", path=entry.root, reason=reason)
            ) from None
    return dispatch(["--resume", entry.session_id])


def _delete(sessions: StoredSessions, words: list[str], *, is_confirmed: bool) -> int:
    entries = {entry.session_id: entry for entry in map(sessions.find, words)}
    if not is_confirmed:
        for entry in entries.values():
            title = sanitize_text(entry.title) or _("(no prompt)")
            print(f"  {sanitize_text(entry.session_id)}  {title}", file=sys.stderr)
        if not is_interactive():
            print_error(_("No terminal to ask on. Use --yes to delete without asking."))
            return EXIT_NOT_CONFIRMED
        if not confirm(_("Delete permanently? [y]es / [n]o:")):
            print(_("Nothing was deleted."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    for entry in entries.values():
        sessions.delete(entry)
        print(_("Deleted session {session}.", session=sanitize_text(entry.session_id)))
    return EXIT_OK


def _export(sessions: StoredSessions, which: str, file: str | None, *, as_json: bool) -> int:
    text = _transcript(sessions, which, as_json=as_json or (file or "").endswith(".json"))
    if file is None:
        print(text, end="")
        return EXIT_OK
    try:
        with open(file, "x", encoding="utf-8", errors="backslashreplace", opener=_private_opener) as target:
            target.write(text)
    except FileExistsError:
        raise UsageError(_("{path} already exists. Choose another name.", path=file)) from None
    except OSError as error:
        raise UsageError(_("Could not write {path}: {reason}.", path=file, reason=error.strerror or error)) from None
    print(_("Exported to {path}.", path=sanitize_text(file)))
    return EXIT_OK


def _private_opener(path: str, flags: int) -> int:
    """Only the owner may read a conversation."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _transcript(sessions: StoredSessions, which: str, *, as_json: bool) -> str:
    loaded = sessions.load(sessions.find(which))
    print_errors((*loaded.problems, *loaded.repairs))
    return render_transcript(loaded.messages[loaded.preamble_length :], as_json=as_json)


def _import_own(config: RunConfig, *, all_of_them: bool) -> int:
    """Import the latest chat of this project, or all of them."""
    found = find_chats(config.paths, config.roots[0])
    if not found:
        raise UsageError(_("Gemini CLI saved no chats for this project. Name a file: tejat sessions import FILE"))
    return _import(config, found if all_of_them else found[-1:])


def _import(config: RunConfig, files: list[str]) -> int:
    for file in files:
        entry, problems = import_chat(config, file, new_session_id())
        print_errors(problems)
        print(_("Imported {path}.", path=sanitize_text(file)))
        print(_("Resume it with: {command}", command=f"tejat --resume {entry.session_id}"))
    return EXIT_OK
