"""Files downloaded over https, with redirects followed by hand."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from urllib.parse import urljoin

from tejat.core.i18n import lazy
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.limits import MAX_PACKED_BYTES
from tejat.workspace.downloads.tree import write_all
from tejat.workspace.files.private_files import create_private_file
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits, HttpResponse
from tejat.workspace.http.url import parse_url

MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIMITS = HttpLimits(connect=30.0, first_byte=60.0, idle=120.0, total=None)
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class HttpStatusError(DownloadFailure):
    """A server answered with an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@asynccontextmanager
async def open_url(
    http: HttpClient,
    url: str,
    *,
    headers: Mapping[str, str] = _NO_HEADERS,
    secret_headers: Mapping[str, str] = _NO_HEADERS,
) -> AsyncGenerator[HttpResponse]:
    """The successful response to a GET request, after at most ten redirects, all of them https.

    `secret_headers` are sent to the server of `url` only, and no longer once a redirect led to another one. Raises
    DownloadFailure, with HttpStatusError for an error of the server, also while the body is read.
    """
    try:
        first = parse_url(url)[0]
        is_at_home = True
        for _hop in range(MAX_REDIRECTS + 1):
            origin = parse_url(url)[0]
            if not origin.is_secure:
                raise DownloadFailure(lazy("{host} redirects to http, which is not encrypted.", host=first.host))
            is_at_home = is_at_home and origin == first
            sent = {**headers, **(secret_headers if is_at_home else {})}
            async with http.request("GET", url, headers=sent, limits=_LIMITS) as response:
                location = response.headers.get("Location")
                if response.status in _REDIRECTS and location is not None:
                    url = urljoin(url, location)
                    continue
                if response.status != 200:
                    message = lazy("{host} answered with HTTP {status}.", host=origin.host, status=response.status)
                    raise HttpStatusError(message, response.status)
                yield response
                return
        raise DownloadFailure(lazy("{host} redirects more than {limit} times.", host=first.host, limit=MAX_REDIRECTS))
    except HttpFailure as failure:
        raise DownloadFailure(failure.message) from failure


async def download_file(
    http: HttpClient,
    url: str,
    path: str,
    *,
    headers: Mapping[str, str] = _NO_HEADERS,
    secret_headers: Mapping[str, str] = _NO_HEADERS,
    report_progress: Callable[[str], None] | None = None,
) -> None:
    """Download a URL to a new file. Raises DownloadFailure and OSError."""
    name = os.path.basename(path)
    async with open_url(http, url, headers=headers, secret_headers=secret_headers) as response:
        size = 0
        descriptor = create_private_file(path)
        try:
            async for piece in response:
                size += len(piece)
                if size > MAX_PACKED_BYTES:
                    limit = MAX_PACKED_BYTES // (1024 * 1024)
                    raise DownloadFailure(lazy("{name} is larger than {limit} MiB.", name=name, limit=limit))
                write_all(descriptor, piece)
                if report_progress is not None:
                    report_progress(f"{name}: {size / (1024 * 1024):.1f} MiB")
        finally:
            os.close(descriptor)
