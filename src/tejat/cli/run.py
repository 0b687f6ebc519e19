"""`tejat`, `tejat -p PROMPT` and all that goes with a model: decides what is wanted."""

import sys
from collections.abc import Sequence

from tejat.cli.args import BadArguments, find_output_format, parse_args
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text


def run(words: Sequence[str]) -> int:
    """Do what the words ask for and return the exit code."""
    try:
        options = parse_args(words)
        if options.prompt_interactive is not None and not sys.stdin.isatty():
            raise BadArguments(_("The --prompt-interactive flag cannot be used when input is piped from stdin."))
    except BadArguments as error:
        return _report_bad_arguments(str(error), words)
    if options.list_sessions or options.delete_session is not None:
        from tejat.cli.commands.sessions import run_sessions

        return run_sessions(options)
    if options.prompt is None and sys.stdin.isatty():
        from tejat.cli.interactive import run_interactive

        return run_interactive(options)
    from tejat.cli.headless import run_prompt

    return run_prompt(options)


def _report_bad_arguments(message: str, words: Sequence[str]) -> int:
    """Say what is wrong with the words, also to a program that reads the result."""
    wanted = find_output_format(words)
    if wanted == "text":
        print(f"tejat: {sanitize_text(translate(message))}", file=sys.stderr)
    else:
        from tejat.cli.headless import report_failure

        report_failure(message, output_format=wanted, code=EXIT_INPUT)
    print(_("`tejat --help` shows what can be asked for."), file=sys.stderr)
    return EXIT_INPUT
