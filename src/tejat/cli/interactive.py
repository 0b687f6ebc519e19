"""`tejat` at a terminal: an interactive session in the terminal UI or in plain lines."""

import asyncio
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TypeAlias

from tejat.app.diagnostics.log_file import open_log
from tejat.app.onboarding.trust import StartupExit
from tejat.app.run_config import UserConfig, find_secrets, load_startup_config
from tejat.app.session.preferences import preferences_from_settings
from tejat.app.startup import open_startup_session
from tejat.cli.args import RunOptions, to_agent_options
from tejat.cli.messages import print_error
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.garbage import resume_collections
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.contract import UiSession
from tejat.ui.plain.approver import ConsoleApprover
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.repl import TypeAheadApprover, open_plain_terminal, run_plain
from tejat.ui.plain.style import Style
from tejat.ui.remote.session_socket import serve_session, wants_socket
from tejat.ui.shared.exit_status import classify_error
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager
from tejat.ui.signals import Terminated, graceful_termination

OpenSession: TypeAlias = Callable[[UserPrompter], AbstractAsyncContextManager[UiSession | StartupExit]]
"""Opens the session of a front end, after asking what is not decided yet."""


def run_interactive(options: RunOptions) -> int:
    """Run the interactive session that the command line asks for, and return the exit code."""
    return run_session(
        to_agent_options(options),
        prompt=options.prompt_interactive,
        screen_reader=options.screen_reader,
        session_server=options.session_server,
    )


def run_session(
    options: AgentOptions, *, prompt: str | None, screen_reader: bool | None, session_server: bool | None = None
) -> int:
    """Run an interactive session and return the exit code.

    `prompt` is the first prompt. `screen_reader` asks for plain lines, and `session_server` for a socket through which
    other processes reach the session; None means the settings decide.
    """

    def run() -> int | StartupExit:
        config = load_startup_config(options)
        setting = config.settings.session_server.value
        is_served = wants_socket(session_server, setting=setting, is_replay=options.replay is not None)
        serve = partial(serve_session, directory=config.paths.runtime, kind="terminal") if is_served else None
        open_session = partial(open_startup_session, options, config, serve=serve)
        return run_front_end(open_session, config, prompt=prompt, screen_reader=screen_reader)

    try:
        with graceful_termination():
            while (ended := run()) is StartupExit.DEMO:
                from tejat.cli.commands.demo.tour import run_tour

                run_tour(screen_reader=screen_reader)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    except Terminated as terminated:
        return terminated.exit_code
    except KeyboardInterrupt:
        # One more Ctrl-C while the event loop closes leaves coroutines of the loop behind.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        return EXIT_INTERRUPTED
    return EXIT_OK if ended is StartupExit.QUIT else ended


def run_front_end(
    open_session: OpenSession, config: UserConfig, *, prompt: str | None = None, screen_reader: bool | None = None
) -> int | StartupExit:
    """Run the terminal UI, or plain lines, on a session. Raises TejatError if it cannot be opened."""
    is_plain = config.settings.screen_reader.value if screen_reader is None else screen_reader
    front_end = _run_terminal if _supports_screen() and not is_plain else _run_plain
    with open_log(config.paths, find_secrets(os.environ)):
        return asyncio.run(front_end(open_session, config, prompt))


def _supports_screen() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


async def _run_plain(open_session: OpenSession, config: UserConfig, prompt: str | None) -> int | StartupExit:
    terminal = open_plain_terminal()
    folder = os.getcwd()
    preferences = preferences_from_settings(config.settings)
    editor, new_window = preferences.editor, preferences.editor_new_window
    approver = TypeAheadApprover(
        ConsoleApprover(Style(None), preferred_editor=editor, new_window=new_window, untrusted=(folder,)), terminal
    )
    # Lines that stay are easier to read out than a screen that is redrawn.
    pager = Pager((folder,)) if os.environ.get("PAGER") else None
    external = ExternalEditor(editor, (folder,), new_window)
    user = PlainPrompter(terminal.output.print_line, Style(None), external, pager)
    async with open_session(user) as session:
        if isinstance(session, StartupExit):
            return session
        resume_collections()
        return await run_plain(session, terminal, user, approver, first=prompt)


async def _run_terminal(open_session: OpenSession, config: UserConfig, prompt: str | None) -> int | StartupExit:
    from tejat.ui.terminal.app import TerminalApp

    folder = os.getcwd()
    terminal = TerminalApp(
        environment=os.environ,
        encoding=_terminal_encoding(os.environ),
        preferences=preferences_from_settings(config.settings),
        folder=folder,
        history=config.paths.prompt_history(folder),
    )

    async def run_repl() -> int | StartupExit:
        async with open_session(terminal.prompter) as session:
            if isinstance(session, StartupExit):
                return session
            resume_collections()
            return await terminal.run_repl(session, first=prompt)

    async with terminal:
        return await terminal.run(run_repl())


def _terminal_encoding(environment: Mapping[str, str]) -> str:
    """The encoding of the user's terminal, by its locale; UTF-8 if none is set.

    In a locale without an encoding Python uses UTF-8 and sets LC_CTYPE: then only the other variables are the user's.
    """
    is_set_by_python = sys.flags.utf8_mode and not environment.get("PYTHONUTF8")
    names = ("LC_ALL", "LANG") if is_set_by_python else ("LC_ALL", "LC_CTYPE", "LANG")
    named = next((environment[name] for name in names if environment.get(name)), "utf8")
    return "utf-8" if "utf8" in named.lower().replace("-", "") else "ascii"
