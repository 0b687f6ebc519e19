"""Gemini models on Vertex AI, by application default credentials or by a key of its express mode."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from tejat.core.errors import UsageError
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.words import phrase
from tejat.models import ModelOptions
from tejat.models.address import base_address, read_key
from tejat.models.gemini import Gemini, api_version
from tejat.workspace.http.background import in_background, result_of

if TYPE_CHECKING:
    from tejat.models.vertex_credentials import Credentials

_USUAL_LOCATION = "global"
_PLACE = re.compile(r"[a-z0-9][a-z0-9.:-]{0,99}")


class _Identity(Protocol):
    async def headers(self) -> Mapping[str, str]: ...

    @property
    def secrets(self) -> Sequence[str]: ...


def open_vertex(model: str, options: ModelOptions) -> Gemini:
    """A model in the project `GOOGLE_CLOUD_PROJECT`, or by `GOOGLE_API_KEY` alone where no project is named.

    Raises ModelFailure when there is neither, and UsageError for a project, location or address that can be none and
    where google-auth is not installed.
    """
    project = options.environment.get("GOOGLE_CLOUD_PROJECT", "").strip()
    location = options.environment.get("GOOGLE_CLOUD_LOCATION", "").strip() or _USUAL_LOCATION
    for place in (project or _USUAL_LOCATION, location):
        if not _PLACE.fullmatch(place):
            raise UsageError(phrase("GOOGLE_CLOUD_PROJECT or GOOGLE_CLOUD_LOCATION holds characters that no name has."))
    resource = model if "/" in model else f"publishers/google/models/{model}"
    identity, within = _identity(options, project)
    base = base_address(options, variable="GOOGLE_VERTEX_BASE_URL", usual=_usual_address(location), has_key=True)
    root = f"{base}/{api_version(options, usual='v1beta1')}"
    where = f"projects/{project}/locations/{location}/{resource}" if within else resource
    return Gemini(model, _VertexEndpoint(f"{root}/{quote(where, safe='/:')}", identity), options)


def _identity(options: ModelOptions, project: str) -> "tuple[_Identity, bool]":
    """Who asks, and whether from within a project."""
    key = read_key(options, "GOOGLE_API_KEY")
    if not project and key:
        return _KeyHolder(key), False
    if not project:
        raise ModelFailure(
            phrase(
                "Vertex AI needs a project: set GOOGLE_CLOUD_PROJECT and run `gcloud auth application-default "
                "login`, or set GOOGLE_API_KEY to a key of its express mode."
            ),
            FailureKind.NO_KEY,
        )
    if not _is_installed():
        raise UsageError(phrase("Vertex AI by project needs the package google-auth: pip install 'tejat[vertex]'"))
    return _Account(options.environment), True


def _is_installed() -> bool:
    try:
        return find_spec("google.auth") is not None
    except ModuleNotFoundError:
        return False


def _usual_address(location: str) -> str:
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in {"us", "eu"}:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


class _VertexEndpoint:
    def __init__(self, model_address: str, identity: _Identity) -> None:
        self._model_address = model_address
        self._identity = identity

    def address(self, method: str) -> str:
        return f"{self._model_address}:{method}"

    async def headers(self) -> Mapping[str, str]:
        return await self._identity.headers()

    @property
    def secrets(self) -> Sequence[str]:
        return self._identity.secrets

    def count_request(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        return (b'{"contents":[', contents, b"]", rest, b"}")


class _KeyHolder:
    def __init__(self, key: str) -> None:
        self._key = key

    async def headers(self) -> Mapping[str, str]:
        return {"x-goog-api-key": self._key}

    @property
    def secrets(self) -> Sequence[str]:
        return (self._key,)


class _Account:
    """Application default credentials, loaded when they are first wanted and refreshed when they have run out."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._credentials: Credentials | None = None
        self._one_at_a_time = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        credentials = await self._current()
        paying = self._environment.get("GOOGLE_CLOUD_QUOTA_PROJECT") or credentials.quota_project_id
        who_pays = {"x-goog-user-project": paying} if paying else {}
        return {"authorization": f"Bearer {credentials.token}", **who_pays}

    async def _current(self) -> "Credentials":
        async with self._one_at_a_time:
            if self._credentials is not None and self._credentials.valid:
                return self._credentials
            self._credentials = ready = await result_of(in_background(self._ready))
            return ready

    def _ready(self) -> "Credentials":
        # Loading it takes longer than all the rest of the program.
        from tejat.models.vertex_credentials import load_credentials, refresh_credentials

        credentials = self._credentials or load_credentials(self._environment)
        refresh_credentials(credentials, self._environment)
        return credentials

    @property
    def secrets(self) -> Sequence[str]:
        token = None if self._credentials is None else self._credentials.token
        return (token,) if token else ()
