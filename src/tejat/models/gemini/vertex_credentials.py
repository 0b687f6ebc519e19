"""Application default credentials of Google Cloud, through google-auth and our own HTTP client. Blocking."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, cast

from google.auth import (
    aws,
    exceptions,
    external_account_authorized_user,
    identity_pool,
    impersonated_credentials,
    transport,
)
from google.oauth2 import credentials as user_credentials
from google.oauth2 import service_account

from tejat.core.i18n import join_lazy, lazy, map_lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.wire.redact import safe_text
from tejat.workspace.files.regular_file import regular_file_opener
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_LIMITS = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, total=30.0)
_METADATA_LIMITS = HttpLimits(connect=1.0, first_byte=2.0, idle=2.0, total=5.0)
_METADATA_HOSTS = ("metadata.google.internal", "169.254.169.254")
_METADATA_HEADERS = {"Metadata-Flavor": "Google"}
_REFRESH_MARGIN = 225.0
"""Seconds before its expiry at which a token is no longer used."""
_MAX_BYTES = 2**20
_ADVICE = lazy("Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file.")


class GoogleCredentials(Protocol):
    """The part of google-auth's credentials that is used here."""

    @property
    def valid(self) -> bool: ...

    @property
    def token(self) -> str | None: ...

    @property
    def quota_project_id(self) -> str | None: ...

    def refresh(self, request: object) -> None: ...


def load_credentials(environment: Mapping[str, str]) -> GoogleCredentials:
    """Load credentials from the named file, from gcloud's file, or from the metadata server.

    Raises ModelFailure without any.
    """
    path = environment.get("GOOGLE_APPLICATION_CREDENTIALS") or _gcloud_credentials_path(environment)
    if path and os.path.exists(path):
        return _load_file(path)
    if environment.get("GOOGLE_APPLICATION_CREDENTIALS"):
        raise _no_credentials(lazy("GOOGLE_APPLICATION_CREDENTIALS points to {path}, which does not exist.", path=path))
    machine = _MetadataServerCredentials(environment.get("GCE_METADATA_HOST") or _METADATA_HOSTS[0])
    if machine.is_available(AuthTransport(environment)):
        return machine
    raise _no_credentials(lazy("No Google Cloud application default credentials found."))


def refresh_credentials(credentials: GoogleCredentials, environment: Mapping[str, str]) -> None:
    """Get a new token. Raises ModelFailure."""
    try:
        credentials.refresh(AuthTransport(environment))
    except exceptions.TransportError as error:
        message = lazy("Could not get a Google Cloud token: {why}", why=map_lazy(str(error), safe_text))
        raise ModelFailure(message, FailureKind.NETWORK, can_retry=True) from None
    except exceptions.GoogleAuthError as error:
        raise ModelFailure(
            lazy(
                "Could not get a Google Cloud token. {why} {advice}",
                why=map_lazy(str(error), safe_text),
                advice=_ADVICE,
            ),
            FailureKind.AUTHENTICATION,
        ) from None


class AuthResponse(NamedTuple):
    """A response in the form that google-auth expects."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class AuthTransport(transport.Request):
    """HTTP transport for google-auth, with the proxies and certificates of the environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> AuthResponse:
        sent = body.encode() if isinstance(body, str) else body or b""
        try:
            return asyncio.run(self._request(url, method, sent, headers or {}))
        except HttpFailure as failure:
            raise exceptions.TransportError(failure.message) from None

    async def _request(self, url: str, method: str, body: bytes, headers: Mapping[str, str]) -> AuthResponse:
        # The metadata server is never behind a proxy.
        is_own = url.startswith(tuple(f"http://{host}" for host in _METADATA_HOSTS))
        limits = _METADATA_LIMITS if is_own else _LIMITS
        client = HttpClient(environment=self._environment, limits=limits, use_proxies=not is_own)
        try:
            async with client.request(method, url, headers=headers, body=body) as response:
                found = {name.lower(): value for name, value in response.headers.items()}
                return AuthResponse(response.status, found, await response.read(_MAX_BYTES))
        finally:
            await client.close()


