"""`tejat` at a terminal that can draw: the conversation on the screen."""

import hashlib
import os
import sys
from collections.abc import Mapping

from tejat.app.desk import Desk
from tejat.app.first_trust import Instead
from tejat.cli.opening import open_and_talk
from tejat.cli.run_options import RunOptions
from tejat.config.places import places_of
from tejat.core.status import Preferences
from tejat.frontends.terminal.face import Face


async def converse_on_screen(
    options: RunOptions, preferences: Preferences, environment: Mapping[str, str]
) -> int | Instead:
    """Talk until the person leaves, and return the exit code. Raises TejatError where nothing could be begun."""
    folder = os.getcwd()
    face = Face(
        environment=environment,
        encoding=_encoding(environment),
        preferences=preferences,
        folder=folder,
        history=_history_path(environment, folder),
    )

    async def talk(desk: Desk) -> int:
        return await face.converse(desk, first=options.prompt_interactive)

    async with face:
        return await face.run(open_and_talk(options, face.person, face.approver, talk))


def _encoding(environment: Mapping[str, str]) -> str:
    """What the person's terminal understands, by its locale; where nothing is set at all, UTF-8 is the best guess.

    Python speaks UTF-8 in a locale that has nothing, and sets LC_CTYPE then: only the other variables are the person's.
    """
    is_set_by_python = sys.flags.utf8_mode and not environment.get("PYTHONUTF8")
    names = ("LC_ALL", "LANG") if is_set_by_python else ("LC_ALL", "LC_CTYPE", "LANG")
    named = next((environment[name] for name in names if environment.get(name)), "utf8")
    return "utf-8" if "utf8" in named.lower().replace("-", "") else "ascii"


def _history_path(environment: Mapping[str, str], folder: str) -> str:
    """What was typed in one project is no business of another."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:24]
    return os.path.join(places_of(environment).state, "prompts", f"{name}.jsonl")
