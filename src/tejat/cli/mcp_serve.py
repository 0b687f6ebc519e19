"""`tejat mcp serve`: our tools for other agents, over standard input and output or over HTTP on this machine."""

import argparse
import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Awaitable, Callable

from tejat import __version__
from tejat.app.serving import ServingOptions, open_tool_host
from tejat.cli.policy_flags import add_policy_flags, add_sandbox_flag, policy_flags
from tejat.config.own_file import Writers, read_own_file
from tejat.core.errors import SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_NO_SANDBOX, EXIT_OK, EXIT_USAGE
from tejat.core.visible import visible
from tejat.core.words import say, translated
from tejat.frontends.mcp_server.endpoint import PATH, serve_http
from tejat.frontends.mcp_server.lines import serve_lines
from tejat.frontends.mcp_server.server import ToolServer

_TOKEN = "TEJAT_MCP_TOKEN"
_SHORTEST_TOKEN = 16
_MOST_PORT = 65_535


def run(words: list[str]) -> int:
    """Run `tejat mcp serve` with these words and return the exit code."""
    options = _parser().parse_args(words)
    try:
        return asyncio.run(_serve(options))
    except SandboxUnavailable as error:
        _tell(str(error))
        return EXIT_NO_SANDBOX
    except UsageError as error:
        _tell(str(error))
        return EXIT_USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat mcp serve",
        description=say("Serve the tools to other agents over MCP: on standard input and output, or with --http."),
        epilog=say("The token is a new one with every start, unless {name} or --token-file gives one.", name=_TOKEN),
    )
    add_policy_flags(parser)
    parser.add_argument(
        "--exclude-tools", action="append", metavar="LIST", help=say("tools that may not be used at all")
    )
    add_sandbox_flag(parser)
    parser.add_argument(
        "--http",
        nargs="?",
        type=_port,
        const=0,
        metavar="PORT",
        help=say("listen on this port of 127.0.0.1 (default: any that is free)"),
    )
    parser.add_argument("--token-file", metavar="FILE", help=say("where the token for --http is read from"))
    return parser


def _port(word: str) -> int:
    number = int(word) if word.isascii() and word.isdecimal() else -1
    if not 0 <= number <= _MOST_PORT:
        raise argparse.ArgumentTypeError(say("a port is a number from 0 to {most}", most=_MOST_PORT))
    return number


async def _serve(options: argparse.Namespace) -> int:
    flags = policy_flags(options)
    excluded = [name.strip() for names in options.exclude_tools or () for name in names.split(",")]
    serving = ServingOptions(
        directories=flags.roots,
        allowed_tools=flags.allowed_tools,
        excluded_tools=tuple(filter(None, excluded)),
        mode=flags.mode,
        sandbox=options.sandbox,
    )
    if options.token_file is not None and options.http is None:
        raise UsageError(say("--token-file is for --http: over standard input and output there is no token."))
    async with open_tool_host(serving) as host:
        for note in host.notes:
            _tell(note)
        server = ToolServer(host, version=__version__)
        try:
            if options.http is None:
                return await _until_told(lambda: _serve_lines(server))
            return await _until_told(lambda: _serve_http(server, options.http, options.token_file))
        finally:
            server.close()


async def _serve_lines(server: ToolServer) -> None:
    """Only messages go to standard output; what anybody else would write there goes to standard error."""
    if os.isatty(0):
        _tell(say("This is for programs: a client of MCP talks to it on standard input. Ctrl-D ends it."))
    sink = os.dup(1)
    os.dup2(2, 1)
    try:
        await serve_lines(server, source=0, sink=sink, complain=_tell)
    finally:
        os.dup2(sink, 1)
        os.close(sink)


async def _serve_http(server: ToolServer, port: int, token_file: str | None) -> None:
    """Raises UsageError where nobody can listen there."""
    token, where = _token(token_file)

    def tell(found: int) -> None:
        _tell(say("Serving on {address}", address=f"http://127.0.0.1:{found}{PATH}"))
        _tell(where)

    try:
        await serve_http(server, port=port, token=token, tell=tell)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(say("Cannot listen on port {port}: {reason}", port=port, reason=reason)) from None


def _token(file: str | None) -> tuple[str, str]:
    """The token, and what to say about it. Raises UsageError."""
    given, where = os.environ.get(_TOKEN), say("the environment variable {name}", name=_TOKEN)
    if file is not None:
        given, where = read_own_file(file, writers=Writers.TRUSTED), say("the file {file}", file=file)
        if given is None:
            raise UsageError(say("The file for the token does not exist: {file}", file=file))
    if given is None:
        token = secrets.token_urlsafe(32)
        return token, say("Clients must send the header {header}", header=f"Authorization: Bearer {token}")
    given = given.strip()
    if len(given) < _SHORTEST_TOKEN or not (given.isascii() and given.isprintable()) or " " in given:
        raise UsageError(
            say(
                "The token in {place} must have at least {least} plain characters, and no space.",
                place=where,
                least=_SHORTEST_TOKEN,
            )
        )
    header = "Authorization: Bearer ..."
    return given, say("Clients must send the token in {place} as the header {header}", place=where, header=header)


async def _until_told(serving: Callable[[], Awaitable[None]]) -> int:
    """Serve until that ends by itself, or somebody sends a signal; then everything that runs is ended first.

    A second signal ends the program at once. Those that the caller has us ignore stay ignored, as with nohup.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(serving())
    told: list[int] = []

    def end(number: int) -> None:
        loop.remove_signal_handler(number)
        told.append(number)
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    await asyncio.wait((task,))
    if told:
        return 128 + told[0]
    task.result()
    return EXIT_OK


def _tell(line: str) -> None:
    print(f"tejat: {visible(translated(line))}", file=sys.stderr, flush=True)
