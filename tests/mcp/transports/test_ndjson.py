"""Messages come out of a stream however it is cut, and nothing in it ends the reading."""

import json
import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.mcp.protocol import (
    MAX_CONTAINERS,
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
)
from tejat.mcp.transports.ndjson import (
    MAX_LINE_BYTES,
    DecodedLine,
    EndlessLine,
    InvalidLine,
    NdjsonDecoder,
    UnencodableMessage,
    encode_message,
)

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def read(data: bytes, *, max_bytes: int = MAX_LINE_BYTES) -> list[DecodedLine]:
    framer = NdjsonDecoder(max_bytes=max_bytes)
    return [*framer.feed(data), *framer.end()]


def the_only(received: list[DecodedLine]) -> InvalidLine:
    (item,) = received
    assert isinstance(item, InvalidLine)
    return item


class TestLines:
    @pytest.mark.parametrize(
        ("data", "received"),
        [
            (b"", []),
            (PING, [JsonRpcRequest(1, "ping")]),
            (PING * 2, [JsonRpcRequest(1, "ping")] * 2),
            (PING.replace(b"\n", b"\r\n") * 2, [JsonRpcRequest(1, "ping")] * 2),
            (b"\n\r\n  \n" + PING + b"\n", [JsonRpcRequest(1, "ping")]),
            (b"  " + PING.strip() + b"\t\n", [JsonRpcRequest(1, "ping")]),
            (b"\xef\xbb\xbf" + PING, [JsonRpcRequest(1, "ping")]),
            (PING.strip(), [JsonRpcRequest(1, "ping")]),
            (b'{"id":"a","result":{"x":1}}\n', [JsonRpcResponse("a", {"x": 1})]),
            (b'{"method":"m","params":{}}\n', [JsonRpcNotification("m", {})]),
            (b'{"id":1,"error":{"code":-1,"message":"no"}}\n', [JsonRpcError(1, -1, "no")]),
            (b'[{"id":1,"result":{}},{"method":"m"}]\n', [JsonRpcResponse(1, {}), JsonRpcNotification("m")]),
        ],
    )
    def test_messages(self, data: bytes, received: list[DecodedLine]) -> None:
        assert read(data) == received

    def test_half_a_message_waits_for_the_other_half(self) -> None:
        framer = NdjsonDecoder()
        assert [framer.feed(PING[:20]), framer.feed(PING[20:-1]), framer.feed(b"\n"), framer.end()] == [
            [],
            [],
            [JsonRpcRequest(1, "ping")],
            [],
        ]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"Server is listening", "not JSON: Expecting value at line 1, column 1"),
            (b'{"id":1', "not JSON: Expecting ',' delimiter at line 1, column 8"),
            (b'{"text":"\xff"}', "not UTF-8: invalid byte 10"),
            (b'{"text":"\xed\xa0\x80"}', "not UTF-8: invalid byte 10"),
            (b'{"x":NaN}', "not JSON: NaN is not a JSON number"),
            (b"[" * 100_000, "not JSON: nested too deeply"),
            (b"9" * 100_000, "not JSON: "),
            (b"7", "a message must be a JSON object"),
            (b"{}", "not a request, notification or response"),
            (b"[]", "a batch must have 1 to 1,000 messages, not 0"),
            (b"[" + b"0," * 1000 + b"0]", "a batch must have 1 to 1,000 messages, not 1,001"),
        ],
    )
    def test_what_is_no_message_is_told_and_the_next_one_read(self, line: bytes, reason: str) -> None:
        item, *others = read(line + b"\n" + PING)
        assert isinstance(item, InvalidLine)
        assert item.reason.startswith(reason)
        assert (item.is_too_long, item.answer_to, item.request_id) == (False, None, None)
        assert item.start == line[:200].decode(errors="replace")
        assert others == [JsonRpcRequest(1, "ping")]

    def test_an_item_of_a_batch_that_is_no_message(self) -> None:
        line = b'[{"id":1,"result":{}},5,{"id":2,"result":3},{"id":3,"method":"m","params":[]}]'
        neither = "not a request, notification or response"
        assert read(line) == [
            JsonRpcResponse(1, {}),
            InvalidLine("a message must be a JSON object", start=line.decode()),
            InvalidLine(neither, answer_to=2, start=line.decode()),
            InvalidLine("the params of a message must be an object", request_id=3, start=line.decode()),
        ]


