"""The tasks of the benchmark."""

import pytest
from bench.tasks.case import CASES, load_cases


def test_there_are_twenty_tasks_with_all_their_parts() -> None:
    cases = load_cases()
    assert [case.id[:3] for case in cases] == [f"{number:02}-" for number in range(1, 21)]
    assert len({case.title for case in cases}) == len({case.prompt for case in cases}) == 20
    for case in cases:
        assert case.script.is_file()
        assert (case.folder / "check.py").is_file()
        assert case.files.is_dir() or case.setup.is_file()
        assert "{{" not in case.prompt, "the prompt of a task is a template"
    assert {path.name for path in CASES.iterdir() if path.name != "__pycache__"} == {case.id for case in cases}


def test_tasks_by_id_and_number() -> None:
    assert [case.id for case in load_cases(["20", "03-rename", "3", "1"])] == [
        "01-failing-test",
        "03-rename",
        "20-retry",
    ]
    with pytest.raises(KeyError, match="21"):
        load_cases(["1", "21"])
