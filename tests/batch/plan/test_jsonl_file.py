"""JSONL: a wrong line is rejected, the others go on, and a large file is never in memory."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.batch.plan.jsonl_file import read_jsonl
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError


def read(path: Path, content: bytes | str) -> list[TaskRecord | RejectedTask]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_jsonl(str(path)))


def test_records(tmp_path: Path) -> None:
    found = read(tmp_path / "t.jsonl", '\ufeff{"id": "a"}\n\n  \t\r\n{"id": "b", "vars": {"x": [1]}}')
    assert found == [
        TaskRecord({"id": "a"}, "line-1", "t.jsonl:1"),
        TaskRecord({"id": "b", "vars": {"x": [1]}}, "line-4", "t.jsonl:4"),
    ]


OBJECT = 'A task must be an object such as {"id": "a", "repo": "path", "prompt": "text"}, not '


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", OBJECT + "[1]."),
        ('"a"', OBJECT + '"a".'),
        ("null", OBJECT + "null."),
        ("{", "Invalid JSON: Expecting property name enclosed in double quotes at column 2."),
        ('{"a": 1} {"b": 2}', "Invalid JSON: Extra data at column 10."),
        ('{"timeout": NaN}', "Invalid JSON: NaN is not a JSON number."),
        ('{"timeout": -Infinity}', "Invalid JSON: -Infinity is not a JSON number."),
        ('{"timeout": 1e999}', "Invalid JSON: 1e999 is too large a number."),
        ('{"id": "a", "id": "b"}', 'Invalid JSON: the key "id" occurs twice.'),
        ('{"vars": {"x": 1, "y": 2, "x": 1}}', 'Invalid JSON: the key "x" occurs twice.'),
        ("[" * 100_000, "Invalid JSON: nested too deeply."),
        ('{"n": ' + "9" * 5_000 + "}", "Invalid JSON: a number in it has too many digits."),
        (b'{"id": "\xff"}', "The line is not UTF-8: invalid byte 9."),
        (b"\x00{\x00}\x00", "Invalid JSON: Expecting value at column 1."),
        (b'{"id": "' + b"x" * MAX_TEXT_BYTES + b'"}', "The line is longer than 8 MB."),
    ],
)
def test_a_wrong_line_is_rejected_and_the_others_go_on(tmp_path: Path, line: bytes | str, message: str) -> None:
    raw = line.encode() if isinstance(line, str) else line
    first, wrong, last = read(tmp_path / "t.jsonl", b'{"id": "a"}\n' + raw + b'\n{"id": "b"}\n')
    assert first == TaskRecord({"id": "a"}, "line-1", "t.jsonl:1")
    assert wrong == RejectedTask("line-2", TaskFailure.INPUT, message, "t.jsonl:2")
    assert last == TaskRecord({"id": "b"}, "line-3", "t.jsonl:3")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Could not read"):
        list(read_jsonl(str(tmp_path / "none")))


@given(st.binary(max_size=200))
def test_any_bytes_are_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return  # UTF-16 is refused as a whole
    found = read(tmp_path_factory.getbasetemp() / "any.jsonl", content)
    assert len(found) <= content.count(b"\n") + 1


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = json.dumps({"id": "a", "repo": "r", "prompt": "x" * 1_000}) + "\n"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(100):
            file.write(line * 1_000)
    tracemalloc.start()
    try:
        count = sum(isinstance(each, TaskRecord) for each in read_jsonl(str(path)))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, peak < 2**20) == (100_000, True), peak
