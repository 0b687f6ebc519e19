"""Messages of the Agent Client Protocol, checked by the models of its official Python package."""

import json
from typing import cast

from acp import schema
from pydantic import BaseModel, TypeAdapter

from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject

_REQUESTS: dict[str, object] = {
    "session/request_permission": schema.RequestPermissionRequest,
    "elicitation/create": schema.CreateElicitationRequest,
}


def check_update(update: JsonObject) -> JsonObject:
    """The update as the client gets it. Fails if the protocol does not have it."""
    return cast("JsonObject", _check(schema.SessionNotification, {"sessionId": "s", "update": update})["update"])


def check_request(method: str, params: JsonObject) -> JsonObject:
    """The parameters of a request to the client. Fails if the protocol does not have them."""
    return _check(_REQUESTS[method], params)


def _check(model: object, value: JsonObject) -> JsonObject:
    sent: JsonObject = json.loads(dump_json(value).encode())
    parsed: BaseModel = TypeAdapter[BaseModel](model).validate_json(json.dumps(sent), strict=True)  # pyright: ignore[reportArgumentType] -- some models are unions
    # Nothing may be in it that the protocol does not name.
    assert json.loads(parsed.model_dump_json(by_alias=True, exclude_unset=True)) == sent
    return sent
