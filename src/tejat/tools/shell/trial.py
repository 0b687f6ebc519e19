"""A command that is tried in a copy of the files: what came of it, shown to the person and then kept or not."""

import hashlib
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import Confirmation, ExecConfirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import frozen
from tejat.core.i18n import _
from tejat.core.tools.base import ToolError, ToolResult
from tejat.workspace.threads.offload import run_blocking

if TYPE_CHECKING:
    from tejat.workspace.overlay.copy import OverlayChanges, OverlayCopy

_MAX_OUTPUT_LENGTH = 4000


@frozen
class TrialRun:
    """What came of a command in its copy."""

    copy: "OverlayCopy"
    result: ToolResult


def build_trial_confirmation(
    confirmation: ExecConfirmation, result: ToolResult, copy: "OverlayCopy", examined: "OverlayChanges"
) -> TrialConfirmation:
    """What the person is shown. A command that did not come to its end has done nothing that could be kept."""
    obstacles = examined.blockers
    if result.error is not None:
        obstacles = (_("The command did not come to its end."), *obstacles)
    output = result.return_display if isinstance(result.return_display, str) else ""
    return TrialConfirmation(
        title=_("Keep what a command did in a copy"),
        command=confirmation.command,
        directory=confirmation.directory,
        changes=examined.changes,
        diff=examined.diff,
        output=_output_tail(output),
        exit_code=result.exit_code,
        obstacles=obstacles,
        digest=_digest(confirmation, examined),
        proposal=TrialRun(copy, result),
    )


async def apply_trial(trial: TrialConfirmation) -> ToolResult:
    """Do to the real files what was shown. The command is not run again: its result is that of the trial.

    Raises ToolFailure, STALE_FILE where somebody else changed files meanwhile: then nothing was kept.
    """
    tried = _trial_run(trial)
    try:
        if trial.obstacles:
            raise ToolFailure("What the command did cannot be kept.", ErrorType.EXECUTION_FAILED)
        await run_blocking(tried.copy.apply)
    except OSError as error:
        message = f"Not all that the command did could be kept. {error.strerror or error}"
        return ToolResult(message, message, ToolError(message, ErrorType.FILE_WRITE_FAILURE))
    finally:
        await discard_trial(trial)
    return tried.result


async def discard_trial(trial: TrialConfirmation) -> None:
    """Forget what was done in the copy."""
    copy = _trial_run(trial).copy
    await run_blocking(lambda _: copy.discard())


def _trial_run(trial: TrialConfirmation) -> TrialRun:
    if not isinstance(trial.proposal, TrialRun):
        raise ToolFailure("What would be kept is not what was tried.", ErrorType.STALE_FILE)
    return trial.proposal


def _output_tail(output: str) -> str:
    return output if len(output) <= _MAX_OUTPUT_LENGTH else f"...{output[-_MAX_OUTPUT_LENGTH:]}"


def _digest(confirmation: Confirmation, examined: "OverlayChanges") -> str:
    hashed = hashlib.sha256(confirmation.digest.encode())
    for change in examined.changes:
        hashed.update(repr(change).encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()
