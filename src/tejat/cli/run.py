"""`tejat` and `tejat -p PROMPT`: a run with a model, interactive or headless."""

import sys
from collections.abc import Sequence
from functools import partial

from tejat.cli.args import BadArguments, RunOptions, find_output_format, parse_args, to_agent_options
from tejat.cli.messages import print_error
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.i18n import _


def run(words: Sequence[str]) -> int:
    """Parse the command line, do what it asks for and return the exit code."""
    try:
        options = parse_args(words)
        if options.prompt_interactive is not None and not sys.stdin.isatty():
            raise BadArguments(_("The --prompt-interactive flag cannot be used when input is piped from stdin."))
    except BadArguments as error:
        return _report_bad_arguments(str(error), words)
    if options.debug:
        from tejat.core.log import enable_debug

        enable_debug()
    if options.list_sessions or options.delete_session is not None:
        from tejat.cli.commands.sessions import run_sessions

        return run_sessions(options)
    if options.prompt is None and sys.stdin.isatty():
        from tejat.cli.interactive import run_interactive

        return run_interactive(options)
    return _run_headless(options)


def _run_headless(options: RunOptions) -> int:
    from tejat.app.session.manager import open_agent
    from tejat.ui.headless.runner import run_headless

    return run_headless(
        partial(open_agent, to_agent_options(options), None),
        options.prompt,
        output_format=options.output_format or "text",
        is_replay=options.replay is not None,
    )


def _report_bad_arguments(message: str, words: Sequence[str]) -> int:
    """Report what is wrong with the command line, in the output format that was asked for."""
    output_format = find_output_format(words) or "text"
    if output_format == "text":
        print_error(message)
    else:
        from tejat.ui.headless.runner import report_failure

        report_failure(message, output_format=output_format, code=EXIT_INPUT)
    print(_("`tejat --help` shows what can be asked for."), file=sys.stderr)
    return EXIT_INPUT
