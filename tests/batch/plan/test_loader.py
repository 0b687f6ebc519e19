"""Task files of three formats give the same tasks; what is wrong is rejected and the rest goes on."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.batch.plan.loader import load_tasks, tasks_of_repositories
from tejat.batch.plan.types import RejectedTask, TaskDefaults
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask, TaskLimits
from tejat.core.errors import UsageError
from tejat.core.frozen import replace

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "batch"


NO_DEFAULTS = TaskDefaults()


def load(path: Path, defaults: TaskDefaults = NO_DEFAULTS) -> list[BatchTask | RejectedTask]:
    return list(load_tasks(str(path), defaults))


class TestExamples:
    def test_are_equal(self) -> None:
        first, *others = ([_comparable(each) for each in load(EXAMPLES / f"tasks.{ending}")] for ending in ENDINGS)
        assert all(isinstance(each, BatchTask) for each in first), first
        assert others == [first, first]

    def test_values(self) -> None:
        license_task, typing, review = load(EXAMPLES / "tasks.toml")
        assert isinstance(license_task, BatchTask)
        assert isinstance(typing, BatchTask)
        assert isinstance(review, BatchTask)
        assert license_task.repo == str(EXAMPLES.parent / "web")
        assert license_task.prompt == "Add the header SPDX-License-Identifier: MIT to every source file of web."
        assert license_task.check == "grep -rqF 'SPDX-License-Identifier: MIT' src"
        assert license_task.limits == TaskLimits(seconds=600.0, cost=0.5)
        assert (license_task.source, typing.limits.seconds) == ("tasks.toml:4", 900.0)
        assert typing.allowed_tools == ("run_shell_command(mypy)", "run_shell_command(pytest)")
        assert (review.check, review.allows_no_changes) == ("", True)


ENDINGS = ("jsonl", "toml", "csv")


def _comparable(task: BatchTask | RejectedTask) -> BatchTask | RejectedTask:
    if isinstance(task, RejectedTask):
        return task
    # Every row of a CSV file has all variables.
    return replace(task, source="", variables={name: value for name, value in task.variables.items() if value})


class TestFiles:
    def test_a_wrong_line_leaves_the_others_alone(self, tmp_path: Path) -> None:
        (tmp_path / "t.ndjson").write_text(
            '{"id": "a", "repo": "r", "prompt": "p"}\n'
            '{"id": "b", "repo": "r", "prompt": "p", "timeout": "soon"}\n'
            "nonsense\n"
            '{"repo": "r", "prompt": "p"}\n',
            encoding="utf-8",
        )
        assert load(tmp_path / "t.ndjson") == [
            BatchTask("a", f"{tmp_path}/r", "p", source="t.ndjson:1"),
            RejectedTask("b", TaskFailure.INPUT, 'timeout must be a number greater than 0, not "soon".', "t.ndjson:2"),
            RejectedTask("line-3", TaskFailure.INPUT, "Invalid JSON: Expecting value at column 1.", "t.ndjson:3"),
            BatchTask("line-4", f"{tmp_path}/r", "p", source="t.ndjson:4"),
        ]

    def test_defaults_of_the_file_precede_those_of_flags(self, tmp_path: Path) -> None:
        (tmp_path / "t.toml").write_text('[defaults]\nmodel = "file"\n[[task]]\nrepo = "r"\n', encoding="utf-8")
        (found,) = load(tmp_path / "t.toml", TaskDefaults(model="flag", prompt="Fix {{name}}"))
        assert isinstance(found, BatchTask)
        assert (found.model, found.prompt, found.id) == ("file", "Fix r", "task-1")

    def test_paths_are_relative_to_the_file_wherever_the_program_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "t.csv").write_text("repo,prompt_file\nr,p.md\n", encoding="utf-8")
        (tmp_path / "in" / "p.md").write_text("Fix", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        (found,) = load_tasks("in/t.csv", TaskDefaults())
        assert isinstance(found, BatchTask)
        assert (found.repo, found.prompt) == (f"{tmp_path}/in/r", "Fix")
        monkeypatch.chdir(tmp_path / "in")
        (found,) = load_tasks("t.csv", TaskDefaults())
        assert found.id == "line-2"

    def test_an_unknown_ending(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError) as caught:
            load(tmp_path / "t.json")
        assert str(caught.value).endswith("t.json. Supported endings: .jsonl, .ndjson, .toml, .csv.")

    def test_a_missing_file_is_reported_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"Could not read .*: No such file or directory\."):
            load_tasks(str(tmp_path / "t.jsonl"), TaskDefaults())

    @pytest.mark.parametrize(("name", "text"), [("t.jsonl", "\n"), ("T.TOML", "[defaults]\n"), ("t.csv", "repo\n")])
    def test_a_file_without_tasks(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="has no tasks"):
            load(tmp_path / name)


class TestRepositories:
    def test_each_is_a_task(self, tmp_path: Path) -> None:
        for name in ("web", "api"):
            subprocess.run(["git", "init", "-q", name], cwd=tmp_path, check=True, timeout=60)
        (tmp_path / "other").mkdir()
        defaults = TaskDefaults(prompt="Fix {{name}}", check="make {{id}}", model="m")
        pattern = f"{tmp_path}/*"
        assert list(tasks_of_repositories(pattern, defaults)) == [
            BatchTask("api", f"{tmp_path}/api", "Fix api", model="m", check="make api", source=pattern),
            RejectedTask("other", TaskFailure.REPOSITORY, f"{tmp_path}/other is not a git repository.", pattern),
            BatchTask("web", f"{tmp_path}/web", "Fix web", model="m", check="make web", source=pattern),
        ]

    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="No directory matches"):
            tasks_of_repositories(f"{tmp_path}/*", TaskDefaults(prompt="p"))

    def test_no_prompt(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"No prompt\. Add -p PROMPT\."):
            tasks_of_repositories(f"{tmp_path}/*", TaskDefaults())


NAMES = st.sampled_from(["id", "repo", "prompt", "prompt_file", "timeout", "vars", "check", "instance_id", "commit"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES | st.text(), inner), max_leaves=10)


@given(st.lists(VALUES, min_size=1, max_size=3))
@settings(max_examples=200)
def test_any_json_is_a_task_or_a_rejection(tmp_path_factory: pytest.TempPathFactory, values: list[object]) -> None:
    path = tmp_path_factory.getbasetemp() / "values.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    found = load(path, TaskDefaults(prompt="p"))
    assert [each.source for each in found] == [f"values.jsonl:{number}" for number in range(1, len(values) + 1)]
    assert all(each.id for each in found)
