"""`tejat sessions`, `--list-sessions` and `--delete-session`."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.app.inspection import open_sessions
from tejat.app.model_source import new_session_id
from tejat.app.run_config import load_run_config
from tejat.app.session.chat_import import find_chats, import_chat
from tejat.app.session.transcript_export import render_transcript
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_bad_usage, print_error, print_errors
from tejat.core.errors import TejatError, UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.core.text.time_format import format_time
from tejat.ui.shared.exit_status import classify_error

if TYPE_CHECKING:
    from tejat.app.inspection import SessionStore


def run(words: list[str]) -> int:
    """Run `tejat sessions` and return the exit code."""
    if "-h" in words or "--help" in words:
        print(help_text(), end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    match options.words:
        case [] | ["list"]:
            return list_sessions(as_json=options.json)
        case ["show", which]:
            return _guarded(lambda sessions: _show(sessions, which))
        case ["delete", which]:
            return delete_session(which)
        case ["export", which]:
            return _guarded(lambda sessions: _export(sessions, which, None, as_json=options.json))
        case ["export", which, file]:
            return _guarded(lambda sessions: _export(sessions, which, file, as_json=options.json))
        case ["import"]:
            return _guarded(lambda _sessions: _import_own(all_of_them=options.all))
        case ["import", file] if not options.all:
            return _guarded(lambda _sessions: _import([file]))
        case _:
            message = _("`tejat sessions` takes list, show, delete, export or import.")
            return print_bad_usage(message, help_text())


def help_text() -> str:
    return _("""\
usage: tejat sessions [list] [--json]
       tejat sessions show SESSION
       tejat sessions delete SESSION
       tejat sessions export SESSION [FILE] [--json]
       tejat sessions import [FILE | --all]

Manage the stored sessions of the project in this directory. SESSION is latest, a number from the list, an id or the
beginning of one. `tejat --resume SESSION` resumes it.

  list    list the sessions, the most recent last
  show    print the conversation
  delete  delete a session
  export  write the conversation to FILE or standard output, as Markdown or with --json as JSON
  import  copy a chat of Gemini CLI into a new session: FILE, or the latest chat of this project

options:
  --json         list or export as JSON; a FILE that ends in .json is JSON too
  --all          import every chat of this project
  -d, --debug    write details to the log, and show where an internal error happened
  -h, --help     show this help
  -v, --version  show the version

exit codes: 0 done, 2 bad usage, 42 there is no such session or file, or it cannot be used
""")


def list_sessions(*, as_json: bool = False) -> int:
    """List the sessions of the project and return the exit code."""
    return _guarded(lambda sessions: _list(sessions, as_json=as_json))


def delete_session(which: str) -> int:
    """Delete one session and return the exit code."""

    def delete(sessions: "SessionStore") -> None:
        deleted = sessions.delete(which)
        print(_("Deleted session {session}.", session=sanitize_text(deleted.session_id)))

    return _guarded(delete)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="tejat sessions", usage=help_text().partition(": ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", action="store_true")
    return parser


def _guarded(work: "Callable[[SessionStore], None]") -> int:
    """Do the work with the sessions of the project, and return the exit code."""
    try:
        work(open_sessions("."))
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    return EXIT_OK


def _list(sessions: "SessionStore", *, as_json: bool) -> None:
    found = sessions.list_sessions()
    if as_json:
        names = ("number", "session_id", "title", "model", "started", "modified", "size", "path")
        print(dump_json([{name: getattr(entry, name) for name in names} for entry in found], indent=2))
        return
    if not found:
        print(_("There are no sessions for this project yet."))
        return
    print(_("Available sessions for this project ({count}):", count=len(found)))
    for entry in found:
        when = format_time(entry.modified)
        title = sanitize_text(entry.title) or _("(no prompt)")
        print(f"  {entry.number}. {title} ({when}) [{sanitize_text(entry.session_id)}]")


def _show(sessions: "SessionStore", which: str) -> None:
    text = _transcript(sessions, which, as_json=False)
    print(sanitize_text(text) if sys.stdout.isatty() else text, end="")


def _export(sessions: "SessionStore", which: str, file: str | None, *, as_json: bool) -> None:
    text = _transcript(sessions, which, as_json=as_json or (file or "").endswith(".json"))
    if file is None:
        print(text, end="")
        return
    try:
        with open(file, "x", encoding="utf-8", errors="backslashreplace", opener=_private_opener) as target:
            target.write(text)
    except FileExistsError:
        raise UsageError(_("{path} already exists. Choose another name.", path=file)) from None
    except OSError as error:
        raise UsageError(_("Cannot write {path}: {reason}.", path=file, reason=error.strerror or error)) from None
    print(_("Exported to {path}.", path=sanitize_text(file)))


def _private_opener(path: str, flags: int) -> int:
    """Only the owner may read a conversation."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _transcript(sessions: "SessionStore", which: str, *, as_json: bool) -> str:
    loaded = sessions.load(sessions.find(which))
    print_errors((*loaded.problems, *loaded.repairs))
    return render_transcript(loaded.messages[loaded.preamble_length :], as_json=as_json)


def _import_own(*, all_of_them: bool) -> None:
    """Import the latest chat of this project, or all of them."""
    config = load_run_config(["."])
    found = find_chats(config.paths, config.roots[0])
    if not found:
        raise UsageError(_("Gemini CLI saved no chats for this project. Name a file: tejat sessions import FILE"))
    _import(found if all_of_them else found[-1:])


def _import(files: list[str]) -> None:
    config = load_run_config(["."])
    for file in files:
        entry, problems = import_chat(config, file, new_session_id())
        print_errors(problems)
        print(_("Imported {path}.", path=sanitize_text(file)))
        print(_("Resume it with: {command}", command=f"tejat --resume {entry.session_id}"))
