"""A command that is tried in a copy of the files: what came of it, shown to the person and then kept or not."""

import hashlib
from typing import TYPE_CHECKING

from tejat.core.confirm import Confirmation, ExecConfirmation, TrialConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.tool import ToolError, ToolResult
from tejat.core.value import value
from tejat.core.words import say
from tejat.workspace.offload import off_loop

if TYPE_CHECKING:
    from tejat.workspace.copies.copy import Copy, Examined

_LONGEST_OUTPUT = 4000


@value
class Tried:
    """What came of a command in its copy."""

    copy: "Copy"
    result: ToolResult


def trial_of(
    confirmation: ExecConfirmation, result: ToolResult, copy: "Copy", examined: "Examined"
) -> TrialConfirmation:
    """What the person is shown. A command that did not come to its end has done nothing that could be kept."""
    obstacles = examined.obstacles
    if result.error is not None:
        obstacles = (say("The command did not come to its end."), *obstacles)
    output = result.return_display if isinstance(result.return_display, str) else ""
    return TrialConfirmation(
        title=say("Keep what a command did in a copy"),
        command=confirmation.command,
        directory=confirmation.directory,
        changes=examined.changes,
        diff=examined.diff,
        output=_end_of(output),
        exit_code=result.exit_code,
        obstacles=obstacles,
        digest=_digest(confirmation, examined),
        proposal=Tried(copy, result),
    )


async def keep(trial: TrialConfirmation) -> ToolResult:
    """Do to the real files what was shown. The command is not run again: its result is that of the trial.

    Raises ToolFailure, STALE_FILE where somebody else changed files meanwhile: then nothing was kept.
    """
    tried = _tried(trial)
    try:
        if trial.obstacles:
            raise ToolFailure("What the command did cannot be kept.", ErrorType.EXECUTION_FAILED)
        await off_loop(tried.copy.keep)
    except OSError as error:
        told = f"Not all that the command did could be kept. {error.strerror or error}"
        return ToolResult(told, told, ToolError(told, ErrorType.FILE_WRITE_FAILURE))
    finally:
        await throw_away(trial)
    return tried.result


async def throw_away(trial: TrialConfirmation) -> None:
    """Forget what was done in the copy."""
    copy = _tried(trial).copy
    await off_loop(lambda _: copy.throw_away())


def _tried(trial: TrialConfirmation) -> Tried:
    if not isinstance(trial.proposal, Tried):
        raise ToolFailure("What would be kept is not what was tried.", ErrorType.STALE_FILE)
    return trial.proposal


def _end_of(output: str) -> str:
    return output if len(output) <= _LONGEST_OUTPUT else f"...{output[-_LONGEST_OUTPUT:]}"


def _digest(confirmation: Confirmation, examined: "Examined") -> str:
    hashed = hashlib.sha256(confirmation.digest.encode())
    for change in examined.changes:
        hashed.update(repr(change).encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()
