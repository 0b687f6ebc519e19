"""Trial runs of shell commands in a copy of the files, to be kept or discarded."""

import hashlib
from typing import TYPE_CHECKING

from tejat.core.approval.confirmation import Confirmation, ExecConfirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.tools.base import ToolError, ToolResult
from tejat.workspace.threads.offload import run_blocking

if TYPE_CHECKING:
    from tejat.workspace.overlay.copy import OverlayChanges, OverlayCopy

_MAX_OUTPUT_LENGTH = 4000


class TrialRun(Frozen):
    """Copy in which a command ran, and its result."""

    copy: "OverlayCopy"
    result: ToolResult


def build_trial_confirmation(
    confirmation: ExecConfirmation, result: ToolResult, copy: "OverlayCopy", examined: "OverlayChanges"
) -> TrialConfirmation:
    """Build the question whether to keep the changes. Those of an unfinished command cannot be kept."""
    obstacles = examined.blockers
    if result.error is not None:
        obstacles = (_("The command did not finish."), *obstacles)
    output = result.return_display if isinstance(result.return_display, str) else ""
    return TrialConfirmation(
        title=_("Keep the changes a command made in a copy"),
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
    """Apply the changes of a trial to the real files, without running the command again.

    Raises ToolFailure; with STALE_FILE if files were changed meanwhile, and then nothing is applied.
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
    """Discard the copy and its changes."""
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
