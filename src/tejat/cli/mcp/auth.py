"""`tejat mcp auth`: log in at a remote server, or forget the login."""

import asyncio
import webbrowser

from tejat.app.mcp.inspection import NoSuchServer
from tejat.app.mcp.login import ServerLogin
from tejat.app.run_config import load_run_config
from tejat.cli.command_parser import CommandParser
from tejat.cli.mcp.format import print_unknown_server, server_parser
from tejat.cli.messages import one_line, print_error
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure
from tejat.ui.plain.approver import is_interactive
from tejat.ui.plain.line_input import read_line
from tejat.ui.signals import Terminated, graceful_termination
from tejat.workspace.threads.daemon import run_in_daemon


def run(words: list[str]) -> int:
    """Log in or forget the login, and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    try:
        login = ServerLogin(options.name, load_run_config(["."]))
        if options.forget:
            return _forget(login, options.name)
        with graceful_termination():
            asyncio.run(_log_in(login, opens=options.open))
    except Terminated as ended:
        return ended.exit_code
    except NoSuchServer as error:
        print_unknown_server(error.name, error.known, error.notes)
        return EXIT_FAILED
    except McpFailure as failure:
        print_error(failure.message)
        return EXIT_FAILED
    name, directory = one_line(options.name), one_line(login.directory)
    print(_("Logged in to {name}. Credentials are stored in {directory}", name=name, directory=directory))
    return EXIT_OK


def _forget(login: ServerLogin, name: str) -> int:
    """Raises McpFailure."""
    if login.forget():
        print(_("Deleted the login for {name}. It was not revoked at the server.", name=one_line(name)))
    else:
        print(_("There is no login for {name}.", name=one_line(name)))
    return EXIT_OK


async def _log_in(login: ServerLogin, *, opens: bool) -> None:
    """Raises McpFailure."""

    async def show(address: str) -> None:
        print(_("Open this address in a browser to log in:") + f"\n\n  {sanitize_text(address)}\n", flush=True)
        if opens and not login.may_open_browser:
            print_error(_("No browser was opened, because NO_BROWSER is set."))
        elif opens and not await run_in_daemon(lambda: webbrowser.open(address)):
            print_error(_("Could not open a browser."))

    async def read_address() -> str:
        asked = _("If the browser is on another machine, paste the address it ends at:")
        return await read_line(f"{asked} ")

    await login.log_in(show, read_address if is_interactive() else None)


def make_parser() -> CommandParser:
    """The parser of `tejat mcp auth`."""
    parser = server_parser(
        "auth",
        _("Log in to a remote MCP server with a browser. The login is renewed automatically."),
        (("0", _("done")), ("1", _("failed")), ("2", _("bad usage")), ("52", _("the settings have errors"))),
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--open", action="store_true", help=_("open a browser on this machine"))
    instead.add_argument("--forget", action="store_true", help=_("delete the stored login"))
    return parser
