"""Store of OAuth grants in private files, shared by all processes."""

import asyncio
import errno
import hashlib
import json
import os
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.workspace.files.file_lock import open_lock_file, try_lock
from tejat.workspace.files.private_files import make_private_directory, write_private_file

_MAX_BYTES = 2**20
_POLL_SECONDS = 0.02


class TokenKey(Frozen):
    """A server by its alias and origin.

    If the settings change to another origin, the grant is not sent there.
    """

    alias: str
    origin: str


class OAuthGrant(Frozen):
    """Tokens and the data needed to refresh them. The repr hides them.

    `expires_at` is in seconds since 1970, None if unknown. `client` is our registration, `service` and `resource` are
    the metadata of the authorization server and of the MCP server, all as on the wire.
    """

    access_token: str
    refresh_token: str | None = None
    expires_at: float | None = None
    scope: str | None = None
    client: JsonObject | None = None
    service: JsonObject | None = None
    resource: JsonObject | None = None

    def __repr__(self) -> str:
        return f"Grant(expires_at={self.expires_at!r})"


class TokenStore:
    """One private file per key. All methods but `lock` block for a moment.

    They raise McpFailure with CONFIGURATION if the files cannot be used.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def read(self, key: TokenKey) -> OAuthGrant | None:
        """Return the grant; None without a valid one."""
        try:
            content = _read_file(self._path(key))
        except OSError as error:
            raise self._failure(key, error) from None
        return None if content is None else _parse_grant(content)

    def write(self, key: TokenKey, grant: OAuthGrant) -> None:
        """Replace the grant atomically. Requires the lock."""
        known: dict[str, JsonValue] = {
            "alias": key.alias,
            "origin": key.origin,
            "accessToken": grant.access_token,
            "refreshToken": grant.refresh_token,
            "expiresAt": grant.expires_at,
            "scope": grant.scope,
            "client": grant.client,
            "service": grant.service,
            "resource": grant.resource,
        }
        try:
            make_private_directory(self.directory)
            write_private_file(self._path(key), dump_json(known, indent=1), follow_symlinks=False)
        except OSError as error:
            raise self._failure(key, error) from None

    def remove(self, key: TokenKey) -> bool:
        """Remove the grant. False: there was none."""
        try:
            os.unlink(self._path(key))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._failure(key, error) from None
        return True

    @asynccontextmanager
    async def lock(self, key: TokenKey, *, seconds: float) -> AsyncGenerator[None]:
        """Hold the lock for refreshing this grant, across processes.

        Raises McpFailure with TIMED_OUT when it is not available in time.
        """
        descriptor = self._open_lock(key)
        try:
            try:
                async with asyncio.timeout(seconds):
                    while not try_lock(descriptor):  # noqa: ASYNC110 -- no event tells of another process
                        await asyncio.sleep(_POLL_SECONDS)
            except TimeoutError:
                message = lazy("Another process is still refreshing the login for {alias}.", alias=key.alias)
                raise McpFailure(message, McpProblem.TIMED_OUT) from None
            yield
        finally:
            os.close(descriptor)

    def _open_lock(self, key: TokenKey) -> int:
        try:
            make_private_directory(self.directory)
            return open_lock_file(f"{self._path(key)}.lock")
        except OSError as error:
            raise self._failure(key, error) from None

    def _path(self, key: TokenKey) -> str:
        name = hashlib.sha256(json.dumps([key.alias, key.origin]).encode()).hexdigest()
        return os.path.join(self.directory, f"{name[:32]}.json")

    def _failure(self, key: TokenKey, error: OSError) -> McpFailure:
        message = lazy(
            "Could not store the login for {alias} in {directory}: {why}.",
            alias=key.alias,
            directory=self.directory,
            why=error.strerror or lazy("not usable"),
        )
        return McpFailure(message, McpProblem.CONFIGURATION)


def _read_file(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, lazy("a file in it belongs to another user"))
        return file.read(_MAX_BYTES)


def _parse_grant(content: bytes) -> OAuthGrant | None:
    try:
        known = load_json(content)
    except InvalidJson:
        return None
    if not isinstance(known, dict):
        return None
    fields = cast("dict[str, JsonValue]", known)
    access_token, expires_at = fields.get("accessToken"), fields.get("expiresAt")
    if not isinstance(access_token, str) or not access_token:
        return None
    return OAuthGrant(
        access_token,
        _text(fields, "refreshToken"),
        float(expires_at) if isinstance(expires_at, int | float) else None,
        _text(fields, "scope"),
        _object(fields, "client"),
        _object(fields, "service"),
        _object(fields, "resource"),
    )


def _text(fields: Mapping[str, JsonValue], name: str) -> str | None:
    found = fields.get(name)
    return found if isinstance(found, str) and found else None


def _object(fields: Mapping[str, JsonValue], name: str) -> JsonObject | None:
    found = fields.get(name)
    return found if isinstance(found, Mapping) else None
