"""`tejat attach`: the terminal UI on a session of another process."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from tejat.app.onboarding.trust import StartupExit
from tejat.app.run_config import load_startup_config
from tejat.cli.command_parser import CommandParser
from tejat.cli.interactive import run_front_end
from tejat.cli.messages import print_error
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import TejatError, UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.log import logger
from tejat.core.sanitize import sanitize_text
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.contract import UiSession
from tejat.ui.plain.approver import is_interactive
from tejat.ui.remote.directory import LiveSession, LiveState, find_live_session, list_live_sessions
from tejat.ui.remote.session import RemoteSession, attach_session
from tejat.ui.shared.exit_status import classify_error
from tejat.ui.signals import Terminated, graceful_termination


class _SessionGone(TejatError):
    """The process of the session has ended."""


def run(words: list[str]) -> int:
    """Run `tejat attach` and return the exit code."""
    options = make_parser().parse_args(words)
    try:
        with graceful_termination():
            return _attach(options.session, screen_reader=True if options.screen_reader else None)
    except _SessionGone as gone:
        print_error(gone)
        return EXIT_OK
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    except Terminated as terminated:
        return terminated.exit_code


def make_parser() -> CommandParser:
    """The parser of `tejat attach`."""
    parser = CommandParser(
        "tejat attach",
        _(
            "Open a running session in this terminal. SESSION is its id or the beginning of one; without it, the "
            "session that waits for an answer, or the only one. Ctrl-D leaves, and the session continues."
        ),
        usages=("tejat attach [SESSION] [--screen-reader]",),
        examples=(
            ("tejat attach", _("answer the session that waits")),
            ("tejat attach 3f2a", _("open a session from the list of `tejat sessions`")),
        ),
        exit_codes=(
            ("0", _("the user has left, or the session has ended")),
            ("2", _("bad usage")),
            ("42", _("no such session, or it cannot be reached")),
        ),
    )
    parser.add_argument("session", nargs="?", metavar="SESSION")
    parser.add_argument("--screen-reader", action="store_true", help=_("plain lines instead of a drawn screen"))
    return parser


def _attach(word: str | None, *, screen_reader: bool | None) -> int:
    if not is_interactive():
        raise UsageError(_("`tejat attach` needs a terminal. Use `tejat sessions send` and `answer` in scripts."))
    config = load_startup_config(AgentOptions())
    live = asyncio.run(_find(config.paths.runtime, word))
    with suppress(OSError):
        os.chdir(live.folder)

    @asynccontextmanager
    async def open_session(_user: UserPrompter) -> AsyncGenerator[UiSession | StartupExit]:
        async with attach_session(live.path, logger.warning) as session, _until_closed(session):
            yield session

    ended = run_front_end(open_session, config, screen_reader=screen_reader)
    return EXIT_OK if isinstance(ended, StartupExit) else ended


async def _find(directory: str, word: str | None) -> LiveSession:
    """Raises UsageError."""
    if word is not None:
        return await find_live_session(directory, word)
    sessions = await list_live_sessions(directory)
    waiting = [each for each in sessions if each.state is LiveState.WAITING]
    found = waiting if len(waiting) == 1 else sessions
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(_("No session is running. `tejat -r` resumes the latest one of this project."))
    names = ", ".join(sanitize_text(each.session_id) for each in found)
    raise UsageError(_("Several sessions are running. Choose one: {names}", names=names))


@asynccontextmanager
async def _until_closed(session: RemoteSession) -> AsyncGenerator[None]:
    """End the body when the session is gone. Raises _SessionGone then."""
    body = asyncio.current_task()
    assert body is not None
    is_gone = False

    async def watch() -> None:
        nonlocal is_gone
        await session.peer.wait_closed()
        is_gone = True
        body.cancel()

    watching = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not is_gone:
            raise
        body.uncancel()
        message = _("The session has ended.")
        if session.resumable_id is not None:
            command = f"tejat -r {session.resumable_id}"
            message = _("The session has ended. Resume it with: {command}", command=command)
        raise _SessionGone(message) from None
    finally:
        watching.cancel()