def _gcloud_credentials_path(environment: Mapping[str, str]) -> str | None:
    directory = environment.get("CLOUDSDK_CONFIG")
    if not directory and environment.get("HOME"):
        directory = os.path.join(environment["HOME"], ".config", "gcloud")
    return os.path.join(directory, "application_default_credentials.json") if directory else None


def _load_file(path: str) -> GoogleCredentials:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            known: object = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        raise _no_credentials(lazy("{path} is not a credentials file.", path=path)) from None
    fields = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    if str(fields.get("type")) not in _FACTORIES:
        raise _no_credentials(lazy("{path} contains an unsupported kind of credentials.", path=path))
    return _build(lambda: _from_info(fields))


def _build(make: Callable[[], object]) -> GoogleCredentials:
    try:
        return cast("GoogleCredentials", make())
    except (exceptions.GoogleAuthError, ValueError, KeyError, TypeError) as error:
        # Messages about a key may quote it.
        message = lazy("Could not use the Google Cloud credentials ({kind}).", kind=type(error).__name__)
        raise _no_credentials(message) from None


def _from_info(fields: dict[str, Any]) -> object:
    source = cast("object", fields.get("credential_source"))
    keys = cast("dict[str, object]", source).keys() if isinstance(source, dict) else ()
    if "executable" in keys:
        raise ValueError(lazy("credentials that run a program are not supported"))
    kind = "aws" if "environment_id" in keys else fields["type"]
    maker, method = _FACTORIES[kind]
    # This kind got its scopes at login.
    scopes = {} if kind == "external_account_authorized_user" else {"scopes": _SCOPES}
    return getattr(maker, method)(fields, **scopes)


_FACTORIES: dict[str, tuple[type, str]] = {
    "service_account": (service_account.Credentials, "from_service_account_info"),
    "authorized_user": (user_credentials.Credentials, "from_authorized_user_info"),
    "impersonated_service_account": (impersonated_credentials.Credentials, "from_impersonated_service_account_info"),
    "external_account": (identity_pool.Credentials, "from_info"),
    "aws": (aws.Credentials, "from_info"),
    "external_account_authorized_user": (external_account_authorized_user.Credentials, "from_info"),
}


class _MetadataServerCredentials:
    """Credentials of the Google Cloud machine that this runs on.

    google-auth's own implementation needs an HTTP client library.
    """

    def __init__(self, host: str) -> None:
        self._base_url = f"http://{host}"
        self._expires = 0.0
        self.token: str | None = None
        self.quota_project_id: str | None = None

    @property
    def valid(self) -> bool:
        return self.token is not None and time.monotonic() < self._expires - _REFRESH_MARGIN

    def is_available(self, request: AuthTransport) -> bool:
        try:
            reply = request(self._base_url, headers=_METADATA_HEADERS)
        except exceptions.TransportError:
            return False
        return reply.headers.get("metadata-flavor") == "Google"

    def refresh(self, request: object) -> None:
        path = "computeMetadata/v1/instance/service-accounts/default/token"
        reply = cast("AuthTransport", request)(f"{self._base_url}/{path}", headers=_METADATA_HEADERS)
        if reply.status != 200:
            raise exceptions.RefreshError(
                lazy("This machine has no service account (HTTP {status}).", status=reply.status)
            )
        try:
            granted = json.loads(reply.data)
            self.token, self._expires = str(granted["access_token"]), time.monotonic() + float(granted["expires_in"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise exceptions.RefreshError(lazy("The metadata server returned an invalid token.")) from None


def _no_credentials(why: str) -> ModelFailure:
    return ModelFailure(join_lazy(" ", (map_lazy(why, safe_text), _ADVICE)), FailureKind.NO_KEY)
