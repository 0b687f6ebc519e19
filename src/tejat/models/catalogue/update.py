"""Update of the catalogue from a file or an address."""

import os
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonObject
from tejat.models.catalogue.catalogue_file import MAX_CATALOGUE_BYTES, Catalogue, load_catalogue
from tejat.models.catalogue.entries import ModelTable
from tejat.models.catalogue.genai_prices import read_models
from tejat.models.wire.json_access import as_list, as_object
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits

PUBLISHED_URL = "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json"
"""Where the genai-prices project publishes its data."""
_LIMITS = HttpLimits(connect=10.0, first_byte=20.0, idle=20.0, total=60.0, body=MAX_CATALOGUE_BYTES)
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


async def update_catalogue(source: str, path: str, *, day: str, environment: Mapping[str, str]) -> Catalogue:
    """Read the catalogue from a file or an https address and store it at `path`. Returns the new catalogue.

    It may be the published data of genai-prices or a catalogue of this program. Nothing changes if it cannot be read.
    Raises UsageError.
    """
    is_address = "://" in source
    data = await _download(source, environment) if is_address else _read_file(source)
    try:
        content = load_json(data)
    except InvalidJson as error:
        raise UsageError(_("{source} is not JSON: {why}", source=source, why=error)) from error
    models = _read_models(content, source)
    updated = {"date": day, "sources": {os.path.basename(urlsplit(source).path) or source: ""}, "models": models}
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_private_file(path, dump_json(cast("JsonObject", updated)))
    except OSError as error:
        raise UsageError(_("Could not write {path}: {why}.", path=path, why=error.strerror or error)) from error
    load_catalogue.cache_clear()
    return Catalogue(updated, path)


def _read_models(content: object, source: str) -> list[object]:
    """Raises UsageError for data without models or prices."""
    own = as_object(content).get("models")
    models: list[object] = [*as_list(own)] if own is not None else [*read_models(content)]
    priced = sum(bool(entry.id and entry.prices) for entry in ModelTable(models))
    if not priced:
        raise UsageError(_("{source} lists no models with prices.", source=source))
    return models


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_CATALOGUE_BYTES + 1)
    except OSError as error:
        raise UsageError(_("Could not read {path}: {why}.", path=path, why=error.strerror or error)) from error
    if len(data) > MAX_CATALOGUE_BYTES:
        raise UsageError(_too_large(path))
    return data


async def _download(address: str, environment: Mapping[str, str]) -> bytes:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS):
        raise UsageError(_("{address} is not an https address.", address=address))
    http = HttpClient(environment=environment, limits=_LIMITS)
    try:
        async with http.request("GET", address) as response:
            if response.status != 200:
                raise UsageError(_("{address} returned HTTP {status}.", address=address, status=response.status))
            return await response.read(MAX_CATALOGUE_BYTES)
    except HttpFailure as failure:
        if failure.kind is HttpFailureKind.TOO_LARGE:
            raise UsageError(_too_large(address)) from failure
        raise UsageError(failure.message) from failure
    finally:
        await http.close()


def _too_large(source: str) -> str:
    limit = MAX_CATALOGUE_BYTES // 10**6
    return _("{source} is larger than {limit} MB, too large for a catalogue.", source=source, limit=limit)
