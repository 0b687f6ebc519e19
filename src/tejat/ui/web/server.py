"""The server of the web page: where it listens, and its link."""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.engine.prompt.attachments import MAX_ATTACHED_BYTES
from tejat.ui.web.contract import SessionDirectory
from tejat.ui.web.http.access import AccessControl
from tejat.ui.web.http.password import PasswordCheck
from tejat.ui.web.site import WebSite
from tejat.workspace.http.server import HttpServer, ServerLimits

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
_PORTS_TO_TRY = 50
_CLOSE_SECONDS = 0.5
_LIMITS = ServerLimits(connections=128, body=MAX_ATTACHED_BYTES + 2**20)


class WebOptions(Frozen):
    """Where to listen. Without a `port` it is the usual one, or the next that is free.

    An `address` other than that of this machine needs a password and a certificate with its key.
    """

    port: int | None = None
    address: str = LOOPBACK
    password: str = ""
    certificate: str = ""
    certificate_key: str = ""


class ListeningServer(Frozen):
    """A server that listens. `link` opens the page."""

    link: str
    access: AccessControl

    def launch_link(self) -> str:
        """A link that works once, for a browser that is started here."""
        return f"{self.link.partition('?')[0]}?token={self.access.make_launch_token()}"


async def serve_web(
    directory: SessionDirectory, options: WebOptions, on_listening: Callable[[ListeningServer], None]
) -> None:
    """Serve the page until cancelled; `on_listening` is called when it can be opened. Raises UsageError."""
    context = _tls_context(options) if options.certificate else None
    listener = _bind(options)
    port: int = listener.getsockname()[1]
    names = frozenset(f"{name}:{port}" for name in (LOOPBACK, "localhost"))
    access = AccessControl(names, port=port, is_secure=context is not None)
    site = WebSite(directory, access, PasswordCheck(options.password) if options.password else None)
    server = HttpServer(site.handle, _LIMITS)
    await server.listen_on(listener, context)
    try:
        on_listening(ListeningServer(_link(options, access, port), access))
        await asyncio.get_running_loop().create_future()
    finally:
        await server.close(grace_seconds=_CLOSE_SECONDS)
        await site.close()


def _link(options: WebOptions, access: AccessControl, port: int) -> str:
    if options.address == LOOPBACK:
        return f"http://{LOOPBACK}:{port}/?token={access.token}"
    host = f"[{options.address}]" if ":" in options.address else options.address
    return f"https://{host}:{port}/"


def _bind(options: WebOptions) -> socket.socket:
    """A socket that listens. Raises UsageError."""
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TO_TRY) if options.port is None else (options.port,)
    for port in ports:
        try:
            return _bind_port(options.address, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or options.port is not None:
                raise UsageError(_bind_problem(options.address, port, error)) from None
    last = ports[-1]
    raise UsageError(_("All ports from {first} to {last} are in use. Use --port N.", first=DEFAULT_PORT, last=last))


def _bind_port(address: str, port: int) -> socket.socket:
    """Raises OSError."""
    family, _kind, _protocol, _name, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(128)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _bind_problem(address: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return _("Port {port} is in use. Choose another with --port N, or leave it out.", port=port)
        case errno.EACCES:
            return _("No permission to use port {port}. Use one from 1024 up.", port=port)
        case errno.EADDRNOTAVAIL:
            return _("This machine has no address {address}.", address=address)
        case _ if isinstance(error, socket.gaierror):
            return _("Unknown address {address}. Give an address of this machine.", address=address)
        case _:
            reason = error.strerror or error
            return _("Cannot listen on {address}, port {port}: {reason}.", address=address, port=port, reason=reason)


def _tls_context(options: WebOptions) -> ssl.SSLContext:
    """Raises UsageError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(options.certificate, options.certificate_key or None)
    except (OSError, ssl.SSLError) as error:
        path, reason = options.certificate, getattr(error, "strerror", None) or error
        raise UsageError(_("Cannot use the certificate {path}: {reason}.", path=path, reason=reason)) from None
    return context
