"""Requests to the template process survive the socket, whatever is in them."""

import pytest

from tejat.batch.job import TaskJob
from tejat.batch.runner.child_request import (
    LENGTH_BYTES,
    ChildRequest,
    ChildWork,
    decode_message,
    decode_request,
    encode_message,
    encode_request,
)
from tejat.batch.task import BatchTask, TaskLimits
from tejat.core.json_text import InvalidJson

TASK = BatchTask("one", "/r\udcff", "grüße", limits=TaskLimits(seconds=1.5), allowed_tools=("a", "b"))
REQUEST = ChildRequest(ChildWork.RUN, TaskJob(TASK, "/out", "abc", rates={"gemini": 60.0}), "/mirror\udcff")


def test_a_request_comes_back_from_any_pieces() -> None:
    data = encode_request(REQUEST)
    inbox = bytearray()
    for at in range(len(data) - 1):
        inbox += data[at : at + 1]
        assert decode_request(inbox) is None
    inbox += data[-1:] + b"t"
    assert decode_request(inbox) == REQUEST
    assert inbox == b"t"


def test_nothing_is_no_request() -> None:
    assert decode_request(bytearray()) is None
    assert decode_request(bytearray(LENGTH_BYTES - 1)) is None


def test_a_message_is_one_line() -> None:
    line = encode_message("activity", {"line": "a\nb\u2028c", "tokens": 3})
    assert line.count(b"\n") == 1
    assert decode_message(line) == {"kind": "activity", "line": "a\nb\u2028c", "tokens": 3}


@pytest.mark.parametrize("line", [b"", b"{", b"[]\n"])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises((InvalidJson, TypeError)):
        decode_message(line)
