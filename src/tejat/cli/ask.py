"""`tejat`, `tejat -p PROMPT` and all that goes with a model: decides what is wanted."""

import sys
from collections.abc import Sequence

from tejat.cli.run_options import BadArguments, read_options, wanted_format
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.visible import visible
from tejat.core.words import say, translated


def run(words: Sequence[str]) -> int:
    """Do what the words ask for and return the exit code."""
    try:
        options = read_options(words)
        if options.prompt_interactive is not None and not sys.stdin.isatty():
            raise BadArguments(say("The --prompt-interactive flag cannot be used when input is piped from stdin."))
    except BadArguments as error:
        return _refuse(str(error), words)
    if options.list_sessions or options.delete_session is not None:
        from tejat.cli.sessions import run_sessions

        return run_sessions(options)
    if options.prompt is None and sys.stdin.isatty():
        from tejat.cli.converse import converse

        return converse(options)
    from tejat.cli.headless import run_prompt

    return run_prompt(options)


def _refuse(message: str, words: Sequence[str]) -> int:
    """Say what is wrong with the words, also to a program that reads the result."""
    wanted = wanted_format(words)
    if wanted == "text":
        print(f"tejat: {visible(translated(message))}", file=sys.stderr)
    else:
        from tejat.cli.headless import tell_failure

        tell_failure(message, output_format=wanted, code=EXIT_INPUT)
    print(say("`tejat --help` shows what can be asked for."), file=sys.stderr)
    return EXIT_INPUT
