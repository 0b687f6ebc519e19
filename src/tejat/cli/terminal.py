"""`tejat` at a terminal that can draw: the conversation on the screen."""

import os
import sys
from collections.abc import Mapping

from tejat.app.onboarding.trust import StartupExit
from tejat.app.session.interactive import InteractiveSession
from tejat.cli.args import RunOptions
from tejat.cli.startup import run_startup
from tejat.config.paths import app_paths
from tejat.core.ui.status import Preferences
from tejat.ui.terminal.app import TerminalApp


async def run_terminal(
    options: RunOptions, preferences: Preferences, environment: Mapping[str, str]
) -> int | StartupExit:
    """Talk until the person leaves, and return the exit code. Raises TejatError where nothing could be begun."""
    folder = os.getcwd()
    terminal = TerminalApp(
        environment=environment,
        encoding=_terminal_encoding(environment),
        preferences=preferences,
        folder=folder,
        history=_history_path(environment, folder),
    )

    async def talk(interactive: InteractiveSession) -> int:
        return await terminal.run_repl(interactive, first=options.prompt_interactive)

    async with terminal:
        return await terminal.run(run_startup(options, terminal.prompter, terminal.approver, talk))


def _terminal_encoding(environment: Mapping[str, str]) -> str:
    """What the person's terminal understands, by its locale; where nothing is set at all, UTF-8 is the best guess.

    Python speaks UTF-8 in a locale that has nothing, and sets LC_CTYPE then: only the other variables are the person's.
    """
    is_set_by_python = sys.flags.utf8_mode and not environment.get("PYTHONUTF8")
    names = ("LC_ALL", "LANG") if is_set_by_python else ("LC_ALL", "LC_CTYPE", "LANG")
    named = next((environment[name] for name in names if environment.get(name)), "utf8")
    return "utf-8" if "utf8" in named.lower().replace("-", "") else "ascii"


def _history_path(environment: Mapping[str, str], folder: str) -> str:
    """What was typed in one project is no business of another."""
    return app_paths(environment).prompt_history(folder)
