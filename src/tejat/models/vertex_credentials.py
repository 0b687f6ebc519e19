"""Application default credentials of Google Cloud, through google-auth and over our own HTTP. All of it blocks."""

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

from tejat.core.model import FailureKind, ModelFailure
from tejat.core.words import changed, joined, phrase
from tejat.models.redact import safe_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpFailure, HttpLimits
from tejat.workspace.regular_file import without_waiting

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_LIMITS = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, whole=30.0)
_METADATA_LIMITS = HttpLimits(connect=1.0, first_byte=2.0, idle=2.0, whole=5.0)
_METADATA_HOSTS = ("metadata.google.internal", "169.254.169.254")
_METADATA_HEADERS = {"Metadata-Flavor": "Google"}
_RENEW_BEFORE = 225.0
"""How many seconds before its end a token is no longer used."""
_MOST_BYTES = 2**20
_ADVICE = phrase(
    "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a key."
)


class Credentials(Protocol):
    """What we use of google-auth's."""

    @property
    def valid(self) -> bool: ...

    @property
    def token(self) -> str | None: ...

    @property
    def quota_project_id(self) -> str | None: ...

    def refresh(self, request: object) -> None: ...


def load_credentials(environment: Mapping[str, str]) -> Credentials:
    """Who we are: by a file that is named, by the one that gcloud left, or by the machine that we are on.

    Raises ModelFailure when we are nobody.
    """
    path = environment.get("GOOGLE_APPLICATION_CREDENTIALS") or _gcloud_file(environment)
    if path and os.path.exists(path):
        return _from_file(path)
    if environment.get("GOOGLE_APPLICATION_CREDENTIALS"):
        raise _nobody(phrase("GOOGLE_APPLICATION_CREDENTIALS names {path}, which is not there.", path=path))
    machine = _Machine(environment.get("GCE_METADATA_HOST") or _METADATA_HOSTS[0])
    if machine.is_there(Transport(environment)):
        return machine
    raise _nobody(phrase("There are no application default credentials of Google Cloud."))


def refresh_credentials(credentials: Credentials, environment: Mapping[str, str]) -> None:
    """Get a new token. Raises ModelFailure."""
    try:
        credentials.refresh(Transport(environment))
    except exceptions.TransportError as error:
        raise ModelFailure(
            phrase("No token for Google Cloud: {why}", why=changed(str(error), safe_text)),
            FailureKind.NETWORK,
            can_retry=True,
        ) from None
    except exceptions.GoogleAuthError as error:
        raise ModelFailure(
            phrase("Google Cloud gives no token. {why} {advice}", why=changed(str(error), safe_text), advice=_ADVICE),
            FailureKind.AUTHENTICATION,
        ) from None


class Reply(NamedTuple):
    """A response as google-auth wants it."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class Transport(transport.Request):
    """How google-auth asks: through the proxies and with the certificates of this environment."""

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
    ) -> Reply:
        sent = body.encode() if isinstance(body, str) else body or b""
        try:
            return asyncio.run(self._ask(url, method, sent, headers or {}))
        except HttpFailure as failure:
            raise exceptions.TransportError(failure.message) from None

    async def _ask(self, url: str, method: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        # What answers for the machine itself is never behind a proxy.
        is_own = url.startswith(tuple(f"http://{host}" for host in _METADATA_HOSTS))
        limits = _METADATA_LIMITS if is_own else _LIMITS
        client = HttpClient(environment=self._environment, limits=limits, use_proxies=not is_own)
        try:
            async with client.request(method, url, headers=headers, body=body) as response:
                found = {name.lower(): value for name, value in response.headers.items()}
                return Reply(response.status, found, await response.read(_MOST_BYTES))
        finally:
            await client.close()


def _gcloud_file(environment: Mapping[str, str]) -> str | None:
    directory = environment.get("CLOUDSDK_CONFIG")
    if not directory and environment.get("HOME"):
        directory = os.path.join(environment["HOME"], ".config", "gcloud")
    return os.path.join(directory, "application_default_credentials.json") if directory else None


def _from_file(path: str) -> Credentials:
    try:
        with open(path, "rb", opener=without_waiting) as file:
            known: object = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        raise _nobody(phrase("{path} is no file of credentials.", path=path)) from None
    fields = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    if str(fields.get("type")) not in _MAKERS:
        raise _nobody(phrase("{path} has credentials of a kind that is not taken here.", path=path))
    return _loaded(lambda: _made(fields))


def _loaded(make: Callable[[], object]) -> Credentials:
    try:
        return cast("Credentials", make())
    except (exceptions.GoogleAuthError, ValueError, KeyError, TypeError) as error:
        # The words of an error about a key may hold some of it.
        raise _nobody(
            phrase("The credentials of Google Cloud cannot be used ({kind}).", kind=type(error).__name__)
        ) from None


def _made(fields: dict[str, Any]) -> object:
    source = cast("object", fields.get("credential_source"))
    keys = cast("dict[str, object]", source).keys() if isinstance(source, dict) else ()
    if "executable" in keys:
        raise ValueError(phrase("credentials that start a program are not taken"))
    kind = "aws" if "environment_id" in keys else fields["type"]
    maker, method = _MAKERS[kind]
    # One kind was given its scopes when the person logged in.
    scopes = {} if kind == "external_account_authorized_user" else {"scopes": _SCOPES}
    return getattr(maker, method)(fields, **scopes)


_MAKERS: dict[str, tuple[type, str]] = {
    "service_account": (service_account.Credentials, "from_service_account_info"),
    "authorized_user": (user_credentials.Credentials, "from_authorized_user_info"),
    "impersonated_service_account": (impersonated_credentials.Credentials, "from_impersonated_service_account_info"),
    "external_account": (identity_pool.Credentials, "from_info"),
    "aws": (aws.Credentials, "from_info"),
    "external_account_authorized_user": (external_account_authorized_user.Credentials, "from_info"),
}


class _Machine:
    """The account of the machine that we run on, if it is one of Google's.

    What google-auth has for it cannot do without an HTTP client of its own.
    """

    def __init__(self, host: str) -> None:
        self._address = f"http://{host}"
        self._expires = 0.0
        self.token: str | None = None
        self.quota_project_id: str | None = None

    @property
    def valid(self) -> bool:
        return self.token is not None and time.monotonic() < self._expires - _RENEW_BEFORE

    def is_there(self, request: Transport) -> bool:
        try:
            reply = request(self._address, headers=_METADATA_HEADERS)
        except exceptions.TransportError:
            return False
        return reply.headers.get("metadata-flavor") == "Google"

    def refresh(self, request: object) -> None:
        path = "computeMetadata/v1/instance/service-accounts/default/token"
        reply = cast("Transport", request)(f"{self._address}/{path}", headers=_METADATA_HEADERS)
        if reply.status != 200:
            raise exceptions.RefreshError(phrase("The machine has no account (HTTP {status}).", status=reply.status))
        try:
            granted = json.loads(reply.data)
            self.token, self._expires = str(granted["access_token"]), time.monotonic() + float(granted["expires_in"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise exceptions.RefreshError(phrase("The machine gave something that is no token.")) from None


def _nobody(why: str) -> ModelFailure:
    return ModelFailure(joined(" ", (changed(why, safe_text), _ADVICE)), FailureKind.NO_KEY)
