"""Messages and yes-or-no questions of the program on standard error."""

import sys
from collections.abc import Iterable

from tejat.core.errors import ConfigurationError, SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_NO_SANDBOX, EXIT_USAGE
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_line, sanitize_text


def one_line(text: str) -> str:
    """Text that can pass for no other line of ours."""
    return sanitize_line(translate(text))


def print_error(message: object) -> None:
    """Print an error or a note for the user to standard error, sanitized and translated."""
    print(f"tejat: {sanitize_text(translate(message))}", file=sys.stderr, flush=True)


def print_errors(messages: Iterable[object]) -> None:
    for message in messages:
        print_error(message)


def print_usage_error(error: UsageError) -> int:
    """Print an error and return its exit code."""
    print_error(error)
    if isinstance(error, ConfigurationError):
        return EXIT_CONFIGURATION
    return EXIT_NO_SANDBOX if isinstance(error, SandboxUnavailable) else EXIT_USAGE


def confirm(question: str) -> bool:
    """Ask on standard error until the answer is yes or no. The end of the input means no."""
    while True:
        print(question, end=" ", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        match line.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
            case _ if not line.endswith("\n"):
                print(file=sys.stderr)
                return False
            case _:
                print(_("Type y or n."), file=sys.stderr)
