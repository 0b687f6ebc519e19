"""`tejat` at a terminal: a conversation, on the screen or in lines."""

import asyncio
import os
import sys

from tejat.app.onboarding.trust import StartupExit
from tejat.app.preferences import load_user_preferences
from tejat.app.session.interactive import InteractiveSession
from tejat.cli.args import RunOptions
from tejat.cli.exit_status import classify_error
from tejat.cli.signals import Terminated, graceful_termination
from tejat.cli.startup import run_startup
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.approver import ConsoleApprover
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.repl import TypeAheadApprover, open_plain_terminal, run_plain
from tejat.ui.plain.style import Style
from tejat.ui.shared.external.editor import ExternalEditor


def run_interactive(options: RunOptions) -> int:
    """Answer prompts until the person has no more, and return the exit code."""
    try:
        with graceful_termination():
            ended = _run(options)
    except TejatError as error:
        print(f"tejat: {sanitize_text(translate(error))}", file=sys.stderr)
        return classify_error(error)[1]
    except Terminated as terminated:
        return terminated.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    match ended:
        case StartupExit.QUIT:
            return EXIT_OK
        case StartupExit.DEMO:
            from tejat.cli.commands.demo import run

            return run([])
        case code:
            return code


def _run(options: RunOptions) -> int | StartupExit:
    preferences, has_screen_reader = load_user_preferences(os.environ)
    if options.screen_reader or has_screen_reader or not _supports_screen():
        return asyncio.run(_run_plain(options, preferences.editor))
    from tejat.cli.terminal import run_terminal

    return asyncio.run(run_terminal(options, preferences, os.environ))


def _supports_screen() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


async def _run_plain(options: RunOptions, editor: str | None) -> int | StartupExit:
    """Raises TejatError where nothing could be begun."""
    terminal = open_plain_terminal()
    folder = os.getcwd()
    approver = TypeAheadApprover(ConsoleApprover(Style(None), preferred_editor=editor, untrusted=(folder,)), terminal)
    prompter = PlainPrompter(terminal.output.print_line, Style(None), ExternalEditor(editor, (folder,)))

    async def talk(interactive: InteractiveSession) -> int:
        return await run_plain(interactive, terminal, prompter, first=options.prompt_interactive)

    return await run_startup(options, prompter, approver, talk)
