"""`tejat jobs`: list, read and stop background processes."""

import argparse
import signal
import sys
from typing import TYPE_CHECKING

from tejat.app.inspection.openers import open_jobs
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error
from tejat.core.errors import ToolFailure
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.text.time_format import format_time
from tejat.ui.plain.table import print_table

if TYPE_CHECKING:
    from tejat.app.inspection.openers import JobStore

_DEFAULT_LINES = 100


def run(words: list[str]) -> int:
    """Run `tejat jobs` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    try:
        match options.words:
            case [] | ["list"]:
                return _list(open_jobs(), as_json=options.json)
            case ["read", pid] if pid.isdecimal():
                return _read(open_jobs(), int(pid), offset=options.offset, lines=options.lines)
            case ["stop", pid] if pid.isdecimal():
                return _stop(open_jobs(), int(pid))
            case _:
                return parser.reject_words(options.words)
    except ToolFailure as failure:
        print_error(failure.message)
        return EXIT_FAILED


def make_parser() -> CommandParser:
    """The parser of `tejat jobs`."""
    parser = CommandParser(
        "tejat jobs",
        _("List background processes, read their output, or stop them."),
        usages=(
            "tejat jobs [list] [--json]",
            "tejat jobs read PID [--offset N] [--lines N]",
            "tejat jobs stop PID",
        ),
        actions=(
            ("list", _("list the background processes of this user")),
            ("read", _("print the output of a process")),
            ("stop", _("stop a process and everything it started")),
        ),
        examples=(("tejat jobs read 4711 --lines 20", _("the last 20 lines of its output")),),
        exit_codes=(
            ("0", _("done")),
            ("1", _("no such process, or it could not be read or stopped")),
            ("2", _("bad usage")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", action="store_true", help=_("print the processes as a JSON array"))
    parser.add_argument("--offset", type=_count, metavar="N", help=_("start at this byte of the output"))
    parser.add_argument(
        "--lines",
        type=_count,
        default=_DEFAULT_LINES,
        metavar="N",
        help=_("print at most this many lines (default: 100)"),
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(_("{text!r} is not a number", text=text))
    return int(text)


def _list(jobs: "JobStore", *, as_json: bool) -> int:
    found = jobs.list_jobs()
    for path in found.unreadable:
        print_error(_("Could not read the process record {path}.", path=path))
    if as_json:
        names = ("pid", "state", "exit_code", "signal", "started", "log", "log_size", "directory", "command")
        print(dump_json([{name: getattr(job, name) for name in names} for job in found.jobs], indent=2))
        return EXIT_OK
    rows = [(_("PID"), _("STATE"), _("STARTED"), _("OUTPUT"), _("COMMAND"))]
    for job in found.jobs:
        state, started = _state_label(job.state, job.exit_code, job.signal), format_time(job.started)
        rows.append((str(job.pid), state, started, str(job.log_size), sanitize_summary(job.command)))
    print_table(rows)
    return EXIT_OK


def _state_label(state: str, exit_code: int | None, signal_number: int | None) -> str:
    if state == "running":
        return _("running")
    if signal_number is None:
        return _("ended") if exit_code is None else _("exit {code}", code=exit_code)
    known = {number.value: number.name for number in signal.Signals}
    return known.get(signal_number, _("signal {number}", number=signal_number))


def _read(jobs: "JobStore", pid: int, *, offset: int | None, lines: int) -> int:
    part = jobs.read_log(pid, offset=offset, lines=lines)
    text = sanitize_text(part.text) if sys.stdout.isatty() else part.text
    print(text, end="" if text.endswith("\n") or not text else "\n")
    if part.next_offset < part.size:
        print_error(_("More output follows. Continue with --offset {offset}.", offset=part.next_offset))
    return EXIT_OK


def _stop(jobs: "JobStore", pid: int) -> int:
    job = jobs.stop(pid)
    print(_("Process {pid} stopped: {outcome}.", pid=pid, outcome=_state_label(job.state, job.exit_code, job.signal)))
    return EXIT_OK
