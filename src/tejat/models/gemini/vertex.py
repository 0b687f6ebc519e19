"""Gemini models on Vertex AI, with application default credentials or an express-mode key."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelFailure
from tejat.models import ModelOptions
from tejat.models.base_url import read_api_key, resolve_base_url
from tejat.models.gemini.client import ApiKeyAuth, GeminiClient, api_version
from tejat.models.gemini.headers import uses_bearer
from tejat.workspace.threads.daemon import run_in_daemon

if TYPE_CHECKING:
    from tejat.models.gemini.vertex_credentials import GoogleCredentials

PROJECT_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID")
_DEFAULT_LOCATION = "global"
_PROJECT_OR_LOCATION = re.compile(r"[a-z0-9][a-z0-9.:-]{0,99}")


class _Auth(Protocol):
    async def headers(self) -> Mapping[str, str]: ...

    @property
    def secrets(self) -> Sequence[str]: ...


def open_vertex(model: str, options: ModelOptions) -> GeminiClient:
    """Create a client for the project in one of `PROJECT_VARIABLES`, or with `GOOGLE_API_KEY` if there is none.

    Raises ModelFailure without either, and UsageError for an invalid project, location or URL, and without google-auth.
    """
    named = (options.environment.get(name, "").strip() for name in PROJECT_VARIABLES)
    project = next(filter(None, named), "")
    location = options.environment.get("GOOGLE_CLOUD_LOCATION", "").strip() or _DEFAULT_LOCATION
    for place in (project or _DEFAULT_LOCATION, location):
        if not _PROJECT_OR_LOCATION.fullmatch(place):
            raise UsageError(lazy("GOOGLE_CLOUD_PROJECT or GOOGLE_CLOUD_LOCATION contains invalid characters."))
    resource = model if "/" in model else f"publishers/google/models/{model}"
    identity, within = _create_auth(options, project)
    base = resolve_base_url(
        options, variable="GOOGLE_VERTEX_BASE_URL", default=_default_base_url(location), has_key=True
    )
    root = f"{base}/{api_version(options, default='v1beta1')}"
    where = f"projects/{project}/locations/{location}/{resource}" if within else resource
    endpoint = _VertexEndpoint(f"{root}/{quote(where, safe='/:')}", identity, options.vertex_headers)
    return GeminiClient(model, endpoint, options)


def _create_auth(options: ModelOptions, project: str) -> "tuple[_Auth, bool]":
    """Return the authentication, and whether it belongs to a project."""
    key = read_api_key(options, "GOOGLE_API_KEY")
    if not project and key:
        return ApiKeyAuth(key, is_bearer=uses_bearer(options.environment)), False
    if not project:
        message = lazy(
            "Vertex AI needs a project. Set GOOGLE_CLOUD_PROJECT and run `gcloud auth "
            "application-default login`, or set GOOGLE_API_KEY to an express mode key."
        )
        raise ModelFailure(message, FailureKind.NO_KEY)
    if not _has_google_auth():
        raise UsageError(lazy("Vertex AI with a project needs the google-auth package: pip install 'tejat[vertex]'"))
    return _DefaultCredentialsAuth(options.environment), True


def _has_google_auth() -> bool:
    try:
        return find_spec("google.auth") is not None
    except ModuleNotFoundError:
        return False


def _default_base_url(location: str) -> str:
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in {"us", "eu"}:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


class _VertexEndpoint:
    def __init__(self, model_address: str, identity: _Auth, headers: Mapping[str, str]) -> None:
        self._model_url = model_address
        self._auth = identity
        self._headers = headers

    def url(self, method: str) -> str:
        return f"{self._model_url}:{method}"

    async def headers(self) -> Mapping[str, str]:
        return {**self._headers, **await self._auth.headers()}

    @property
    def secrets(self) -> Sequence[str]:
        return self._auth.secrets

    def count_tokens_body(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        return (b'{"contents":[', contents, b"]", rest, b"}")


class _DefaultCredentialsAuth:
    """Application default credentials, loaded on first use and refreshed when expired."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._credentials: GoogleCredentials | None = None
        self._lock = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        credentials = await self._valid_credentials()
        paying = self._environment.get("GOOGLE_CLOUD_QUOTA_PROJECT") or credentials.quota_project_id
        who_pays = {"x-goog-user-project": paying} if paying else {}
        return {"authorization": f"Bearer {credentials.token}", **who_pays}

    async def _valid_credentials(self) -> "GoogleCredentials":
        async with self._lock:
            if self._credentials is not None and self._credentials.valid:
                return self._credentials
            self._credentials = ready = await run_in_daemon(self._refreshed_credentials)
            return ready

    def _refreshed_credentials(self) -> "GoogleCredentials":
        # Importing it takes longer than importing everything else.
        from tejat.models.gemini.vertex_credentials import load_credentials, refresh_credentials

        credentials = self._credentials or load_credentials(self._environment)
        refresh_credentials(credentials, self._environment)
        return credentials

    @property
    def secrets(self) -> Sequence[str]:
        token = None if self._credentials is None else self._credentials.token
        return (token,) if token else ()
