"""Headers of requests to the Gemini API and to Vertex AI besides those that authenticate them."""

import re
from collections.abc import Mapping

from tejat.models.wire.sse_client import AuthHeaders

_CUSTOM_HEADERS_VARIABLE = "GEMINI_CLI_CUSTOM_HEADERS"
_MECHANISM_VARIABLE = "GEMINI_API_KEY_AUTH_MECHANISM"
_NEXT_HEADER = r",(?=\s*[^,:]+:)"


def custom_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers in `GEMINI_CLI_CUSTOM_HEADERS`, which are `Name: value` with commas between them.

    A comma that no name follows belongs to the value. The values may be secrets.
    """
    given = environment.get(_CUSTOM_HEADERS_VARIABLE)
    if not given:
        return {}
    headers: dict[str, str] = {}
    for entry in re.split(_NEXT_HEADER, given):
        name, colon, value = entry.partition(":")
        if colon and name.strip():
            headers[name.strip()] = value.strip()
    return headers


def uses_bearer(environment: Mapping[str, str]) -> bool:
    """Return whether an API key is sent as a bearer token instead of in a header of its own."""
    return environment.get(_MECHANISM_VARIABLE, "").strip().lower() == "bearer"


def with_headers(authenticate: AuthHeaders, added: Mapping[str, str]) -> AuthHeaders:
    """Return the authentication with more headers. Those of the user replace others of the same name."""
    if not added:
        return authenticate

    async def headers() -> Mapping[str, str]:
        taken = {name.lower() for name in added}
        own = await authenticate()
        return {**{name: value for name, value in own.items() if name.lower() not in taken}, **added}

    return headers
