"""Bodies of requests: JSON of the page, and files."""

from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.json_fields import JsonFields
from tejat.workspace.http.server import HttpError, ServerRequest

MAX_JSON_BYTES = 4 * 2**20
_MAX_CONTAINERS = 10_000


async def read_json(request: ServerRequest) -> JsonFields:
    """The object in the body. Raises HttpError.

    The type of the content must be JSON: no form of another page can send that.
    """
    _check_type(request, "application/json")
    _check_length(request)
    body = await request.read()
    if len(body) > MAX_JSON_BYTES:
        raise HttpError(413, "The request is too large.")
    try:
        return JsonFields(load_json(body, max_containers=_MAX_CONTAINERS))
    except (InvalidJson, ValueError) as error:
        raise HttpError(400, f"The body is not a JSON object: {error}.") from None


async def read_file(request: ServerRequest) -> bytes:
    """The content of an uploaded file. Raises HttpError."""
    _check_type(request, "application/octet-stream")
    return await request.read()


def _check_type(request: ServerRequest, wanted: str) -> None:
    given = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if given != wanted:
        raise HttpError(415, f"The body must be {wanted}.")


def _check_length(request: ServerRequest) -> None:
    """Refuse a long body before it is read."""
    length = request.headers.get("content-length") or "0"
    if length.isdecimal() and int(length[:16]) > MAX_JSON_BYTES:
        raise HttpError(413, "The request is too large.")
