"""Requests to the template process, and the messages that come back over the channel of a child."""

import marshal
from typing import Any, cast

from tejat.batch.job import TaskJob, job_from_json, job_to_json
from tejat.core.frozen import Frozen
from tejat.core.json_text import dump_json, load_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.str_enum import StrEnum

CHILD_DESCRIPTORS = 3
"""Descriptors that come with a request: the channel, standard output and standard error."""
LENGTH_BYTES = 4
"""Size of the length prefix of a request. Orders of one byte each follow the request."""
TERMINATE, KILL = b"t", b"k"
"""Orders: send the signal to the process group of the child."""
STARTED, ENDED, FAILED = "started", "ended", "failed"
"""Messages of the template: the pid; the wait status; the number of an error of the system."""
ACTIVITY, CHECKED = "activity", "checked"
"""Messages of a child: a line and the tokens so far; how the check ended."""


class ChildWork(StrEnum):
    """What a child does."""

    RUN = "run"
    CHECK = "check"


class ChildRequest(Frozen):
    """A child to start for a job. `mirror` is the repository that the tree has its objects from."""

    work: ChildWork
    job: TaskJob
    mirror: str


def encode_request(request: ChildRequest) -> bytes:
    """Encode a request with its length."""
    # Not as JSON: paths may have bytes that are no text.
    body = marshal.dumps(cast("Any", (request.work.value, job_to_json(request.job), request.mirror)))
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def decode_request(inbox: bytearray) -> ChildRequest | None:
    """Take the request out of what was received, None if it is not complete."""
    size = int.from_bytes(inbox[:LENGTH_BYTES], "big")
    if len(inbox) < LENGTH_BYTES or len(inbox) < LENGTH_BYTES + size:
        return None
    work, job, mirror = marshal.loads(inbox[LENGTH_BYTES : LENGTH_BYTES + size])
    del inbox[: LENGTH_BYTES + size]
    return ChildRequest(ChildWork(work), job_from_json(job), mirror)


def encode_message(kind: str, fields: JsonObject) -> bytes:
    """Encode a message as one line."""
    return dump_json({"kind": kind, **fields}).encode() + b"\n"


def decode_message(line: bytes) -> dict[str, JsonValue]:
    """Decode a line. Raises InvalidJson or TypeError."""
    found = load_json(line)
    if not isinstance(found, dict):
        raise TypeError(type(found))
    return cast("dict[str, JsonValue]", found)
