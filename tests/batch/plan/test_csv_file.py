"""CSV: columns are fields or variables, and a wrong row loses one line only."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.plan.csv_file import read_csv
from tejat.batch.plan.fields import IGNORED_FIELDS, MAX_TEXT_BYTES
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError


def read(path: Path, content: bytes | str) -> list[TaskRecord | RejectedTask]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_csv(str(path)))


def values(found: TaskRecord | RejectedTask) -> dict[str, object]:
    assert isinstance(found, TaskRecord), found
    return dict(found.values)


class TestRows:
    def test_cells_have_the_types_of_their_fields(self, tmp_path: Path) -> None:
        content = (
            "\ufeffid, repo ,timeout,max_tokens,trust,allow_dirty,Issue Title,vars,model\r\n"
            '1,r,60,1000,yes,FALSE,"a ""b"", c","{""x"": 1}",\r\n'
        )
        (found,) = read(tmp_path / "t.csv", content)
        assert found.source == "t.csv:2"
        assert values(found) == {
            "id": "1",
            "repo": "r",
            "timeout": 60.0,
            "max_tokens": 1000.0,
            "trust": True,
            "allow_dirty": False,
            "vars": {"Issue Title": 'a "b", c', "x": 1},
            "model": None,
        }

    def test_what_is_of_another_type_stays_text(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path / "t.csv", "repo,timeout,trust,vars\nr,soon,maybe,{\n")
        assert values(found) == {"repo": "r", "timeout": "soon", "trust": "maybe", "vars": "{"}

    def test_lines_are_those_of_the_file(self, tmp_path: Path) -> None:
        found = read(tmp_path / "t.csv", '\nid,repo,prompt\n\na,r,"one\ntwo\n"\n,,\nb,r,p')
        assert [(each.source, values(each)["id"]) for each in found] == [("t.csv:4", "a"), ("t.csv:8", "b")]
        assert values(found[0])["prompt"] == "one\ntwo\n"

    def test_a_large_cell(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path / "t.csv", f"repo,prompt\nr,{'x' * 1_000_000}\n")
        assert values(found)["prompt"] == "x" * 1_000_000

    def test_rows_of_swe_bench(self, tmp_path: Path) -> None:
        names = ",".join(sorted(IGNORED_FIELDS))
        content = f"instance_id,repo,base_commit,{names}\na,r,b{',secret' * len(IGNORED_FIELDS)}\n"
        (found,) = read(tmp_path / "t.csv", content)
        assert values(found) == {"instance_id": "a", "repo": "r", "base_commit": "b", "vars": {}}


WRONG = {
    "columns": ("b", "The line has 1 column, the header 2."),
    "more columns": ("b,r,x", "The line has 3 columns, the header 2."),
    "quotes": ('b,"r" x', "Invalid CSV: ',' expected after '\"'."),
    "open quote": ('b,"r', "Invalid CSV: unexpected end of data."),
    "carriage return": ("b,r\rc,r", "Invalid CSV: a carriage return outside quotes."),
    "encoding": (b"b,\xff", "The line is not UTF-8: invalid byte 3."),
    "length": (b"b," + b"x" * MAX_TEXT_BYTES, "The line is longer than 8 MB."),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_line_is_rejected_and_the_others_go_on(tmp_path: Path, line: bytes | str, message: str) -> None:
    raw = line.encode() if isinstance(line, str) else line
    first, wrong, third, last = read(tmp_path / "t.csv", b"id,repo\na,r\n" + raw + b"\nc,r\nd,r\n")
    assert wrong == RejectedTask("line-3", TaskFailure.INPUT, message, "t.csv:3")
    assert [(values(each)["id"], each.source) for each in (first, third, last)] == [
        ("a", "t.csv:2"),
        ("c", "t.csv:4"),
        ("d", "t.csv:5"),
    ]


def test_an_open_quote_in_a_large_file_loses_one_line(tmp_path: Path) -> None:
    rows = "".join(f"{number},{'x' * 10_000}\n" for number in range(1_000))
    found = read(tmp_path / "t.csv", f'id,repo\na,"r\n{rows}')
    assert isinstance(found[0], RejectedTask)
    assert found[0].message == "The row is longer than 8 MB."
    assert [values(each)["id"] for each in found[1:]] == [str(number) for number in range(1_000)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv has no tasks."),
        ("\n\n", "t.csv has no tasks."),
        ("id,,repo\n", "t.csv: column 2 has no name in the header."),
        ("id,repo, id\n", "t.csv: column id occurs twice."),
        ("id;repo;prompt\n", "t.csv has no column repo. Columns: id;repo;prompt. Separate columns by commas."),
        ('id,"repo" x\n', "t.csv: invalid header: Invalid CSV: ',' expected after '\"'."),
        ("\ufeffid,repo\n".encode("utf-16-le"), "t.csv is encoded in UTF-16. Save it as UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path / "t.csv", content)
    assert str(caught.value).removeprefix(f"{tmp_path}/") == message


@given(st.text(st.sampled_from('ab,"\n\r ')))
def test_any_text_is_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    found = read(tmp_path_factory.getbasetemp() / "any.csv", "repo,prompt\n" + text)
    assert len(found) <= text.count("\n") + 1
    numbers = [int(each.source.rpartition(":")[2]) for each in found]
    assert numbers == sorted(set(numbers))
