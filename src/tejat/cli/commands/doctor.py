"""`tejat doctor`: checks of the machine and the configuration."""

import sys
from collections.abc import Sequence

from tejat.app.inspection.openers import open_setup, run_checks
from tejat.app.setup.setup_report import SetupReport
from tejat.cli.command_parser import CommandParser, directory_argument
from tejat.cli.commands.doctor_fix import fix_settings
from tejat.cli.messages import one_line, print_usage_error
from tejat.cli.policy_flags import add_sandbox_flag
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.core.ui.report import Paragraph, Report, ReportTable
from tejat.ui.plain.style import Style

_MAX_COLUMN = 60


def run(words: list[str]) -> int:
    """Run `tejat doctor` and return the exit code."""
    options = make_parser().parse_args(words)
    roots = options.root or ["."]
    try:
        if options.fix:
            return fix_settings(is_confirmed=options.yes)
        if options.setup:
            return _print_setup(open_setup(roots), as_json=options.json)
        checks = run_checks(roots, options.sandbox, is_strict=options.strict_settings, model=options.model)
    except UsageError as error:
        return print_usage_error(error)
    if options.json:
        print(dump_json([check.to_json() for check in checks], indent=2))
    else:
        print_checks(checks)
    codes = [check.exit_code for check in checks if check.exit_code]
    return EXIT_CONFIGURATION if EXIT_CONFIGURATION in codes else next(iter(codes), EXIT_OK)


def _print_setup(setup: SetupReport, *, as_json: bool) -> int:
    if as_json:
        print(dump_json(setup.to_json(), indent=2))
    else:
        _print_report(setup.to_report())
    return setup.exit_code


def _print_report(report: Report) -> None:
    """Print a report with aligned columns."""
    style = Style(sys.stdout)
    print(style.bold(one_line(report.title)))
    for block in report.blocks:
        match block:
            case Paragraph(text):
                print(f"\n{style.bold(one_line(text))}")
            case ReportTable(rows):
                lines = [[one_line(cell) for cell in row] for row in rows]
                widths = [min(max(map(len, column)), _MAX_COLUMN) for column in zip(*lines, strict=True)]
                for line in lines:
                    print("  " + "  ".join(map(str.ljust, line, widths)).rstrip())
            case _:
                pass


def print_checks(checks: Sequence[DoctorCheck]) -> None:
    style = Style(sys.stdout)
    width = max(len(translate(check.name)) for check in checks)
    group = ""
    for index, check in enumerate(checks):
        if check.group != group:
            group = check.group
            print(style.bold(translate(group)))
        works = _("yes") if check.passed else _("NO")
        print(f"  {works.ljust(3)}  {translate(check.name).ljust(width)}  {sanitize_text(translate(check.detail))}")
        is_repeated = index + 1 < len(checks) and checks[index + 1].fix == check.fix
        if check.fix and not is_repeated:
            fix = _("Fix: {command}", command=sanitize_text(translate(check.fix)))
            print(f"       {' ' * width}  {fix}")


def make_parser() -> CommandParser:
    """The parser of `tejat doctor`."""
    parser = CommandParser(
        "tejat doctor",
        _("Check the sandbox, installed programs, the model, settings and trust."),
        exit_codes=(
            ("0", _("checked; also if a check says NO")),
            ("2", _("bad usage")),
            ("44", _("the required sandbox does not work")),
            ("52", _("the settings have errors")),
        ),
    )
    parser.add_argument(
        "-m", "--model", metavar="NAME", help=_("check this model instead of the configured one, without asking it")
    )
    parser.add_argument(
        "--root", action="append", type=directory_argument, metavar="DIR", help=_("the project directory (default: .)")
    )
    parser.add_argument("--json", action="store_true", help=_("print JSON"))
    parser.add_argument(
        "--setup",
        "--from-gemini",
        action="store_true",
        help=_("show what was carried over from Gemini CLI, key by key, and what was not"),
    )
    parser.add_argument(
        "--fix", action="store_true", help=_("move settings that Gemini CLI cannot use to Tejat's own file")
    )
    parser.add_argument("--yes", action="store_true", help=_("with --fix: do not ask"))
    parser.add_argument(
        "--strict-settings", action="store_true", help=_("exit with 52 if there is any problem in the settings")
    )
    add_sandbox_flag(parser)
    return parser
