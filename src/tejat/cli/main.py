"""The command line: finds the subcommand before anything heavy is loaded."""

import io
import os
import resource
import sys

from tejat import __version__
from tejat.core.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from tejat.core.garbage import collect_rarely

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.cli.startup.module_cache import ModuleCache

_VERSION_FLAGS = (["-v"], ["-V"], ["--version"])


def program() -> None:
    """Run the command line and end the process, whatever threads are left."""
    collect_rarely()
    # A core dump would hold the API keys in memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    cache = None if sys.argv[1:2] in _VERSION_FLAGS else _open_module_cache()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # there is no other place to report it
    if cache is not None:
        cache.update()
    # Everything is closed. Finalising the interpreter would take as long as several tool calls.
    os._exit(code)


def _open_module_cache() -> "ModuleCache | None":
    """Load the modules of this run faster, and some of them only when they are used."""
    from tejat.cli.startup.lazy_modules import load_lazily
    from tejat.cli.startup.module_cache import open_module_cache

    load_lazily()
    return open_module_cache()


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    _configure_streams()
    _apply_debug_variables()
    try:
        code = dispatch(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has left.
        _discard_output()
        return EXIT_BROKEN_PIPE
    except OSError as error:
        from tejat.core.sanitize import sanitize_text

        where = f": {sanitize_text(str(error.filename))}" if error.filename else ""
        print(f"tejat: {error.strerror or error}{where}", file=sys.stderr)
        _discard_output()
        return EXIT_FAILED
    except Exception as error:
        from tejat.app.diagnostics.log_file import report_crash
        from tejat.core.log import is_debugging

        print(f"tejat: {report_crash(error, os.environ)}", file=sys.stderr)
        if is_debugging():
            raise
        return EXIT_FAILED


def _discard_output() -> None:
    """Drop output that cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        from tejat.ui.headless.broken_pipe import discard_stdout

        discard_stdout()


def _configure_streams() -> None:
    """Use UTF-8 whatever the locale, and replace closed streams: stdout so that writing to it fails."""
    for name, way, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.open(os.devnull, way), mode, encoding="utf-8"))  # noqa: SIM115 -- open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape" if name == "stdin" else "backslashreplace")


def dispatch(given: list[str]) -> int:
    """Find what the command line asks for, do it and return the exit code."""
    if given[:1] in _VERSION_FLAGS:
        return _print_version()
    from tejat.cli.subcommands import find_command, is_action

    command = find_command(given)
    is_version = given[1:2] in _VERSION_FLAGS if command else _requested_information(given) == "--version"
    if is_version or (command == "version" and all(word.startswith("-") for word in given[1:2])):
        return _print_version()
    from tejat.cli.startup.language import choose_language

    choose_language(os.environ)
    match given:
        case ["__complete", *rest]:
            from tejat.cli.completion.values import run

            return run(rest)
        case ["-d" | "--debug", *rest] if find_command(rest):
            return _dispatch_debugging(rest)
        case [name, "-d" | "--debug", *rest] if command:
            return _dispatch_debugging([name, *rest])
        case ["help", name, *rest] if command and find_command([name]) not in (None, "help", "version"):
            return dispatch([name, *(word for word in rest[:1] if is_action(name, word)), "--help"])
        case ["help", name] if command and find_command([name]) is None and not name.startswith("-"):
            return _reject_help_topic(name)
        case ["version", _] if command:
            return _reject_version_word(given)
        case _ if command == "help" or (command is None and _requested_information(given)):
            from tejat.cli.help.run_page import help_text

            print(help_text(), end="")
            return EXIT_OK
        case [_, *rest] if command:
            return _run_command(command, rest)
        case _:
            from tejat.cli.run import run

            return run(given)


def _apply_debug_variables() -> None:
    """`DEBUG` and `DEBUG_MODE` are as good as `--debug`. Other programs give them other values than true."""
    if any(os.environ.get(name, "").strip().lower() in ("1", "true") for name in ("DEBUG", "DEBUG_MODE")):
        from tejat.core.log import enable_debug

        enable_debug()


def _dispatch_debugging(given: list[str]) -> int:
    from tejat.core.log import enable_debug

    enable_debug()
    return dispatch(given)


def _run_command(command: str, words: list[str]) -> int:
    from importlib import import_module

    from tejat.cli.subcommands import MODULES

    module, _, function = MODULES[command].partition(":")
    try:
        code: int = getattr(import_module(module), function or "run")(words)
    except SystemExit as ended:  # of argparse, after help or an error
        return int(ended.code or EXIT_OK)
    return code


def _print_version() -> int:
    print(f"tejat {__version__}")
    return EXIT_OK


def _requested_information(given: list[str]) -> str:
    """`--help` or `--version` if one of them is among the flags, else an empty string."""
    if not any(word.startswith("-") for word in given):
        return ""
    if given[0] in ("-h", "--help"):
        return "--help"
    from tejat.cli.flags import requested_information

    return requested_information(given)


def _reject_help_topic(word: str) -> int:
    from tejat.cli.help.suggestions import did_you_mean
    from tejat.cli.subcommands import NAMES
    from tejat.core.i18n import _

    hint = did_you_mean(word, NAMES) or " " + _("`tejat help` lists the commands.")
    return _reject_words(_("Unknown command {word!r}.", word=word) + hint, ["help", word])


def _reject_version_word(given: list[str]) -> int:
    from tejat.core.i18n import _

    return _reject_words(_("version takes no arguments."), given)


def _reject_words(message: str, given: list[str]) -> int:
    from tejat.cli.messages import print_error
    from tejat.cli.subcommands import prompt_command
    from tejat.core.i18n import _

    print_error(f"{message} {_('To send it to the model: {command}', command=prompt_command(given))}")
    return EXIT_USAGE
