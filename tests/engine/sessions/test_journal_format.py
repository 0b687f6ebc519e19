"""Records go to one line and come back; whatever else is in a line is refused in one way."""

from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.types import JsonObject
from tejat.engine.sessions.journal_format import (
    MAX_LINE_BYTES,
    RecordKind,
    decode_record,
    decode_records,
    encode_record,
)

TEXTS = st.text(st.characters(), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


class TestToLine:
    def test_a_record(self) -> None:
        line = encode_record({"kind": RecordKind.ENDED, "at": 1.5, "reason": "finished: ü"})
        assert line == '{"v":1,"kind":"ended","at":1.5,"reason":"finished: ü"}\n'.encode()

    def test_bytes_that_are_not_text_come_back(self) -> None:
        line = encode_record({"kind": RecordKind.ENDED, "reason": "caf\udce9 ü"})
        assert line.isascii()
        assert decode_record(line).string("reason") == "caf\udce9 ü"

    def test_any_mapping_and_sequence(self) -> None:
        line = encode_record({"kind": RecordKind.ENDED, "value": MappingProxyType({"a": (1, 2)}), "range": range(2)})
        assert line == b'{"v":1,"kind":"ended","value":{"a":[1,2]},"range":[0,1]}\n'

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), pytest.param(10**5000, id="too many digits")])
    def test_numbers_that_json_does_not_know(self, value: float) -> None:
        with pytest.raises(ValueError, match=r"."):
            encode_record({"kind": RecordKind.ENDED, "value": value})

    def test_endless_nesting(self) -> None:
        deep: list[object] = []
        for _ in range(200_000):
            deep = [deep]
        with pytest.raises(ValueError, match=r"^A record cannot be written as JSON: "):
            encode_record({"kind": RecordKind.ENDED, "value": deep})  # pyright: ignore[reportArgumentType]  # no JSON, on purpose

    def test_bytes_are_no_list_of_numbers(self) -> None:
        with pytest.raises(ValueError, match="a bytes is no JSON value"):
            encode_record({"kind": RecordKind.ENDED, "value": b"x"})

    def test_a_record_longer_than_anybody_reads(self) -> None:
        with pytest.raises(ValueError, match=r"^A record of 128 MiB is too long$"):
            encode_record({"kind": RecordKind.ENDED, "reason": "x" * MAX_LINE_BYTES})

    @settings(max_examples=150, deadline=None)
    @given(st.dictionaries(TEXTS, VALUES, max_size=3))
    def test_whatever_is_in_it_is_one_line_and_comes_back(self, value: JsonObject) -> None:
        line = encode_record({"kind": RecordKind.ENDED, "value": value})
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert decode_record(line).object("value") == value


class TestFromLine:
    def test_kinds_and_versions_that_come_later(self) -> None:
        record = decode_record(b'{"v":7,"kind":"dreamt","of":"sheep"}\n')
        assert (record.integer("v"), record.string("kind"), record.string("of")) == (7, "dreamt", "sheep")

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"\n",
            b"\x00" * 100,
            b"\xff\xfe",
            b"garbage",
            b"[]",
            b"null",
            b'"prompt"',
            b'{"v":1}',
            b'{"kind":"prompt"}',
            b'{"v":"1","kind":"prompt"}',
            b'{"v":true,"kind":"prompt"}',
            b'{"v":1,"kind":3}',
            b'{"v":1,"kind":"prompt"',
            b'{"v":1,"kind":"prompt"}{"v":1,"kind":"prompt"}',
            b"[" * 100_000,
            b'{"v":1,"kind":"x","n":' + b"9" * 10_000 + b"}",
        ],
    )
    def test_what_is_no_record(self, line: bytes) -> None:
        with pytest.raises(ValueError, match=r"."):
            decode_record(line)


class TestManyLines:
    @settings(max_examples=60)
    @given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=6), st.data())
    def test_together_they_are_read_as_one_by_one(self, values: list[JsonObject], data: st.DataObject) -> None:
        lines = [encode_record({**value, "kind": RecordKind.ENDED}) for value in values]
        for index in data.draw(st.sets(st.integers(0, len(lines) - 1))) if lines else ():
            cut = data.draw(st.integers(0, len(lines[index])))
            lines[index] = data.draw(st.sampled_from([lines[index][:cut], lines[index][:cut] + b"\n", b"\n", b"[]\n"]))
        assert [record is not None for record in decode_records(lines)] == [is_record(line) for line in lines]

    def test_two_records_in_a_line_are_none(self) -> None:
        line = encode_record({"kind": RecordKind.ENDED})
        assert decode_records([line.strip() + b"," + line, line])[0] is None
        assert decode_records([b"", line.strip() + b"," + line])[1] is None


def is_record(line: bytes) -> bool:
    try:
        decode_record(line)
    except ValueError:
        return False
    return True
