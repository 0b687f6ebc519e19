"""What all commands of `tejat extensions` share: configuration, questions, errors and exit codes."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import FAILURES, NotConfirmed
from tejat.app.extensions.installer import ExtensionInstaller
from tejat.app.run_config import load_user_config
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_usage_error
from tejat.config.settings.admin import require_enabled
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.style import Style
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager


def exit_codes(*, asks: bool = True) -> tuple[tuple[str, str], ...]:
    """The exit codes of a command, for its help."""
    codes = (("0", _("done")), ("1", _("failed")), ("2", _("bad usage")))
    return (*codes, ("3", _("not agreed"))) if asks else codes


class ExtensionRuntime:
    """The environment of one command. With `agrees`, what is shown is agreed to without a question."""

    def __init__(self, environment: ExtensionEnvironment, *, agrees: bool) -> None:
        self.environment = environment
        pager = Pager((os.path.realpath("."),))
        prompter = _CommandPrompter(_print_line, Style(sys.stdout), ExternalEditor(), pager)
        self.dialog = ConsentDialog(prompter, agrees=agrees, can_ask=is_interactive())
        self.installer = ExtensionInstaller(environment, self.dialog, report_progress=_progress_line())


class _CommandPrompter(PlainPrompter):
    """Prompter in which Ctrl-C leaves a question for a value unanswered: what was done before it stays."""

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        try:
            return await super().enter(label, initial=initial, is_secret=is_secret)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            return None


def run_command(work: Callable[[ExtensionRuntime], Awaitable[str]], *, agrees: bool = False) -> int:
    """Run a command, print its message and return the exit code."""
    try:
        environment = load_environment()
    except UsageError as error:
        return print_usage_error(error)
    runtime = ExtensionRuntime(environment, agrees=agrees)

    async def main() -> str:
        return await work(runtime)

    try:
        message = asyncio.run(main())
    except KeyboardInterrupt:
        print_error(_("Cancelled."))
        return EXIT_INTERRUPTED
    except NotConfirmed as error:
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
    if message:
        _print_line(sanitize_text(translate(message)))
    return EXIT_OK


def load_environment() -> ExtensionEnvironment:
    """Raises UsageError, ConfigurationError if extensions are switched off for the machine."""
    # No extension is in use while extensions are managed, and none is taken over by being listed.
    run_config = load_user_config(["."]).load_project(extensions=())
    require_enabled(run_config.settings.extensions_enabled, "admin.extensions.enabled")
    return ExtensionEnvironment(run_config)


def add_consent_flags(parser: CommandParser) -> None:
    """Add `--yes` and the name that Gemini CLI has for it."""
    help_text = _("agree to what is shown without a question")
    parser.add_argument("-y", "--yes", "--consent", dest="yes", action="store_true", help=help_text)


def _print_line(line: str) -> None:
    print(line, flush=True)


def _progress_line() -> Callable[[str], None] | None:
    """A function that shows progress on one line of the terminal, None if nobody sees it."""
    if not sys.stderr.isatty():
        return None

    def report(text: str) -> None:
        print(f"\r\x1b[K{text[:70]}\r", end="", file=sys.stderr, flush=True)

    return report
