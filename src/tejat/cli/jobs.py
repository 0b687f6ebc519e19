"""`tejat jobs`: the commands that were left in the background: listed, read, stopped."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.cli.style import Style
from tejat.core.errors import ToolFailure
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from tejat.core.json_text import dump_json
from tejat.core.visible import visible
from tejat.core.words import say, translated

_LINES = 100


class Job(Protocol):
    """What is known of one job."""

    @property
    def pid(self) -> int: ...
    @property
    def command(self) -> str: ...
    @property
    def directory(self) -> str: ...
    @property
    def started(self) -> float: ...
    @property
    def log(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def log_size(self) -> int: ...


class Found(Protocol):
    @property
    def jobs(self) -> Sequence[Job]: ...
    @property
    def unreadable(self) -> Sequence[str]: ...


class Part(Protocol):
    """A part of what a job has printed."""

    @property
    def text(self) -> str: ...
    @property
    def next_offset(self) -> int: ...
    @property
    def size(self) -> int: ...


class Jobs(Protocol):
    """The jobs of this user, as far as this command needs them. The last two raise ToolFailure."""

    def found(self) -> Found: ...
    def read(self, pid: int, *, offset: int | None = None, lines: int | None = None) -> Part: ...
    def stop(self, pid: int) -> Job: ...


def run(words: list[str], open_jobs: Callable[[], Jobs]) -> int:
    """Run `tejat jobs` with these words and return the exit code."""
    if words[:1] in (["-h"], ["--help"]):
        print(help_text(), end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    try:
        match options.words:
            case [] | ["list"]:
                return _list(open_jobs(), as_json=options.json)
            case ["read", pid] if pid.isdecimal():
                return _read(open_jobs(), int(pid), offset=options.offset, lines=options.lines)
            case ["stop", pid] if pid.isdecimal():
                return _stop(open_jobs(), int(pid))
            case _:
                told = say("`tejat jobs` takes list, read PID or stop PID.")
                print(f"tejat: {told}\n{help_text()}", end="", file=sys.stderr)
                return EXIT_USAGE
    except ToolFailure as failure:
        print(f"tejat: {visible(translated(failure.message))}", file=sys.stderr)
        return EXIT_FAILED


def help_text() -> str:
    return say("""\
usage: tejat jobs [list] [--json]
       tejat jobs read PID [--offset N] [--lines N]
       tejat jobs stop PID

See the commands that were left in the background, read what they have printed, stop them.

options:
  --json       print the jobs as one JSON array
  --offset N   begin with this byte of the output (default: its last lines)
  --lines N    how many lines to print at most (default: 100)

exit codes: 0 done, 1 there is no such job or it could not be read or stopped, 2 bad usage
""")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tejat jobs", usage=help_text().partition(": ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--offset", type=_count)
    parser.add_argument("--lines", type=_count, default=_LINES)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(say("{text!r} is not a number", text=text))
    return int(text)


def _list(jobs: Jobs, *, as_json: bool) -> int:
    found = jobs.found()
    for path in found.unreadable:
        told = say("this record cannot be read: {path}", path=visible(path))
        print(f"tejat: {told}", file=sys.stderr)
    if as_json:
        names = ("pid", "state", "exit_code", "signal", "started", "log", "log_size", "directory", "command")
        print(dump_json([{name: getattr(job, name) for name in names} for job in found.jobs], indent=2))
        return EXIT_OK
    heading = say("PID"), say("STATE"), say("STARTED"), say("OUTPUT"), say("COMMAND")
    rows = [heading, *map(_row, found.jobs)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    style = Style(sys.stdout)
    for number, row in enumerate(rows):
        line = "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]])
        print(style.bold(line) if number == 0 else line)
    return EXIT_OK


def _row(job: Job) -> tuple[str, str, str, str, str]:
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(job.started))
    return str(job.pid), _how_it_goes(job), began, str(job.log_size), " ".join(visible(job.command).splitlines())


def _how_it_goes(job: Job) -> str:
    if job.state == "running":
        return say("running")
    if job.signal is None:
        return say("ended") if job.exit_code is None else say("exit {code}", code=job.exit_code)
    known = {number.value: number.name for number in signal.Signals}
    return known.get(job.signal, say("signal {number}", number=job.signal))


def _read(jobs: Jobs, pid: int, *, offset: int | None, lines: int) -> int:
    part = jobs.read(pid, offset=offset, lines=lines)
    text = visible(part.text) if sys.stdout.isatty() else part.text
    print(text, end="" if text.endswith("\n") or not text else "\n")
    if part.next_offset < part.size:
        told = say("there is more, read on with --offset {offset}", offset=part.next_offset)
        print(f"tejat: {told}", file=sys.stderr)
    return EXIT_OK


def _stop(jobs: Jobs, pid: int) -> int:
    job = jobs.stop(pid)
    print(say("Process {pid} is over: {outcome}.", pid=pid, outcome=_how_it_goes(job)))
    return EXIT_OK
