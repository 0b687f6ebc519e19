"""Opening of connections: TCP, proxy tunnel and TLS handshake."""

import asyncio
import socket
import ssl

from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.http.connect import connect_to_address, connect_to_host
from tejat.workspace.http.connection import HttpConnection, OutgoingRequest, ssl_error_text
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.stream import SocketStream
from tejat.workspace.http.tls import CertificateStore
from tejat.workspace.http.types import AddressResolver, HttpFailure, HttpFailureKind, HttpLimits
from tejat.workspace.http.url import Origin

_NO_LIMITS = HttpLimits(first_byte=None, idle=None, total=None)  # the connect limit covers all of it


async def open_connection(
    origin: Origin,
    *,
    proxy: Proxy | None,
    resolver: AddressResolver | None,
    certificate_store: CertificateStore,
    deadline: RequestDeadline,
    ipv4_first: bool = False,
) -> HttpConnection:
    """Open a connection for requests to this origin. For `ipv4_first` see `connect_to_host`.

    Raises HttpFailure with DNS, CONNECT, PROXY, TLS or TIMED_OUT_CONNECT, and whatever `resolver` raises.
    """
    stream = SocketStream()
    alarm = asyncio.timeout_at(deadline.until(deadline.limits.connect))
    try:
        async with alarm:
            if proxy is not None:
                await _connect_through(stream, proxy, origin, certificate_store)
            else:
                await _attach(stream, await _open_socket(origin, resolver, ipv4_first=ipv4_first))
            if origin.is_secure:
                await _start_tls(stream, origin, certificate_store)
    except BaseException as error:
        stream.abort()
        if isinstance(error, TimeoutError) and alarm.expired():
            deadline.check(None, HttpFailureKind.TIMED_OUT_TOTAL)
            raise deadline.timeout_failure(HttpFailureKind.TIMED_OUT_CONNECT) from None
        raise
    return HttpConnection(stream, where=origin.authority)


async def _connect_through(
    stream: SocketStream, proxy: Proxy, origin: Origin, certificate_store: CertificateStore
) -> None:
    await _connect_to_proxy(stream, proxy, certificate_store)
    if origin.is_secure:
        await _open_tunnel(stream, origin, proxy)


async def _open_socket(origin: Origin, resolver: AddressResolver | None, *, ipv4_first: bool = False) -> socket.socket:
    if resolver is None:
        return await connect_to_host(origin.host, origin.port, ipv4_first=ipv4_first)
    address, port = await resolver(origin.host, origin.port)
    return await connect_to_address(address, port, where=origin.authority)


async def _attach(stream: SocketStream, connection: socket.socket) -> None:
    try:
        await asyncio.get_running_loop().create_connection(lambda: stream, sock=connection)
    except BaseException:
        connection.close()
        raise


async def _connect_to_proxy(stream: SocketStream, proxy: Proxy, certificate_store: CertificateStore) -> None:
    try:
        await _attach(stream, await _open_socket(proxy.origin, None))
        if proxy.origin.is_secure:
            await _start_tls(stream, proxy.origin, certificate_store)
    except HttpFailure as failure:
        message = lazy("Could not reach the proxy. {why}", why=failure.message)
        raise HttpFailure(message, HttpFailureKind.PROXY) from None


async def _open_tunnel(stream: SocketStream, origin: Origin, proxy: Proxy) -> None:
    tunnel = HttpConnection(stream, where=lazy("The proxy {authority}", authority=proxy.origin.authority))
    request = OutgoingRequest("CONNECT", origin.authority, (("Host", origin.authority), *proxy.headers))
    deadline = RequestDeadline(_NO_LIMITS, where=tunnel.server, clock=stream.loop.time)
    try:
        response = await tunnel.send(request, (), deadline)
    except HttpFailure as failure:
        message = lazy("{why} It was asked to connect to {authority}.", why=failure.message, authority=origin.authority)
        raise HttpFailure(message, HttpFailureKind.PROXY) from None
    if response.status == 407:
        message = lazy("{where} requires a user name and password, or rejected them.", where=tunnel.server)
    elif not 200 <= response.status < 300:
        message = lazy(
            "{where} returned {status} when asked to connect to {authority}.",
            where=tunnel.server,
            status=response.status,
            authority=origin.authority,
        )
    elif tunnel.has_trailing_data:
        message = lazy("{where} sent data before {authority} could.", where=tunnel.server, authority=origin.authority)
    else:
        return
    raise HttpFailure(message, HttpFailureKind.PROXY)


async def _start_tls(stream: SocketStream, origin: Origin, certificate_store: CertificateStore) -> None:
    context = await certificate_store.context()
    if stream.has_data or stream.at_eof:
        # Data from before TLS would be lost, and both sides would wait for each other.
        message = lazy("{server} closed the connection.", server=origin.authority)
        if stream.has_data:
            message = lazy("{server} sent data before the TLS handshake.", server=origin.authority)
        raise HttpFailure(message, HttpFailureKind.TLS)
    try:
        await stream.start_tls(context, origin.host.removesuffix("."))
    except ssl.SSLCertVerificationError as error:
        unloaded = (lazy(" (Could not load {name}.)", name=name) for name in certificate_store.load_errors)
        message = lazy(
            "The certificate of {server} is not trusted: {why}.{unread}",
            server=origin.authority,
            why=error.verify_message.rstrip(".") or lazy("verification failed"),
            unread=join_lazy("", unloaded),
        )
    except ssl.SSLError as error:
        why = ssl_error_text(error)
        message = lazy("TLS handshake with {authority} failed: {why}.", authority=origin.authority, why=why)
    except OSError:
        message = lazy("{authority} closed the connection during the TLS handshake.", authority=origin.authority)
    else:
        return
    raise HttpFailure(message, HttpFailureKind.TLS)
