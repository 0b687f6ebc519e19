"""`tejat export`: write a stored session to a file, as HTML, Markdown or JSON."""

import argparse
import os
import sys

from tejat.app.inspection.session_export import SessionExport, export_session
from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.sessions.access import run_with_sessions
from tejat.cli.messages import print_error, print_errors
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.core.text.str_enum import StrEnum
from tejat.ui.html.document import render_document
from tejat.ui.html.transcript import HtmlTranscript
from tejat.ui.shared.text.sanitizer import make_terminal_safe


class ExportFormat(StrEnum):
    """The format of an exported session. The value is the ending of its files."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


def run(words: list[str]) -> int:
    """Run `tejat export` and return the exit code."""
    options = make_parser().parse_args(words)
    return run_with_sessions(lambda sessions, config: _export(sessions, config, options))


def make_parser() -> CommandParser:
    """The parser of `tejat export`."""
    parser = CommandParser(
        "tejat export",
        _(
            "Write a stored session to FILE or standard output. SESSION is an id or the beginning of one, in any "
            "project, or latest, or a number from the list of `tejat sessions --here`. Secrets are masked."
        ),
        usages=("tejat export SESSION [FILE] [--html | --md | --json]",),
        notes=_(
            "Without a flag, the ending of FILE decides the format: .html, .md or .json. Otherwise it is Markdown. "
            "FILE must not exist, and only you can read it. Check an export before you pass it on: only secrets that "
            "can be recognized are masked."
        ),
        examples=(
            ("tejat export latest session.html", _("a page that can be read in any browser")),
            ("tejat export 3 --md | less", _("read a session as Markdown")),
            ("tejat export 1f9c --json", _("for other programs")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("2", _("bad usage")),
            ("42", _("no such session, or the file exists or cannot be written")),
        ),
    )
    parser.add_argument("session", metavar="SESSION", help=_("latest, a number, an id or the beginning of one"))
    parser.add_argument("file", nargs="?", metavar="FILE", help=_("the file to write; standard output without it"))
    formats = parser.add_mutually_exclusive_group()
    for name, text in (
        (ExportFormat.HTML, _("one HTML file, without scripts and links to other files")),
        (ExportFormat.MARKDOWN, _("Markdown")),
        (ExportFormat.JSON, _("JSON, with the messages as they were stored")),
    ):
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    return parser


def _export(sessions: StoredSessions, config: RunConfig, options: argparse.Namespace) -> int:
    summary = sessions.find(options.session)
    loaded = sessions.load(summary)
    print_errors((*loaded.problems, *loaded.repairs))
    session = export_session(sessions.with_figures(summary), loaded, config.named_secrets)
    text = _render(session, options.format or _format_of(options.file))
    if options.file is None:
        sys.stdout.write(text)
    else:
        _write(options.file, text)
        print(_("Exported to {path}.", path=sanitize_text(options.file)))
    if session.masked:
        print_error(session.mask_note)
    return EXIT_OK


def _format_of(file: str | None) -> ExportFormat:
    ending = os.path.splitext(file or "")[1].lower().removeprefix(".")
    return ExportFormat(ending) if ending in set(ExportFormat) else ExportFormat.MARKDOWN


def _render(session: SessionExport, chosen: ExportFormat) -> str:
    match chosen:
        case ExportFormat.JSON:
            return session.to_json()
        case ExportFormat.MARKDOWN:
            # Tabs are part of code.
            return "\t".join(map(make_terminal_safe, session.to_markdown().split("\t")))
        case ExportFormat.HTML:
            transcript = HtmlTranscript(root=session.listed.summary.root, with_split=False)
            for event in session.events():
                transcript.handle_event(event)
            note = session.mask_note if session.masked else ""
            return render_document(session.title, session.facts, transcript.blocks(), note=note)


def _write(path: str, text: str) -> None:
    """Write a new file. Raises UsageError."""
    try:
        with open(path, "x", encoding="utf-8", errors="backslashreplace", opener=_private_opener) as target:
            target.write(text)
    except FileExistsError:
        raise UsageError(_("{path} already exists. Choose another name.", path=path)) from None
    except OSError as error:
        raise UsageError(_("Could not write {path}: {reason}.", path=path, reason=error.strerror or error)) from None


def _private_opener(path: str, flags: int) -> int:
    """Only the owner may read a conversation."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
