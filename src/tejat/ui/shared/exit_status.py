"""Exit codes and error names for the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core import exit_codes as codes
from tejat.core.agent.events import EndReason
from tejat.core.errors import ConfigurationError, NotTrusted, SandboxUnavailable, TejatError, UsageError
from tejat.core.model import FailureKind, ModelFailure

if TYPE_CHECKING:
    from tejat.core.agent.events import RunEnded


def exit_code_for(ended: RunEnded) -> int:
    if ended.failure is not None:
        return _CODE_BY_FAILURE[ended.failure]
    return _CODE_BY_REASON[ended.reason]


def error_name_for(ended: RunEnded) -> str | None:
    """Return the error name used in JSON output, None for a successful run."""
    if exit_code_for(ended) == codes.EXIT_OK:
        return None
    return str(ended.failure or ended.reason)


def classify_error(error: TejatError) -> tuple[str, int]:
    """Return the error name used in JSON output and the exit code for a run that could not start."""
    match error:
        case ModelFailure(kind=FailureKind.NO_KEY | FailureKind.AUTHENTICATION):
            return "authentication", codes.EXIT_AUTHENTICATION
        case SandboxUnavailable():
            return "sandbox", codes.EXIT_NO_SANDBOX
        case NotTrusted():
            return "untrusted", codes.EXIT_NOT_TRUSTED
        case ConfigurationError():
            return "configuration", codes.EXIT_CONFIGURATION
        case UsageError():
            return "input", codes.EXIT_INPUT
        case _:
            return "failed", codes.EXIT_FAILED


_CODE_BY_REASON = {
    EndReason.FINISHED: codes.EXIT_OK,
    EndReason.BAD_PROMPT: codes.EXIT_INPUT,
    EndReason.NOT_TRUSTED: codes.EXIT_NOT_TRUSTED,
    EndReason.NOT_ALLOWED: codes.EXIT_NOT_CONFIRMED,
    EndReason.INTERRUPTED: codes.EXIT_INTERRUPTED,
    EndReason.TURN_LIMIT: codes.EXIT_LIMIT,
    EndReason.TOKEN_LIMIT: codes.EXIT_LIMIT,
    EndReason.COST_LIMIT: codes.EXIT_LIMIT,
    EndReason.TIME_LIMIT: codes.EXIT_LIMIT,
    EndReason.TRUNCATED: codes.EXIT_LIMIT,
    EndReason.CONTEXT_FULL: codes.EXIT_LIMIT,
    EndReason.LOOP: codes.EXIT_LOOP,
    EndReason.BLOCKED: codes.EXIT_BLOCKED,
    EndReason.EMPTY: codes.EXIT_EMPTY,
    EndReason.MALFORMED_CALL: codes.EXIT_MALFORMED_CALL,
    EndReason.MODEL_FAILED: codes.EXIT_FAILED,
    EndReason.TOOL_STOPPED: codes.EXIT_TOOL,
    EndReason.UNANSWERED: codes.EXIT_NOT_CONFIRMED,
    EndReason.FAILED: codes.EXIT_FAILED,
}

_CODE_BY_FAILURE = {
    FailureKind.NO_KEY: codes.EXIT_AUTHENTICATION,
    FailureKind.AUTHENTICATION: codes.EXIT_AUTHENTICATION,
    FailureKind.BAD_REQUEST: codes.EXIT_FAILED,
    FailureKind.CONTEXT_FULL: codes.EXIT_LIMIT,
    FailureKind.OVER_BUDGET: codes.EXIT_LIMIT,
    FailureKind.RATE_LIMITED: codes.EXIT_RATE_LIMITED,
    FailureKind.UNAVAILABLE: codes.EXIT_UNAVAILABLE,
    FailureKind.NETWORK: codes.EXIT_NO_CONNECTION,
    FailureKind.STREAM_CUT: codes.EXIT_NO_CONNECTION,
    FailureKind.TIMED_OUT: codes.EXIT_TIMED_OUT,
    FailureKind.BLOCKED: codes.EXIT_BLOCKED,
    FailureKind.EMPTY: codes.EXIT_EMPTY,
    FailureKind.MALFORMED_CALL: codes.EXIT_MALFORMED_CALL,
    FailureKind.PROTOCOL: codes.EXIT_FAILED,
    FailureKind.SCRIPT: codes.EXIT_FAILED,
}
