"""Failures that several tools raise."""

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy


def invalid_params(reason: str) -> ToolFailure:
    """Failure of invalid arguments."""
    return ToolFailure(reason, ErrorType.INVALID_TOOL_PARAMS)


def command_mismatch() -> ToolFailure:
    """Failure of a command that is not the approved one."""
    return ToolFailure(lazy("The command differs from the one you approved, so it was not run."), ErrorType.STALE_FILE)


def os_error_text(error: OSError) -> str:
    """Return what happened, without the number of the error."""
    return error.strerror or str(error)
