"""`tejat demo`: a run with real tools and a scripted model."""

import argparse
import asyncio
import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping

from tejat.app.session.manager import open_agent
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.demo.output import DemoOutput
from tejat.cli.messages import print_error
from tejat.core.agent.events import AgentEvent
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.i18n import _
from tejat.ui.plain.approver import AutoApprover, ConsoleApprover, is_interactive
from tejat.ui.plain.style import Style
from tejat.ui.shared.exit_status import classify_error, exit_code_for
from tejat.ui.signals import Terminated, graceful_termination

_DEMO = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir, "demo")
_PROMPT = "A test of this project fails. Find out why, correct it, and run the tests."


def run(words: list[str]) -> int:
    """Run `tejat demo` and return the exit code."""
    options = _parser().parse_args(words)
    if not options.yes and not is_interactive():
        message = _(
            "the demo asks before it changes or runs anything, and nobody can answer here: "
            "run it in a terminal, or agree to everything with `tejat demo --yes`"
        )
        print(f"tejat: {message}", file=sys.stderr)
        return EXIT_INPUT
    try:
        with (
            graceful_termination(),
            tempfile.TemporaryDirectory(prefix="tejat-demo-", ignore_cleanup_errors=True) as place,
        ):
            return asyncio.run(_run_demo(os.path.realpath(place), is_preapproved=options.yes))
    except Terminated as ended:
        return ended.exit_code
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="tejat demo",
        description=_(
            "Show a whole run: a script plays the model, and real tools find and correct a bug in a small project, "
            "in a temporary directory. It needs no key and no network."
        ),
    )
    parser.add_argument("-y", "--yes", action="store_true", help=_("agree to everything beforehand"))
    return parser


async def _run_demo(place: str, *, is_preapproved: bool) -> int:
    """Run the demo and return the exit code. Raises TejatError."""
    project = make_project(os.path.join(place, "project"))
    output = DemoOutput(project, Style(sys.stdout))
    approver: Approver = AutoApprover() if is_preapproved else ConsoleApprover(Style(sys.stderr), untrusted=(project,))
    options = AgentOptions(
        directories=(project,),
        model=f"scripted:{os.path.join(_DEMO, 'demo.toml')}",
        mode="default",
        environment=_environment(place),
    )

    def emit(event: AgentEvent) -> None:
        _print(output.render(event))

    _print(output.introduction(is_preapproved=is_preapproved))
    async with open_agent(options, approver) as session:
        return exit_code_for(await session.prompt(_PROMPT, emit))


def make_project(directory: str) -> str:
    """Write the demo project and return its directory."""
    with open(os.path.join(_DEMO, "project.toml"), "rb") as file:
        files: Mapping[str, str] = tomllib.load(file)["files"]
    for name, content in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(content)
    return directory


def _environment(place: str) -> dict[str, str]:
    """The user's environment, with the configuration and state directories replaced by temporary ones."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GEMINI_", "GOOGLE_"))}
    return own | {
        "GEMINI_CLI_HOME": place,
        "XDG_CONFIG_HOME": os.path.join(place, "config"),
        "XDG_STATE_HOME": os.path.join(place, "state"),
    }


def _print(lines: list[str]) -> None:
    # Flush, because questions go to another stream and must come after this.
    for line in lines:
        print(line, flush=True)
