"""TOML: tables of tasks over a table of defaults; a file that cannot be parsed is an error with its line."""

from pathlib import Path

import pytest

from tejat.batch.plan.toml_file import read_toml
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError


def read(path: Path, content: bytes | str) -> list[TaskRecord | RejectedTask]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_toml(str(path)))


def records(path: Path, content: str) -> list[dict[str, object]]:
    found = read(path, content)
    assert all(isinstance(each, TaskRecord) for each in found), found
    return [dict(each.values) for each in found if isinstance(each, TaskRecord)]


class TestTasks:
    def test_have_lines_and_numbers(self, tmp_path: Path) -> None:
        found = read(tmp_path / "t.toml", '\ufeff[[task]]\nid = "a"\n\n  [[ "task" ]]\nid = "b"\n[task.vars]\nx = 1\n')
        assert found == [
            TaskRecord({"id": "a"}, "task-1", "t.toml:1"),
            TaskRecord({"id": "b", "vars": {"x": 1}}, "task-2", "t.toml:4"),
        ]

    def test_without_headers_have_numbers_only(self, tmp_path: Path) -> None:
        found = read(tmp_path / "t.toml", 'task = [{id = "a"}, {id = "b"}]')
        assert [each.source for each in found] == ["t.toml:task-1", "t.toml:task-2"]

    def test_a_header_in_a_prompt_is_none(self, tmp_path: Path) -> None:
        found = read(tmp_path / "t.toml", '[[task]]\nprompt = """\n[[task]]\n"""\n')
        assert [each.source for each in found] == ["t.toml:task-1"]

    def test_that_are_no_tables(self, tmp_path: Path) -> None:
        found = read(tmp_path / "t.toml", 'task = [1, {id = "b"}]')
        message = "A task must be a table, not 1."
        assert found == [
            RejectedTask("task-1", TaskFailure.INPUT, message, "t.toml:task-1"),
            TaskRecord({"id": "b"}, "task-2", "t.toml:task-2"),
        ]

    def test_none(self, tmp_path: Path) -> None:
        assert read(tmp_path / "t.toml", "") == []


class TestDefaults:
    def test_a_task_precedes_them(self, tmp_path: Path) -> None:
        defaults = '[defaults]\nrepo = "r"\ntimeout = 5\nvars = {a = 1, b = 2}\n'
        content = defaults + "[[task]]\ntimeout = 6\nvars = {b = 3}\n[[task]]\n"
        assert records(tmp_path / "t.toml", content) == [
            {"repo": "r", "timeout": 6, "vars": {"a": 1, "b": 3}},
            {"repo": "r", "timeout": 5, "vars": {"a": 1, "b": 2}},
        ]

    def test_a_prompt_of_any_kind_replaces_theirs(self, tmp_path: Path) -> None:
        for default in ("prompt", "prompt_file"):
            for own in ("prompt", "prompt_file", "problem_statement"):
                content = f'[defaults]\n{default} = "d"\n[[task]]\n{own} = "o"\n'
                assert records(tmp_path / "t.toml", content) == [{own: "o"}]

    def test_a_prompt_may_wrap_the_statement_of_a_problem(self, tmp_path: Path) -> None:
        content = '[defaults]\nprompt = "Fix {{problem_statement}}"\n[[task]]\nproblem_statement = "o"\n'
        assert records(tmp_path / "t.toml", content) == [
            {"prompt": "Fix {{problem_statement}}", "problem_statement": "o"}
        ]

    def test_names_of_swe_bench(self, tmp_path: Path) -> None:
        content = '[defaults]\nbase_commit = "a"\n[[task]]\ncommit = "b"\n[[task]]\nbase_commit = "c"\n[[task]]\n'
        assert records(tmp_path / "t.toml", content) == [{"commit": "b"}, {"commit": "c"}, {"commit": "a"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[[task]]\nid = "a\n', "t.toml:2: invalid TOML: Illegal character '\\n'."),
        ("[[task]]\nid = \n", "t.toml:2: invalid TOML: Invalid value."),
        ("[[task]]\nid = [1", "t.toml:2: invalid TOML: Unclosed array."),
        ('[[task]]\nid = "a"\nid = "b"\n', "t.toml:3: invalid TOML: Cannot overwrite a value."),
        ("a = " + "[" * 10_000, "t.toml: nested too deeply."),
        (b"a = 1\nb = '\xff'", "t.toml:2: not UTF-8."),
        ("\ufeff[[task]]".encode("utf-16-le"), "t.toml is encoded in UTF-16. Save it as UTF-8."),
        ("[[tasks]]", 't.toml: unknown key "tasks". Did you mean task?'),
        ("x = 1", 't.toml: unknown key "x". Use [defaults] and [[task]].'),
        ("task = 1", "t.toml: task must be written as [[task]] tables."),
        ("[task]", "t.toml: task must be written as [[task]] tables."),
        ("defaults = 1", "t.toml: defaults must be written as a [defaults] table."),
        ("[defaults]\ntimeout = nan", "t.toml: [defaults]: timeout must be a number greater than 0, not nan."),
        ("[defaults]\ntimout = 1", 't.toml: [defaults]: Unknown field "timout". Did you mean timeout?'),
        ('[defaults]\nid = "a"', "t.toml: [defaults]: id cannot have a default."),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path / "t.toml", content)
    assert str(caught.value).removeprefix(f"{tmp_path}/") == message
