"""`tejat demo`: the interactive interface with a scripted model, or with `--yes` one task as plain text."""

import argparse
import asyncio
import os
import sys
import tempfile

from tejat.app.session.lifespan import open_agent
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.demo.output import DemoOutput
from tejat.cli.commands.demo.project import PROMPT, make_environment, make_project
from tejat.cli.commands.demo.tour import INSIDE_FLAG, next_steps, run_inside, run_tour, session_options
from tejat.cli.messages import print_error
from tejat.core.agent.events import AgentEvent
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.ui.plain.approver import AutoApprover
from tejat.ui.plain.style import Style
from tejat.ui.shared.exit_status import classify_error, exit_code_for
from tejat.ui.signals import Terminated, graceful_termination


def run(words: list[str]) -> int:
    """Run `tejat demo` and return the exit code."""
    options = make_parser().parse_args(words)
    try:
        if options.inside:
            return run_inside(screen_reader=options.screen_reader)
        if options.yes:
            return _run_task()
        if sys.stdin.isatty() and sys.stdout.isatty():
            code = run_tour(screen_reader=options.screen_reader)
            print(next_steps())
            return code
    except Terminated as ended:
        return ended.exit_code
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    print_error(_("The demo asks for approvals and needs a terminal. Use `tejat demo --yes` to approve everything."))
    return EXIT_INPUT


def make_parser() -> CommandParser:
    """The parser of `tejat demo`."""
    parser = CommandParser(
        "tejat demo",
        _(
            "Try Tejat without an API key or a network: a scripted model fixes a bug in a small scratch project with "
            "the real tools, approvals and sandbox. The project is deleted at the end."
        ),
    )
    parser.add_argument(
        "-y", "--yes", action="store_true", help=_("approve everything, and print one task as plain text")
    )
    parser.add_argument(
        "--screen-reader", action="store_true", default=None, help=_("plain lines instead of a drawn screen")
    )
    parser.add_argument(INSIDE_FLAG, action="store_true", help=argparse.SUPPRESS)
    return parser


def _run_task() -> int:
    with (
        graceful_termination(),
        tempfile.TemporaryDirectory(prefix="tejat-demo-", ignore_cleanup_errors=True) as made,
    ):
        return asyncio.run(_print_task(os.path.realpath(made)))


async def _print_task(scratch: str) -> int:
    """Run one task, print it and return the exit code. Raises TejatError."""
    project = make_project(os.path.join(scratch, "shop"))
    output = DemoOutput(project, Style(sys.stdout))
    options = replace(session_options(), directories=(project,), environment=make_environment(scratch))

    def emit(event: AgentEvent) -> None:
        _print(output.render(event))

    _print(output.introduction())
    async with open_agent(options, AutoApprover()) as session:
        return exit_code_for(await session.prompt(PROMPT, emit))


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line, flush=True)
