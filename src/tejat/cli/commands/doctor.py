"""`tejat doctor`: checks of the machine and the configuration."""

import argparse
import sys
from collections.abc import Sequence

from tejat.app.inspection import run_checks
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_usage_error
from tejat.cli.policy_flags import add_sandbox_flag
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.style import Style


def run(words: list[str]) -> int:
    """Run `tejat doctor` and return the exit code."""
    options = _parser().parse_args(words)
    try:
        checks = run_checks(options.root or ["."], options.sandbox)
    except UsageError as error:
        return print_usage_error(error)
    if options.json:
        print(dump_json([check.to_json() for check in checks], indent=2))
    else:
        _print_checks(checks)
    return EXIT_OK


def _print_checks(checks: Sequence[DoctorCheck]) -> None:
    style = Style(sys.stdout)
    width = max(len(translate(check.name)) for check in checks)
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            print(style.bold(translate(group)))
        works = _("yes") if check.passed else _("NO")
        print(f"  {works.ljust(3)}  {translate(check.name).ljust(width)}  {sanitize_text(translate(check.detail))}")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="tejat doctor",
        description=_("Try what commands are kept from doing here, and say what works."),
        epilog=_("exit codes: 0 examined, 2 bad usage, 44 the sandbox that is required does not work"),
    )
    parser.add_argument("--root", action="append", metavar="DIR", help=_("a directory to work in (default: .)"))
    parser.add_argument("--json", action="store_true", help=_("print a JSON list"))
    add_sandbox_flag(parser)
    return parser
