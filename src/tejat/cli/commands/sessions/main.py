"""`tejat sessions`, `--list-sessions` and `--delete-session`."""

import argparse
import os
import sys
from importlib import import_module

from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig
from tejat.app.session.chat_import import find_chats, import_chat
from tejat.app.session.transcript_export import render_transcript
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.sessions.access import run_with_sessions
from tejat.cli.commands.sessions.live import run_action
from tejat.cli.commands.sessions.overview import list_sessions_of_projects
from tejat.cli.main import dispatch
from tejat.cli.messages import confirm, print_error, print_errors
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.core.text.time_format import format_time
from tejat.ui.plain.approver import is_interactive

_MAX_DAYS = 4000


def run(words: list[str]) -> int:
    """Run `tejat sessions` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    match options.words:
        case [] | ["list"]:
            return run_with_sessions(lambda sessions, config: list_sessions_of_projects(sessions, config, options))
        case ["show", which]:
            return run_with_sessions(lambda sessions, _config: _show(sessions, which))
        case ["resume"]:
            return run_with_sessions(lambda sessions, _config: _resume(sessions, "latest"))
        case ["resume", which]:
            return run_with_sessions(lambda sessions, _config: _resume(sessions, which))
        case ["delete", *which] if which:
            return run_with_sessions(lambda sessions, _config: _delete(sessions, which, is_confirmed=options.yes))
        case ["export", *_which]:
            return parser.reject_moved("export", "tejat export SESSION [FILE]")
        case ["stop" | "send" | "answer" as action, which, *rest]:
            return run_with_sessions(lambda _sessions, config: run_action(action, config.paths.runtime, which, rest))
        case ["search", _, *_] | ["stats"] | ["stats", _]:
            return run_with_sessions(lambda _sessions, config: _run_module(config, options))
        case ["import"]:
            return run_with_sessions(lambda _sessions, config: _import_own(config, all_of_them=options.all))
        case ["import", file] if not options.all:
            return run_with_sessions(lambda _sessions, config: _import(config, [file]))
        case _:
            return parser.reject_words(options.words)


def make_parser() -> CommandParser:
    """The parser of `tejat sessions`."""
    parser = CommandParser(
        "tejat sessions",
        _(
            "Manage sessions, running and stored ones. SESSION is an id or the beginning of one, in any project; for a "
            "stored session also latest, or a number from the list of --here."
        ),
        usages=(
            "tejat sessions [list] [--here] [--json]",
            "tejat sessions show SESSION",
            "tejat sessions resume [SESSION]",
            "tejat sessions delete SESSION ... [--yes]",
            "tejat sessions import [FILE | --all]",
            "tejat sessions stop SESSION",
            "tejat sessions send SESSION TEXT",
            "tejat sessions answer SESSION [QUESTION WORD [TEXT]]",
            "tejat sessions search WORD ... [--here] [--json]",
            "tejat sessions stats [SESSION] [--days N] [--json]",
        ),
        actions=(
            ("list", _("list the sessions of all projects with what they do, most recent last")),
            ("show", _("print the conversation")),
            ("resume", _("resume a session in its project (default: the latest)")),
            ("delete", _("delete sessions, after asking")),
            ("import", _("import a Gemini CLI chat: FILE, or the latest chat of this project")),
            ("stop", _("interrupt a running session, and end it if it runs in the background")),
            ("send", _("send a prompt to a running session, or a message to the model while it works")),
            ("answer", _("show the question of a session and answer it, or give the answer to one with this id")),
            ("search", _("find sessions that contain all words, most recent first; quote a phrase")),
            ("stats", _("tokens, cost, time per tool and approvals of a session, or of all sessions by day")),
        ),
        examples=(
            ("tejat sessions --here", _("the sessions of this project, with numbers")),
            ("tejat sessions answer 3f2a", _("answer the question of a session")),
            ("tejat sessions delete 1 2 --yes", _("delete without asking")),
            ("tejat sessions search 'connection refused' retry", _("a phrase and a word, in all projects")),
            ("tejat sessions stats latest", _("what the latest session did and cost")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("2", _("bad usage")),
            ("3", _("not confirmed")),
            ("42", _("no such session or file, or it cannot be used")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--all", action="store_true", help=_("import all chats of this project"))
    parser.add_argument("--here", action="store_true", help=_("list or search only this project"))
    parser.add_argument("--json", action="store_true", help=_("print as JSON"))
    parser.add_argument("--yes", action="store_true", help=_("delete without asking"))
    parser.add_argument("--days", type=_positive, metavar="N", help=_("statistics of the last N days (default: 30)"))
    return parser


def _positive(text: str) -> int:
    """Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _MAX_DAYS):
        raise argparse.ArgumentTypeError(_("give a number of days from 1 to {max}", max=_MAX_DAYS))
    return int(text)


def list_sessions() -> int:
    """Print the sessions of the project as Gemini CLI does, and return the exit code."""
    return run_with_sessions(lambda sessions, _config: _print_as_gemini(sessions))


def delete_session(which: str) -> int:
    """Delete one session without asking, and return the exit code."""
    return run_with_sessions(lambda sessions, _config: _delete(sessions, [which], is_confirmed=True))


def _print_as_gemini(sessions: StoredSessions) -> int:
    found = sessions.list_summaries(every_project=False)
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
    loaded = sessions.load(sessions.find(which))
    print_errors((*loaded.problems, *loaded.repairs))
    text = render_transcript(loaded.messages[loaded.preamble_length :], as_json=False)
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


def _run_module(config: RunConfig, options: argparse.Namespace) -> int:
    """Run an action that has a module of its own, which is loaded when it is used."""
    action, *rest = options.words
    code: int = import_module(f"tejat.cli.commands.sessions.{action}").run(config, rest, options)
    return code


def _import_own(config: RunConfig, *, all_of_them: bool) -> int:
    """Import the latest chat of this project, or all of them."""
    found = find_chats(config.paths, config.roots[0])
    if not found:
        raise UsageError(_("Gemini CLI saved no chats for this project. Name a file: tejat sessions import FILE"))
    return _import(config, found if all_of_them else found[-1:])


def _import(config: RunConfig, files: list[str]) -> int:
    for file in files:
        entry, problems = import_chat(config, file)
        print_errors(problems)
        print(_("Imported {path}.", path=sanitize_text(file)))
        print(_("Resume it with: {command}", command=f"tejat --resume {entry.session_id}"))
    return EXIT_OK
