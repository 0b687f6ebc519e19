"""`tejat` and `tejat -p PROMPT`: a run with a model, interactive or headless."""

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TypeVar

from tejat.cli.args import BadArguments, RunOptions, find_output_format, parse_args, to_agent_options
from tejat.cli.flags import split_words
from tejat.cli.subcommands import near_misses
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.frozen import replace
from tejat.core.garbage import postpone_collections, resume_collections
from tejat.core.i18n import _

_T = TypeVar("_T")


def run(words: Sequence[str]) -> int:
    """Parse the command line, do what it asks for and return the exit code."""
    try:
        options = parse_args(words)
        _check_features(options)
    except BadArguments as error:
        code = report_input_error(str(error), words)
        print(_("Run `tejat --help` for usage."), file=sys.stderr)
        return code
    if options.debug:
        from tejat.core.log import enable_debug

        enable_debug()
    if options.acp or options.login:
        # Clients add --login to the arguments of the agent, or put it in place of them.
        from tejat.cli.commands.acp import log_in, serve

        return log_in(options) if options.login else serve(options)
    if options.list_sessions or options.delete_session is not None:
        from tejat.cli.commands.sessions.main import delete_session, list_sessions

        return list_sessions() if options.delete_session is None else delete_session(options.delete_session)
    if options.list_extensions:
        from tejat.cli.extensions.main import list_extensions

        return list_extensions()
    positional = _positional_words(words)
    commands = near_misses(positional, is_first=list(words[:1]) == positional[:1])
    if commands:
        from tejat.cli.commands.near_miss import ask_or_refuse

        code = ask_or_refuse(commands, positional, words)
        if code is not None:
            return code
    if options.prompt is not None and not options.detach and _begins_conversation(options, words):
        options = replace(options, prompt=None, prompt_interactive=options.prompt)
    return _run(options, words)


def report_input_error(message: str, words: Sequence[str]) -> int:
    """Report a wrong command line in the output format that it asks for, and return the exit code."""
    from tejat.cli.messages import print_error

    output_format = find_output_format(words) or "text"
    if output_format == "text":
        print_error(message)
        return EXIT_INPUT
    from tejat.ui.headless.runner import report_failure

    return report_failure(BadArguments(message), output_format=output_format)


def _run(options: RunOptions, words: Sequence[str]) -> int:
    is_headless = options.prompt is not None or not sys.stdin.isatty()
    if options.raw_output and (not is_headless or options.output_format not in (None, "text")):
        return report_input_error(_("--raw-output works only with --prompt (-p) and the output format text."), words)
    if options.detach:
        if options.prompt is None and sys.stdin.isatty():
            return report_input_error(_("--detach works only with a prompt: -p TEXT."), words)
        from tejat.cli.commands.sessions.detached import run_detached

        return run_detached(options)
    postpone_collections()
    if is_headless:
        return _run_headless(options)
    from tejat.cli.interactive import run_interactive

    return run_interactive(options)


def _run_headless(options: RunOptions) -> int:
    from tejat.app.run_config import load_agent_config
    from tejat.app.session.lifespan import open_agent
    from tejat.cli.messages import print_error
    from tejat.ui.headless.runner import report_failure, run_headless
    from tejat.ui.remote.session_socket import serve_session, wants_socket
    from tejat.ui.signals import graceful_termination

    agent_options = to_agent_options(options)
    try:
        with graceful_termination():
            run_config = load_agent_config(agent_options)
        output_format = options.output_format or run_config.settings.output_format.value
        if options.raw_output and output_format != "text":
            raise BadArguments(_("--raw-output needs the output format text. Add -o text."))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- reported like any other error of a run
        return report_failure(error, output_format=options.output_format or "text")
    if options.raw_output and not options.accept_raw_output_risk:
        print_error(
            _(
                "--raw-output prints the model's text unchanged. Control characters in it can mislead you or take over "
                "your terminal. Use --accept-raw-output-risk to hide this warning."
            )
        )
    setting = run_config.settings.session_server.value
    serve = partial(serve_session, directory=run_config.paths.runtime, kind="headless")
    is_served = wants_socket(options.session_server, setting=setting, is_replay=options.replay is not None)
    opening = partial(open_agent, agent_options, run_config=run_config, serve=serve if is_served else None)
    return run_headless(
        partial(_open_collected, opening),
        options.prompt,
        output_format=output_format,
        is_replay=options.replay is not None,
        is_raw=options.raw_output,
    )


@asynccontextmanager
async def _open_collected(open_session: Callable[[], AbstractAsyncContextManager[_T]]) -> AsyncGenerator[_T]:
    """Open the session, and collect garbage from then on."""
    async with open_session() as session:
        resume_collections()
        yield session


def _check_features(options: RunOptions) -> None:
    """Raises BadArguments for what cannot be done here."""
    if options.worktree is not None:
        name = options.worktree or "NAME"
        command = f"git worktree add .gemini/worktrees/{name} -b worktree-{name}"
        raise BadArguments(_("--worktree is not supported yet. Create a worktree yourself: {command}", command=command))
    if options.prompt_interactive is not None and not sys.stdin.isatty():
        raise BadArguments(_("The --prompt-interactive flag cannot be used when input is piped from stdin."))


def _positional_words(words: Sequence[str]) -> list[str]:
    """The words of a prompt that is neither after a flag nor after `--`."""
    tokens = list(split_words(words))
    is_explicit = any(token.flag in ("--", "--prompt", "--prompt-interactive") for token in tokens)
    return [] if is_explicit else [str(token.value) for token in tokens if not token.flag]


def _begins_conversation(options: RunOptions, words: Sequence[str]) -> bool:
    """Whether a prompt without a flag is the first one of a conversation, as it is at a terminal."""
    is_flag = any(token.flag == "--prompt" for token in split_words(words))
    return not is_flag and options.output_format is None and sys.stdin.isatty() and sys.stdout.isatty()
