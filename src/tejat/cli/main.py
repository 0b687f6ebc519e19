"""The command line: decides which command is meant before anything heavy is loaded."""

import io
import os
import sys

from tejat import __version__
from tejat.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE

HELP = """\
usage: tejat [--help] [--version] COMMAND ...

Tejat reads, searches and edits files and runs commands, for you or for a model, inside the directories you name.

commands:
  tools list            what tools there are
  tools call NAME ...   run one tool
  policy ...            what may run without asking, and why: explain, list, revoke, test
  undo ...              what was changed, and how to take it back
  jobs ...              commands left in the background
  doctor                what works here, above all the sandbox

options:
  -h, --help            show this help
  -V, --version         show the version

`tejat tools --help` tells more. Example: tejat tools call glob pattern='**/*.py'
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    _mend_streams()
    try:
        code = _dispatch(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell. The interpreter would complain while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_BROKEN_PIPE
    except OSError as error:
        print(f"tejat: {error.strerror or error}", file=sys.stderr)
        return EXIT_FAILED


def _mend_streams() -> None:
    """UTF-8 whatever the locale says, and something to write to where the caller closed a stream."""
    for name, flags in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, flags, encoding="utf-8"))  # noqa: SIM115 -- open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape" if name == "stdin" else "backslashreplace")


def _dispatch(given: list[str]) -> int:
    match given:
        case [] | ["-h" | "--help", *_]:
            print(HELP, end="")
            return EXIT_OK
        case ["-V" | "--version", *_]:
            print(f"tejat {__version__}")
            return EXIT_OK
        case ["tools", *rest]:
            from tejat.cli.tools import run

            return run(rest)
        case ["policy", *rest]:
            from tejat.app import open_policy
            from tejat.cli.policy import run

            return run(rest, open_policy)
        case ["undo", *rest]:
            from tejat.app import open_undo
            from tejat.cli.undo import run

            return run(rest, open_undo)
        case ["jobs", *rest]:
            from tejat.app import open_jobs
            from tejat.cli.jobs import run

            return run(rest, open_jobs)
        case ["doctor", *rest]:
            from tejat.app import examine
            from tejat.cli.doctor import run

            return run(rest, examine)
        case [unknown, *_]:
            print(f"tejat: there is no command {unknown!r}. `tejat --help` lists them.", file=sys.stderr)
            return EXIT_USAGE
        case _:
            raise AssertionError(given)
