"""Messages of the program on standard error."""

import sys

from tejat.core.i18n import translate
from tejat.core.sanitize import sanitize_text


def print_error(message: object) -> None:
    """Print an error or a note for the user to standard error, sanitized and translated."""
    print(f"tejat: {sanitize_text(translate(message))}", file=sys.stderr, flush=True)
