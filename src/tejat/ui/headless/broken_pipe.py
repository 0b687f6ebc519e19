"""Handling of a closed standard output."""

import os


def discard_stdout() -> None:
    """Redirect standard output to nowhere, so that the interpreter does not complain when it closes the stream."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if nowhere != 1:
        os.close(nowhere)