class TestLength:
    def test_a_line_of_the_limit_is_read_and_one_byte_more_is_not(self) -> None:
        line = PING.strip()
        assert read(line + b"\n" + PING, max_bytes=len(line)) == [JsonRpcRequest(1, "ping")] * 2
        assert (
            read(line + b"\n" + PING, max_bytes=len(line) - 1)
            == [InvalidLine(f"longer than {len(line) - 1} bytes", True, None, 1, line.decode())] * 2
        )

    def test_who_does_not_stop_is_not_read_any_more(self) -> None:
        assert read(PING + b"x" * 161 + b"\n" + PING, max_bytes=40) == [JsonRpcRequest(1, "ping"), EndlessLine()]
        framer = NdjsonDecoder(max_bytes=40)
        framer.feed(b"x" * 160)
        assert framer.feed(b"x") == [EndlessLine()]
        assert [framer.feed(PING), framer.end()] == [[], []]

    def test_little_is_kept_of_a_line_that_is_too_long(self) -> None:
        framer = NdjsonDecoder()
        piece = b"x" * 65_536
        tracemalloc.start()
        framer.feed(b'{"jsonrpc":"2.0","id":7,"result":{"text":"')
        for _ in range(1000):
            assert framer.feed(piece) == []
        _, peak = tracemalloc.get_traced_memory()
        framer.feed(piece)
        now, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        item = the_only(framer.feed(b'"}}\n'))
        assert (item.reason, item.is_too_long, item.answer_to) == ("longer than 16,777,216 bytes", True, 7)
        assert peak < 2 * MAX_LINE_BYTES
        assert now < 200_000
        assert framer.feed(PING) == [JsonRpcRequest(1, "ping")]

    def test_more_objects_than_memory_should_hold(self) -> None:
        inner = b"[" + b"{}," * MAX_CONTAINERS + b"0]"
        item = the_only(read(b'{"jsonrpc":"2.0","id":7,"result":{"x":' + inner + b"}}\n"))
        assert (item.reason, item.answer_to) == (
            "not JSON: it has more than 1,000,000 objects and lists in it",
            7,
        )

    def test_a_long_line_in_small_pieces_takes_no_longer_than_a_few_short_ones(self) -> None:
        line = b'{"id":1,"result":{"text":"' + b"x" * (15 << 20) + b'"}}\n'
        framer = NdjsonDecoder()
        began = time.process_time()
        received = [item for at in range(0, len(line), 1024) for item in framer.feed(line[at : at + 1024])]
        assert time.process_time() - began < 5
        assert received == [JsonRpcResponse(1, {"text": "x" * (15 << 20)})]


WHOM = [
    (b'{"jsonrpc":"2.0","id":7,"result":{%s}}', 7, None),
    (b'{"jsonrpc": "2.0", "id": "a\\"b", "result": {%s}}', 'a"b', None),
    (b'{"id":-7,"jsonrpc":"2.0","error":{%s}}', -7, None),
    (b'{"result":{%s},"jsonrpc":"2.0","id":7}', 7, None),
    (b'{ "result" : {%s} , "id" : 7 , "jsonrpc" : "2.0" }\r', 7, None),
    (b'{"jsonrpc":"2.0","id":7,"result":"%s"}', 7, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{%s}}', None, 7),
    (b'{"method":"m","params":{%s},"jsonrpc":"2.0","id":7}', None, 7),
    # Ids that say nothing, or belong to something else.
    (b'{"jsonrpc":"2.0","id":true,"result":{%s}}', None, None),
    (b'{"jsonrpc":"2.0","id":1e3,"result":{%s}}', None, None),
    (b'{"jsonrpc":"2.0","id":%s}', None, None),
    (b'{"jsonrpc":"2.0","id":7,"result":{%s},"id":8}', None, None),
    (b'{"jsonrpc":"2.0","method":"m","params":{%s}}', None, None),
    (b'{"result":{%s,"id":7}}', None, None),
    (b'{"result":{%s},"id":7}', None, None),
    (b'{"result":"%s,\\"jsonrpc\\":\\"2.0\\",\\"id\\":7}"}', None, None),
    (b'{"result":{"id":7,%s}}', None, None),
    (b'[{"jsonrpc":"2.0","id":7,"result":{%s}}]', None, None),
    (b'log: {"jsonrpc":"2.0","id":7,"result":{%s}}', None, None),
    (b'"jsonrpc":"2.0","id":7,"result":{%s}}', None, None),
    (b"%s", None, None),
]


