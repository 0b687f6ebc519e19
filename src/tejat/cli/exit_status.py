"""Why a run could not begin: a name for programs and an exit code."""

from tejat.core.errors import ConfigurationError, NotTrusted, SandboxUnavailable, TejatError, UsageError
from tejat.core.exit_codes import (
    EXIT_AUTHENTICATION,
    EXIT_CONFIGURATION,
    EXIT_FAILED,
    EXIT_INPUT,
    EXIT_NO_SANDBOX,
    EXIT_NOT_TRUSTED,
)
from tejat.core.model import FailureKind, ModelFailure


def classify_error(error: TejatError) -> tuple[str, int]:
    """The name of the error in JSON output, and the exit code."""
    match error:
        case ModelFailure(kind=FailureKind.NO_KEY | FailureKind.AUTHENTICATION):
            return "authentication", EXIT_AUTHENTICATION
        case SandboxUnavailable():
            return "sandbox", EXIT_NO_SANDBOX
        case NotTrusted():
            return "untrusted", EXIT_NOT_TRUSTED
        case ConfigurationError():
            return "configuration", EXIT_CONFIGURATION
        case UsageError():
            return "input", EXIT_INPUT
        case _:
            return "failed", EXIT_FAILED
