"""The command line: decides which command is meant before anything heavy is loaded."""

import io
import os
import sys

from tejat import __version__

HELP = """\
usage: tejat [--help] [--version] COMMAND ...

Tejat reads, searches and edits files for you or for a model, inside the directories you name.

commands:
  tools list            what tools there are
  tools call NAME ...   run one tool

options:
  -h, --help            show this help
  -V, --version         show the version

`tejat tools --help` tells more. Example: tejat tools call glob pattern='**/*.py'
"""

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_OUTPUT_LOST = 1
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
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
        return EXIT_OUTPUT_LOST


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
        case [unknown, *_]:
            print(f"tejat: there is no command {unknown!r}. `tejat --help` lists them.", file=sys.stderr)
            return EXIT_USAGE
        case _:
            raise AssertionError(given)
