"""`tejat web`: sessions of all projects in a browser."""

import argparse
import asyncio
import os

from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.sessions.access import run_with_sessions
from tejat.cli.commands.web.browser import can_open_browser, open_browser
from tejat.cli.commands.web.directory import WebSessions
from tejat.cli.commands.web.password import VARIABLE, read_password
from tejat.cli.messages import print_error
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.ui.shared.signal_stop import run_until_signal
from tejat.ui.web.server import DEFAULT_PORT, LOOPBACK, ListeningServer, WebOptions, serve_web

_MAX_PORT = 65_535
_OWN_ADDRESSES = (LOOPBACK, "localhost")


def run(words: list[str]) -> int:
    """Run `tejat web` and return the exit code."""
    options = make_parser().parse_args(words)
    return run_with_sessions(lambda sessions, config: _serve(sessions, config, options))


def make_parser() -> CommandParser:
    """The parser of `tejat web`."""
    parser = CommandParser(
        "tejat web",
        _(
            "Show the sessions of all projects on a web page of this machine: watch, prompt and answer running "
            "sessions, and look back at stored ones. Prints the link, opens it, and runs until Ctrl-C."
        ),
        usages=(
            "tejat web [--port N] [--no-open]",
            "tejat web --listen ADDRESS --tls-cert FILE --tls-key FILE [--password-file FILE]",
        ),
        notes=_(
            "Anyone with the link can use your sessions, so do not share it. From another machine, forward the port "
            "with SSH: ssh -L {port}:127.0.0.1:{port} HOST. --listen needs a certificate and a password: from "
            "{variable}, a file, or typed.",
            port=DEFAULT_PORT,
            variable=VARIABLE,
        ),
        examples=(
            ("tejat web", _("open the page in your browser")),
            ("tejat web --port 9000 --no-open", _("only print the link")),
        ),
        exit_codes=(
            ("42", _("the port is in use, or the address, certificate or password cannot be used")),
            ("130", _("stopped with Ctrl-C")),
        ),
    )
    port_help = _("port to listen on (default: {port}, or the next that is free)", port=DEFAULT_PORT)
    parser.add_argument("--port", type=_port, metavar="N", help=port_help)
    parser.add_argument("--no-open", action="store_true", help=_("do not open a browser"))
    parser.add_argument("--listen", metavar="ADDRESS", help=_("listen on another address, with TLS and a password"))
    parser.add_argument("--tls-cert", metavar="FILE", help=_("certificate chain in PEM format, for --listen"))
    parser.add_argument("--tls-key", metavar="FILE", help=_("private key of the certificate, for --listen"))
    parser.add_argument("--password-file", metavar="FILE", help=_("file with the password, for --listen"))
    return parser


def _port(word: str) -> int:
    """Raises ArgumentTypeError."""
    if not word.isdecimal() or not 0 <= int(word[:6]) <= _MAX_PORT:
        raise argparse.ArgumentTypeError(
            _("{word!r} is not a port. Use a number up to {most}.", word=word, most=_MAX_PORT)
        )
    return int(word)


def _serve(sessions: StoredSessions, config: RunConfig, options: argparse.Namespace) -> int:
    """Raises UsageError."""
    web_options = _web_options(options)
    directory = WebSessions(sessions, StoredHistory(config), config.paths)
    may_open = not options.no_open and web_options.address == LOOPBACK and can_open_browser(os.environ)
    tasks: set[asyncio.Task[None]] = set()

    def announce(server: ListeningServer) -> None:
        print(server.link, flush=True)
        if may_open:
            opening = open_browser(server.launch_link(), config.paths.runtime, drop=server.access.drop_launch_token)
            tasks.add(asyncio.ensure_future(opening))

    return asyncio.run(run_until_signal(lambda: serve_web(directory, web_options, announce)))


def _web_options(options: argparse.Namespace) -> WebOptions:
    """Raises UsageError."""
    if options.listen is None or options.listen in _OWN_ADDRESSES:
        return WebOptions(options.port)
    if not options.tls_cert or not options.tls_key:
        raise UsageError(
            _(
                "--listen needs --tls-cert FILE and --tls-key FILE. To make a certificate that your browser will warn "
                "about: {command}",
                command=(
                    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 "
                    f"-subj /CN={options.listen} -keyout key.pem -out cert.pem"
                ),
            )
        )
    password = read_password(options.password_file, os.environ)
    print_error(
        _("Warning: others on your network can reach this page. Anyone who knows the password can run commands as you.")
    )
    return WebOptions(options.port, options.listen, password, options.tls_cert, options.tls_key)
