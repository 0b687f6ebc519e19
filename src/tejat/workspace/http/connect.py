"""TCP connections to a host with several addresses ("happy eyeballs")."""

import asyncio
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from tejat.core.i18n import lazy
from tejat.workspace.http.types import HttpFailure, HttpFailureKind
from tejat.workspace.threads.daemon import run_in_daemon

_HEAD_START_SECONDS = 0.25
_MAX_ADDRESSES = 16

Address: TypeAlias = "tuple[socket.AddressFamily, tuple[Any, ...]]"


async def connect_to_host(host: str, port: int, *, ipv4_first: bool = False) -> socket.socket:
    """Return a non-blocking socket connected to one of the host's addresses.

    Each address gets a small head start over the next, so that a dead one does not delay the rest. With `ipv4_first`,
    IPv4 addresses come before all others. Raises HttpFailure with DNS or CONNECT.
    """
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    addresses = await _resolve(host, port)
    return await connect_to_any(put_ipv4_first(addresses) if ipv4_first else addresses, where=where)


def put_ipv4_first(addresses: Sequence[Address]) -> list[Address]:
    """Return the addresses with those of IPv4 before all others."""
    return sorted(addresses, key=lambda address: address[0] != socket.AF_INET)


async def connect_to_address(address: str, port: int, *, where: str) -> socket.socket:
    """Like `connect_to_host` for a literal address, which is not resolved again after the caller has checked it."""
    try:
        found = _getaddrinfo(address, port, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        found = []
    return await connect_to_any(found, where=where)


async def connect_to_any(addresses: Sequence[Address], *, where: str) -> socket.socket:
    """Return the first socket to connect. Raises HttpFailure with CONNECT if no address answers."""
    waiting = list(addresses)
    attempts: set[asyncio.Task[socket.socket]] = set()
    error: OSError | None = None
    try:
        while waiting or attempts:
            if waiting:
                attempts.add(asyncio.create_task(_connect(waiting.pop(0))))
            done, attempts = await asyncio.wait(
                attempts, timeout=_HEAD_START_SECONDS if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            winner = next((attempt for attempt in done if attempt.exception() is None), None)
            if winner is not None:
                attempts |= done - {winner}
                return winner.result()
            error = _first_error(done) or error
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_close_result)
    reason = os.strerror(error.errno) if error is not None and error.errno else lazy("no address responded")
    raise HttpFailure(
        lazy("Could not connect to {where}: {reason}.", where=where, reason=reason), HttpFailureKind.CONNECT
    )


async def _resolve(host: str, port: int) -> list[Address]:
    """Return all addresses, alternating families. A literal address is not looked up."""
    with suppress(OSError):
        return _getaddrinfo(host, port, socket.AI_NUMERICHOST)
    try:
        found = await run_in_daemon(lambda: _getaddrinfo(host, port, 0))
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise HttpFailure(lazy("Could not resolve {host}.", host=host), HttpFailureKind.DNS)
    first = [address for address in found if address[0] == found[0][0]]
    second = [address for address in found if address[0] != found[0][0]]
    mixed = [address for pair in zip(first, second, strict=False) for address in pair]
    shorter = min(len(first), len(second))
    return (mixed + first[shorter:] + second[shorter:])[:_MAX_ADDRESSES]


def _getaddrinfo(host: str, port: int, flags: int) -> list[Address]:
    # A name in bytes does not load the IDNA tables.
    found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, address) for family, _, _, _, address in found]


async def _connect(address: Address) -> socket.socket:
    family, where = address
    # asyncio sets TCP_NODELAY only on sockets with an explicit protocol.
    connection = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, where)
    except BaseException:
        connection.close()
        raise
    return connection


def _first_error(done: "set[asyncio.Task[socket.socket]]") -> OSError | None:
    errors = [attempt.exception() for attempt in done]
    return next((error for error in errors if isinstance(error, OSError)), None)


def _close_result(attempt: "asyncio.Task[socket.socket]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
