"""Making a new connection: dial, pass the proxy, shake hands over TLS."""

import asyncio
import socket
import ssl

from tejat.core.words import joined, phrase
from tejat.workspace.http.address import Origin
from tejat.workspace.http.connection import Connection, Request, in_words
from tejat.workspace.http.dialling import connected_socket, connected_to_address
from tejat.workspace.http.patience import Patience
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.tls import Trust
from tejat.workspace.http.values import Dial, HttpFailure, HttpLimits, HttpProblem
from tejat.workspace.http.wire import Wire

_NO_LIMITS = HttpLimits(first_byte=None, idle=None, whole=None)  # all of it counts as connecting


async def open_connection(
    origin: Origin, *, proxy: Proxy | None, dial: Dial | None, trust: Trust, patience: Patience
) -> Connection:
    """A connection over which requests for this origin can be sent.

    Raises HttpFailure with DNS, CONNECT, PROXY, TLS or TIMED_OUT_CONNECT, and whatever `dial` raises.
    """
    wire = Wire()
    alarm = asyncio.timeout_at(patience.until(patience.limits.connect))
    try:
        async with alarm:
            await _connect(wire, origin, proxy=proxy, dial=dial, trust=trust)
    except BaseException as error:
        wire.abort()
        if isinstance(error, TimeoutError) and alarm.expired():
            patience.check(None, HttpProblem.TIMED_OUT_WHOLE)
            raise patience.failure(HttpProblem.TIMED_OUT_CONNECT) from None
        raise
    return Connection(wire, where=origin.authority)


async def _connect(wire: Wire, origin: Origin, *, proxy: Proxy | None, dial: Dial | None, trust: Trust) -> None:
    if proxy is not None:
        await _connect_to_proxy(wire, proxy, trust)
        if not origin.is_secure:
            return
        await _open_tunnel(wire, origin, proxy)
    else:
        await _attach(wire, await _reach(origin, dial))
    if origin.is_secure:
        await _start_tls(wire, origin, trust)


async def _reach(origin: Origin, dial: Dial | None) -> socket.socket:
    if dial is None:
        return await connected_socket(origin.host, origin.port)
    address, port = await dial(origin.host, origin.port)
    return await connected_to_address(address, port, where=origin.authority)


async def _attach(wire: Wire, connection: socket.socket) -> None:
    try:
        await asyncio.get_running_loop().create_connection(lambda: wire, sock=connection)
    except BaseException:
        connection.close()
        raise


async def _connect_to_proxy(wire: Wire, proxy: Proxy, trust: Trust) -> None:
    try:
        await _attach(wire, await _reach(proxy.origin, None))
        if proxy.origin.is_secure:
            await _start_tls(wire, proxy.origin, trust)
    except HttpFailure as failure:
        raise HttpFailure(
            phrase("The proxy cannot be reached. {why}", why=failure.message), HttpProblem.PROXY
        ) from None


async def _open_tunnel(wire: Wire, origin: Origin, proxy: Proxy) -> None:
    tunnel = Connection(wire, where=phrase("The proxy {authority}", authority=proxy.origin.authority))
    request = Request("CONNECT", origin.authority, (("Host", origin.authority), *proxy.headers))
    patience = Patience(_NO_LIMITS, where=tunnel.where, clock=wire.loop.time)
    try:
        response = await tunnel.exchange(request, (), patience)
    except HttpFailure as failure:
        raise HttpFailure(
            phrase("{why} It was asked for {authority}.", why=failure.message, authority=origin.authority),
            HttpProblem.PROXY,
        ) from None
    if response.status == 407:
        raise HttpFailure(
            phrase("{where} wants a name and a password, or other ones.", where=tunnel.where), HttpProblem.PROXY
        )
    if not 200 <= response.status < 300:
        words = phrase(
            "{where} answered {status} when it was asked for {authority}.",
            where=tunnel.where,
            status=response.status,
            authority=origin.authority,
        )
        raise HttpFailure(words, HttpProblem.PROXY)
    if tunnel.has_more:
        raise HttpFailure(
            phrase("{where} spoke before {authority} could.", where=tunnel.where, authority=origin.authority),
            HttpProblem.PROXY,
        )


async def _start_tls(wire: Wire, origin: Origin, trust: Trust) -> None:
    context = await trust.context()
    if wire.has_received or wire.has_ended:
        # What came before TLS began would be lost, and both sides would wait for the other.
        words = (
            phrase("{server} spoke before the TLS handshake.", server=origin.authority)
            if wire.has_received
            else phrase("{server} closed the connection.", server=origin.authority)
        )
        raise HttpFailure(words, HttpProblem.TLS)
    try:
        await wire.start_tls(context, origin.host.removesuffix("."))
    except ssl.SSLCertVerificationError as error:
        unread = joined("", (phrase(" ({name} could not be loaded.)", name=name) for name in trust.complaints))
        words = phrase(
            "The certificate of {server} is not trusted: {why}.{unread}",
            server=origin.authority,
            why=error.verify_message.rstrip(".") or phrase("it cannot be verified"),
            unread=unread,
        )
    except ssl.SSLError as error:
        words = phrase(
            "{authority} does not speak TLS as we do: {why}.", authority=origin.authority, why=in_words(error)
        )
    except OSError:
        words = phrase("{authority} closed the connection during the TLS handshake.", authority=origin.authority)
    else:
        return
    raise HttpFailure(words, HttpProblem.TLS)
