"""`tejat acp`: serve an editor over the Agent Client Protocol, on standard input and output."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from tejat import __version__
from tejat.app.acp.authentication import authentication_methods
from tejat.cli.args import RunOptions, to_agent_options
from tejat.cli.messages import print_error
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_AUTHENTICATION, EXIT_INPUT, EXIT_OK
from tejat.core.i18n import _
from tejat.ui.acp.client import AcpConnection
from tejat.ui.acp.server import LOGIN_FLAG, AcpServer
from tejat.ui.shared.signal_stop import run_until_signal
from tejat.ui.shared.stdio_pipes import PipeInput, PipeOutput, protocol_output

if TYPE_CHECKING:
    from tejat.app.acp.host import AcpSessionHost
    from tejat.cli.command_parser import CommandParser


def run(words: list[str]) -> int:
    """Run `tejat acp` and return the exit code. It takes the flags of a run."""
    if "-h" in words or "--help" in words:
        make_parser().parse_args(["--help"])
    from tejat.cli.run import run as run_flags

    return run_flags(["--acp", *words])


def make_parser() -> "CommandParser":
    """The parser of `tejat acp`, for its help."""
    from tejat.cli.command_parser import CommandParser

    parser = CommandParser(
        "tejat acp",
        _("Serve an editor over the Agent Client Protocol (ACP), on standard input and output."),
        notes=_("All flags of a run with a model work here too, such as -m, --approval-mode and --sandbox."),
        examples=(
            ("tejat acp", _("the command for the settings of your editor")),
            ("tejat acp -m anthropic:claude-sonnet-5", _("with another model")),
        ),
    )
    parser.add_argument(LOGIN_FLAG, action="store_true", help=_("enter an API key at the terminal, then exit"))
    return parser


def serve(options: RunOptions) -> int:
    """Serve one client until it closes the connection, and return the exit code."""
    if options.prompt is not None:
        print_error(_("A prompt cannot be used with ACP: the client sends prompts."))
        return EXIT_INPUT
    if os.isatty(0):
        print_error(_("Waiting for an ACP client on standard input. Press Ctrl-D to stop."))
    return asyncio.run(run_until_signal(lambda: _serve(options)))


async def _serve(options: RunOptions) -> None:
    def load_host() -> "AcpSessionHost":
        from tejat.app.acp.host import AcpSessionHost

        return AcpSessionHost(to_agent_options(options))

    connection = AcpConnection(print_error)
    server = AcpServer(
        connection,
        load_host,
        version=__version__,
        methods=authentication_methods(),
        # Without -P the folder in which the client starts it would come first in the search path of modules.
        login_command=(sys.executable, "-P", "-m", "tejat", *sys.argv[1:], LOGIN_FLAG),
    )
    with protocol_output() as sink:
        source, output = await PipeInput.open(0), await PipeOutput.open(sink)
        try:
            await connection.serve(server, source, output)
        finally:
            await server.close()
            source.close()
            output.close()


def log_in(options: RunOptions) -> int:
    """Set up a model at the terminal, for editors that start Tejat later. Returns the exit code."""
    if not sys.stdin.isatty():
        print_error(_("--login needs a terminal."))
        return EXIT_INPUT
    try:
        is_done = asyncio.run(_log_in(options))
    except TejatError as error:
        print_error(error)
        return EXIT_AUTHENTICATION
    return EXIT_OK if is_done else EXIT_AUTHENTICATION


async def _log_in(options: RunOptions) -> bool:
    """Raises TejatError."""
    from tejat.app.acp.login import log_in_at_terminal
    from tejat.ui.plain.prompter import PlainPrompter
    from tejat.ui.plain.repl import open_plain_terminal
    from tejat.ui.plain.style import Style
    from tejat.ui.shared.external.editor import ExternalEditor

    terminal = open_plain_terminal()
    user = PlainPrompter(terminal.output.print_line, Style(None), ExternalEditor(None, (os.getcwd(),)))
    return await log_in_at_terminal(to_agent_options(options), user)
