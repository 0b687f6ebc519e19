"""`tejat doctor`: what works here, tried for real."""

import argparse
import sys
from collections.abc import Callable, Sequence

from tejat.cli.policy_flags import add_sandbox_flag
from tejat.cli.style import Style
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_NO_SANDBOX, EXIT_OK, EXIT_USAGE
from tejat.core.explain import Check
from tejat.core.json_text import dump_json
from tejat.core.visible import visible
from tejat.core.words import say, translated

Examine = Callable[[Sequence[str], str | None], list[Check]]


def run(words: list[str], examine: Examine) -> int:
    """Run `tejat doctor` with these words and return the exit code."""
    options = _parser().parse_args(words)
    try:
        checks = examine(options.root or ["."], options.sandbox)
    except SandboxUnavailable as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return EXIT_NO_SANDBOX
    except UsageError as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return EXIT_USAGE
    if options.json:
        print(dump_json([check.to_json() for check in checks], indent=2))
    else:
        _show(checks)
    return EXIT_OK


def _show(checks: Sequence[Check]) -> None:
    style = Style(sys.stdout)
    width = max(len(translated(check.name)) for check in checks)
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            print(style.bold(translated(group)))
        works = say("yes") if check.works else say("NO")
        print(f"  {works.ljust(3)}  {translated(check.name).ljust(width)}  {visible(translated(check.how))}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat doctor",
        description=say("Try what commands are kept from doing here, and say what works."),
        epilog=say("exit codes: 0 examined, 2 bad usage, 44 the sandbox that is required does not work"),
    )
    parser.add_argument("--root", action="append", metavar="DIR", help=say("a directory to work in (default: .)"))
    parser.add_argument("--json", action="store_true", help=say("print a JSON list"))
    add_sandbox_flag(parser)
    return parser
