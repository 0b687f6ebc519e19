"""`tejat` at a terminal: a conversation, on the screen or in lines."""

import asyncio
import os
import sys

from tejat.app.desk import Desk
from tejat.app.first_trust import Instead
from tejat.app.preferences import own_preferences
from tejat.cli.confirm import TerminalApprover
from tejat.cli.opening import open_and_talk
from tejat.cli.plain_person import PlainPerson
from tejat.cli.plain_talk import PlainApprover, converse_plainly, plain_face
from tejat.cli.run_options import RunOptions
from tejat.cli.start_failures import explain
from tejat.cli.style import Style
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.visible import visible
from tejat.core.words import translated
from tejat.frontends.external_editor import Editor


def converse(options: RunOptions) -> int:
    """Answer prompts until the person has no more, and return the exit code."""
    try:
        with ending_in_order():
            ended = _converse(options)
    except TejatError as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return explain(error)[1]
    except Terminated as terminated:
        return terminated.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    match ended:
        case Instead.LEAVE:
            return EXIT_OK
        case Instead.DEMO:
            from tejat.cli.demo import run

            return run([])
        case code:
            return code


def _converse(options: RunOptions) -> int | Instead:
    preferences, has_screen_reader = own_preferences(os.environ)
    if options.screen_reader or has_screen_reader or not _can_draw():
        return asyncio.run(_in_lines(options, preferences.editor))
    from tejat.cli.screen import converse_on_screen

    return asyncio.run(converse_on_screen(options, preferences, os.environ))


def _can_draw() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


async def _in_lines(options: RunOptions, editor: str | None) -> int | Instead:
    """Raises TejatError where nothing could be begun."""
    face = plain_face()
    folder = os.getcwd()
    approver = PlainApprover(TerminalApprover(Style(None), preferred_editor=editor, untrusted=(folder,)), face)
    person = PlainPerson(face.output.line, Style(None), Editor(editor, (folder,)))

    async def talk(desk: Desk) -> int:
        return await converse_plainly(desk, face, person, first=options.prompt_interactive)

    return await open_and_talk(options, person, approver, talk)