class TestWhomItWasMeantFor:
    @pytest.mark.parametrize(("line", "answer_to", "request_id"), WHOM)
    @pytest.mark.parametrize("filling", [b"\xff", b"\xff" * 2000], ids=["short", "long"])
    def test_not_utf8(
        self, line: bytes, filling: bytes, answer_to: RequestId | None, request_id: RequestId | None
    ) -> None:
        item = the_only(read(line % (b'"":"' + filling + b'"')))
        assert "not UTF-8" in item.reason
        assert (item.answer_to, item.request_id) == (answer_to, request_id)

    @pytest.mark.parametrize(("line", "answer_to", "request_id"), WHOM)
    def test_too_long(self, line: bytes, answer_to: RequestId | None, request_id: RequestId | None) -> None:
        whole = line % (b'"":"' + b"x" * 2000 + b'"')
        for size in (1, 100, 511, 512, 513, 1999, 2000):
            framer = NdjsonDecoder(max_bytes=1000)
            pieces = [framer.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
            item = the_only(sum(pieces, start=framer.feed(b"\n")))
            assert (item.is_too_long, item.answer_to, item.request_id) == (True, answer_to, request_id)

    @pytest.mark.parametrize(
        ("line", "answer_to"),
        [
            (b'{"jsonrpc":"2.0","id":7,"result":' + b"[" * 100_000, 7),
            (b'{"result":' + b"[" * 100_000 + b"]" * 100_000 + b',"jsonrpc":"2.0","id":7}', 7),
            # The end is missing: what it ends with now may be a part of the result.
            (b'{"jsonrpc":"2.0","result":{"item":{"x":1,"id":7}', None),
            (b'{"jsonrpc":"2.0","id":3,"result":{"item":{"x":1,"id":7}', 3),
        ],
    )
    def test_broken(self, line: bytes, answer_to: int | None) -> None:
        assert the_only(read(line)).answer_to == answer_to

    def test_the_end_counts_without_its_revision_where_the_line_is_whole(self) -> None:
        line = b'{"jsonrpc":"2.0","result":{"text":"' + b"x" * 2000 + b'"},"id":7}'
        assert the_only(read(line, max_bytes=1000)).answer_to == 7

    @given(st.binary(max_size=600), st.binary(max_size=600))
    def test_nothing_raises(self, head: bytes, tail: bytes) -> None:
        for line in (head + tail, b'{"jsonrpc":"2.0","id":' + head, tail + b',"jsonrpc":"2.0","id":7}'):
            read(line)
            read(line, max_bytes=10)


texts = st.text(max_size=8)
ids = st.one_of(st.integers(-(2**60), 2**60), texts)
objects = st.dictionaries(texts, st.recursive(st.one_of(st.none(), st.integers(), texts), st.lists, max_leaves=4))
messages: st.SearchStrategy[JsonRpcMessage] = st.one_of(
    st.builds(JsonRpcRequest, ids, texts, st.one_of(st.none(), objects)),
    st.builds(JsonRpcNotification, texts, st.one_of(st.none(), objects)),
    st.builds(JsonRpcResponse, ids, objects),
    st.builds(JsonRpcError, st.one_of(st.none(), ids), st.integers(), texts, texts),
)
lines = st.one_of(
    messages.map(encode_message),
    st.lists(messages, min_size=1, max_size=3).map(
        lambda batch: b"[" + b",".join(encode_message(message).strip(b"\n") for message in batch) + b"]\r\n"
    ),
    st.binary(max_size=40).map(lambda data: data + b"\n"),
    st.integers(0, 400).map(lambda size: b"x" * size + b"\n"),
)


class TestAnyStream:
    @given(st.lists(lines, max_size=6).map(b"".join), st.lists(st.integers(0, 2000), max_size=8), st.data())
    def test_how_it_is_cut_makes_no_difference(self, stream: bytes, cuts: list[int], data: st.DataObject) -> None:
        max_bytes = data.draw(st.sampled_from([8, 60, 10_000]))
        framer = NdjsonDecoder(max_bytes=max_bytes)
        received: list[DecodedLine] = []
        ends = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
        for begin, end in pairwise(ends):
            received += framer.feed(stream[begin:end])
        assert [*received, *framer.end()] == read(stream, max_bytes=max_bytes)

    @given(st.lists(messages, max_size=5))
    def test_what_was_written_is_read(self, sent: list[JsonRpcMessage]) -> None:
        assert read(b"".join(map(encode_message, sent))) == sent


class TestEncoding:
    def test_one_line(self) -> None:
        assert encode_message(JsonRpcRequest(1, "m", {"text": "a\nb\u2028\ud800é"})) == (
            '{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"a\\nb\\u2028\ufffdé"}}\n'.encode()
        )

    def test_a_line_that_would_be_too_long(self) -> None:
        size = len(encode_message(JsonRpcResponse(1, {"text": "x"}))) - 1
        encode_message(JsonRpcResponse(1, {"text": "x"}), max_bytes=size)
        with pytest.raises(UnencodableMessage, match=f"longer than {size} bytes") as caught:
            encode_message(JsonRpcResponse(1, {"text": "xx"}), max_bytes=size)
        assert caught.value.is_too_long

    def test_what_is_not_json(self) -> None:
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        for wrong in (float("nan"), {1, 2}, deep):
            with pytest.raises(UnencodableMessage, match="cannot represent") as caught:
                encode_message(JsonRpcResponse(1, {"x": wrong}))  # pyright: ignore[reportArgumentType]
            assert not caught.value.is_too_long

    def test_others_read_what_we_write(self) -> None:
        assert json.loads(encode_message(JsonRpcError(None, -32700, "what?", {"x": [1]}))) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32700, "message": "what?", "data": {"x": [1]}},
        }
