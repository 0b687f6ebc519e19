"""`tejat mcp auth`: the person logs in at a remote server, or has that forgotten."""

import argparse
import asyncio
import webbrowser

from tejat.app.ground import survey
from tejat.app.mcp_login import ServerLogin
from tejat.app.mcp_looking import NoSuchServer
from tejat.cli.confirm import can_ask
from tejat.cli.mcp_shown import note, on_one_line, say_no_such_server
from tejat.cli.read_line import read_line
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.mcp.failures import McpFailure


def run(words: list[str]) -> int:
    """Log in or forget it, and return the exit code. Raises UsageError."""
    options = _parser().parse_args(words)
    try:
        login = ServerLogin(options.name, survey(["."]))
        if options.forget:
            return _forget(login, options.name)
        with ending_in_order():
            asyncio.run(_log_in(login, opens=options.open))
    except Terminated as ended:
        return ended.exit_code
    except NoSuchServer as error:
        say_no_such_server(error.name, error.known, error.notes)
        return EXIT_FAILED
    except McpFailure as failure:
        note(failure.message)
        return EXIT_FAILED
    name, directory = on_one_line(options.name), on_one_line(login.directory)
    print(say("Logged in at {name}. The login is kept in {directory}", name=name, directory=directory))
    return EXIT_OK


def _forget(login: ServerLogin, name: str) -> int:
    """Raises McpFailure."""
    if login.forget():
        print(say("Forgotten: the login at {name}. The server itself was not told.", name=on_one_line(name)))
    else:
        print(say("There was no login at {name}.", name=on_one_line(name)))
    return EXIT_OK


async def _log_in(login: ServerLogin, *, opens: bool) -> None:
    """Raises McpFailure."""

    async def show(address: str) -> None:
        print(f"{say('Log in with a browser at this address:')}\n\n  {visible(address)}\n", flush=True)
        if opens and not await asyncio.to_thread(webbrowser.open, address):
            note(say("No browser could be opened."))

    async def read_address() -> str:
        asked = say("Where the browser runs on another machine, paste the address that it ends at:")
        return await read_line(f"{asked} ")

    await login.log_in(show, read_address if can_ask() else None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp auth",
        description=say("Log in at a remote MCP server with a browser. The login is renewed by itself from then on."),
        epilog=say("exit codes: 0 done, 1 it failed, 2 bad usage, 52 the settings cannot be relied on"),
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help=say("the server"))
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--open", action="store_true", help=say("open the browser of this machine"))
    instead.add_argument("--forget", action="store_true", help=say("forget the login"))
    return parser
