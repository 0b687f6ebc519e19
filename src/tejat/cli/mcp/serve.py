"""`tejat mcp serve`: serve the tools over MCP, on standard input and output or over local HTTP."""

import argparse
import asyncio
import os
import secrets

from tejat import __version__
from tejat.app.tools.tool_host import ToolHostOptions, open_tool_host
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_errors, print_usage_error
from tejat.cli.policy_flags import add_policy_flags, add_sandbox_flag, policy_flags
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.ui.mcp_server.stdio import serve_stdio
from tejat.ui.mcp_server.streamable_http import ENDPOINT_PATH, serve_http
from tejat.ui.mcp_server.tool_server import ToolServer
from tejat.ui.shared.signal_stop import run_until_signal
from tejat.ui.shared.stdio_pipes import protocol_output

_TOKEN_VARIABLE = "TEJAT_MCP_TOKEN"
_MIN_TOKEN_LENGTH = 16
_MAX_PORT = 65_535


def run(words: list[str]) -> int:
    """Run `tejat mcp serve` and return the exit code."""
    options = make_parser().parse_args(words)
    try:
        return asyncio.run(_serve(options))
    except UsageError as error:
        return print_usage_error(error)


def make_parser() -> CommandParser:
    """The parser of `tejat mcp serve`."""
    parser = CommandParser(
        "tejat mcp serve",
        _("Offer Tejat's tools to other agents over MCP, on standard input and output or with --http over local HTTP."),
        notes=_(
            "The token for --http is new at every start, unless {name} or --token-file sets one.",
            name=_TOKEN_VARIABLE,
        ),
        examples=(("tejat mcp serve --root ~/project --approval-mode auto_edit", ""),),
    )
    add_policy_flags(parser)
    parser.add_argument("--exclude-tools", action="append", metavar="LIST", help=_("tools to disable"))
    add_sandbox_flag(parser)
    parser.add_argument(
        "--http",
        nargs="?",
        type=_parse_port,
        const=0,
        metavar="PORT",
        help=_("listen on this port of 127.0.0.1 (default: any free port)"),
    )
    parser.add_argument("--token-file", metavar="FILE", help=_("read the token for --http from this file"))
    return parser


def _parse_port(word: str) -> int:
    number = int(word) if word.isascii() and word.isdecimal() else -1
    if not 0 <= number <= _MAX_PORT:
        raise argparse.ArgumentTypeError(_("must be a port number from 0 to {most}", most=_MAX_PORT))
    return number


async def _serve(options: argparse.Namespace) -> int:
    flags = policy_flags(options)
    excluded = [name.strip() for names in options.exclude_tools or () for name in names.split(",")]
    serving = ToolHostOptions(
        directories=flags.roots,
        allowed_tools=flags.allowed_tools,
        excluded_tools=tuple(filter(None, excluded)),
        mode=flags.mode,
        policy_paths=flags.policy_paths,
        admin_policy_paths=flags.admin_policy_paths,
        sandbox=options.sandbox,
        warn=print_error,
    )
    if options.token_file is not None and options.http is None:
        raise UsageError(_("--token-file works only with --http."))
    async with open_tool_host(serving) as host:
        print_errors(host.notes)
        server = ToolServer(host, version=__version__)
        try:
            if options.http is None:
                return await run_until_signal(lambda: _serve_lines(server))
            return await run_until_signal(lambda: _serve_http(server, options.http, options.token_file))
        finally:
            server.close()


async def _serve_lines(server: ToolServer) -> None:
    if os.isatty(0):
        print_error(_("Waiting for an MCP client on standard input. Press Ctrl-D to stop."))
    with protocol_output() as sink:
        await serve_stdio(server, source=0, sink=sink, warn=print_error)


async def _serve_http(server: ToolServer, port: int, token_file: str | None) -> None:
    """Raises UsageError if the port cannot be used."""
    token, where = _read_token(token_file)

    def announce(found: int) -> None:
        print_error(_("Serving on {address}", address=f"http://127.0.0.1:{found}{ENDPOINT_PATH}"))
        print_error(where)

    try:
        await serve_http(server, port=port, token=token, on_listening=announce)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(_("Could not listen on port {port}: {reason}", port=port, reason=reason)) from None


def _read_token(file: str | None) -> tuple[str, str]:
    """The token, and the message about it. Raises UsageError."""
    given, where = os.environ.get(_TOKEN_VARIABLE), _("the environment variable {name}", name=_TOKEN_VARIABLE)
    if file is not None:
        given, where = read_config_file(file, writers=AllowedWriters.TRUSTED), _("the file {file}", file=file)
        if given is None:
            raise UsageError(_("The token file does not exist: {file}", file=file))
    if given is None:
        token = secrets.token_urlsafe(32)
        return token, _("Clients must send the header {header}", header=f"Authorization: Bearer {token}")
    given = given.strip()
    if len(given) < _MIN_TOKEN_LENGTH or not (given.isascii() and given.isprintable()) or " " in given:
        text = _(
            "The token in {place} must have at least {least} printable ASCII characters and no spaces.",
            place=where,
            least=_MIN_TOKEN_LENGTH,
        )
        raise UsageError(text)
    header = "Authorization: Bearer ..."
    return given, _("Clients must send the token from {place} in the header {header}", place=where, header=header)
