"""Yes-or-no questions of subcommands."""

import sys

from tejat.core.i18n import _


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
                print(_("Please answer y or n."), file=sys.stderr)
