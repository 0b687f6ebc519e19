"""What the commands of `tejat skills` share: configuration, questions, errors and exit codes."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.skills.manager import FAILURES, NotAgreed
from tejat.app.skills.switches import SkillScope
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_usage_error
from tejat.config.settings.admin import require_enabled
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.style import Style
from tejat.ui.shared.external.editor import ExternalEditor


def exit_codes(*, asks: bool = False) -> tuple[tuple[str, str], ...]:
    """The exit codes of a command, for its help."""
    codes = (("0", _("done")), ("1", _("failed")), ("2", _("bad usage")))
    return (*codes, ("3", _("not agreed"))) if asks else codes


def make_prompter() -> PlainPrompter:
    return PlainPrompter(_print_line, Style(sys.stdout), ExternalEditor())


def load_config() -> RunConfig:
    """Raises UsageError, ConfigurationError if skills are switched off for the machine."""
    run_config = load_run_config(["."])
    require_enabled(run_config.settings.skills_enabled, "admin.skills.enabled")
    return run_config


def run_command(work: Callable[[RunConfig], Awaitable[list[str]]]) -> int:
    """Run a command, print its messages and return the exit code."""
    try:
        run_config = load_config()
    except UsageError as error:
        return print_usage_error(error)

    async def main() -> list[str]:
        return await work(run_config)

    try:
        for message in asyncio.run(main()):
            _print_line(sanitize_text(translate(message)))
    except KeyboardInterrupt:
        print_error(_("Cancelled."))
        return EXIT_INTERRUPTED
    except NotAgreed as error:
        print_error(error)
        return EXIT_NOT_CONFIRMED
    except FAILURES as error:
        print_error(error)
        return EXIT_FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        print_error(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error)
        return EXIT_FAILED
    return EXIT_OK


def add_scope(parser: CommandParser) -> None:
    scopes = [scope.value for scope in SkillScope]
    parser.add_argument(
        "-s",
        "--scope",
        choices=scopes,
        default=SkillScope.USER.value,
        help=_("whose skills: yours (default) or the project's"),
    )


def add_consent(parser: CommandParser) -> None:
    """Add `--yes` and the name that Gemini CLI has for it."""
    help_text = _("agree to what is shown without a question")
    parser.add_argument("-y", "--yes", "--consent", dest="yes", action="store_true", help=help_text)


def current_root() -> str:
    return os.path.abspath(".")


def _print_line(line: str) -> None:
    print(line, flush=True)
