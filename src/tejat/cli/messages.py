"""Messages of the program on standard error."""

import sys
from collections.abc import Iterable

from tejat.core.errors import ConfigurationError, SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_NO_SANDBOX, EXIT_USAGE
from tejat.core.i18n import translate
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


def print_bad_usage(message: str, help_text: str) -> int:
    """Print what a subcommand takes and its help, and return the exit code."""
    print(f"tejat: {message}\n{help_text}", end="", file=sys.stderr)
    return EXIT_USAGE
