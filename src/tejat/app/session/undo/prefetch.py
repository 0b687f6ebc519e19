"""Looking at the files of a large project for undo, before the first command needs it."""

import os
from typing import TYPE_CHECKING

from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import TejatError
from tejat.core.text.paths import is_beneath
from tejat.workspace.threads.daemon import run_in_daemon
from tejat.workspace.undo.live.prefetch import may_be_large

if TYPE_CHECKING:
    from tejat.app.session.manager import SessionManager

_SHELL = "run_shell_command"


async def prefetch_undo(manager: "SessionManager") -> None:
    """Start to scan large roots in the background, and to store their contents.

    Does nothing if no command can run in this session, or if all roots are small.
    """
    if not _may_run_commands(manager) or not await run_in_daemon(lambda: _has_large_project(manager)):
        return
    try:
        manager.toolset.services.undo.prefetch()
    except TejatError:
        return  # the first command reports it


def _may_run_commands(manager: "SessionManager") -> bool:
    toolset = manager.toolset
    if manager.run_config.is_untrusted or toolset.is_planning:
        return False
    # Where nobody can be asked, most commands are refused in other modes.
    if manager.is_headless and toolset.initial_mode != ApprovalMode.YOLO:
        return False
    return _SHELL in toolset.registry and not toolset.is_forbidden(_SHELL)


def _has_large_project(manager: "SessionManager") -> bool:
    """Whether there is something to do. Then the recorder is imported as well, while the event loop goes on."""
    roots = [os.path.realpath(root) for root in manager.run_config.roots]
    home = os.path.realpath(manager.run_config.paths.home)
    # A home directory is no project, and everything of the user would be read.
    if any(is_beneath(home, root) for root in roots) or not any(map(may_be_large, roots)):
        return False
    from tejat.engine.calls.undo_recorder import UndoRecorder

    return callable(UndoRecorder.prefetch)
