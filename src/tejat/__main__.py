"""`python -m tejat`."""

import os
import sys


def _forget_current_directory() -> None:
    """Import nothing from the current directory, which `python -m` puts first: a project could hold our modules."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path and sys.path[0] != own:
        del sys.path[0]


if __name__ == "__main__":
    _forget_current_directory()

    from tejat.cli.main import program

    program()
